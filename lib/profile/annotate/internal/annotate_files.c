/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_files.h"

#include "base/mem.h"

#include <string.h>

uint32_t annotate_files_index(struct annotate_places *s, unsigned int side, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	struct annotate_file file = { .partner = ANNOTATE_NONE };
	uintptr_t number;

	map_for_each_of(&s->file_by_path[side], hash, number)
	{
		if (!strcmp(s->files[side][number - 1].path, path))
			return (uint32_t)(number - 1);
	}
	file.path = arena_strdup(&s->rows.sides[side].arena, path);
	file.owner = (uid_t)-1;
	file.number = annotate_rows_add(&s->file_rows, side,
					&(struct row){ .app = GATHER_NONE, .kind = ROW_IMAGE });
	array_grow(&s->files[side], s->file_count[side] + 1, &s->file_room[side]);
	s->files[side][s->file_count[side]++] = file;
	map_add(&s->file_by_path[side], hash, (void *)(uintptr_t)s->file_count[side]);
	return (uint32_t)s->file_count[side] - 1;
}

static uint64_t key_of(uint32_t file, unsigned int line)
{
	return (uint64_t)file << 32 | line;
}

uint32_t annotate_files_line(struct annotate_places *s, unsigned int side, uint32_t file,
			     unsigned int line)
{
	uintptr_t number = (uintptr_t)map_get(&s->line_by_key[side], key_of(file, line));

	if (number)
		return (uint32_t)(number - 1);
	array_grow(&s->lines[side], s->line_count[side] + 1, &s->line_room[side]);
	s->lines[side][s->line_count[side]++] = (struct annotate_line){
		.file = file, .line = line, .partner = ANNOTATE_NONE, .number = ANNOTATE_NONE
	};
	(void)map_set(&s->line_by_key[side], key_of(file, line),
		      (void *)(uintptr_t)s->line_count[side]);
	return (uint32_t)s->line_count[side] - 1;
}

const struct annotate_line *annotate_files_at(const struct annotate_places *s, unsigned int side,
					      uint32_t file, unsigned int line)
{
	uintptr_t number = (uintptr_t)map_get(&s->line_by_key[side], key_of(file, line));

	return number ? &s->lines[side][number - 1] : NULL;
}

void annotate_files_pair(struct annotate_places *s, uint32_t first, uint32_t second)
{
	s->files[0][first].partner = second;
	s->files[1][second].partner = first;
}

uint32_t annotate_files_partner(struct annotate_places *s, unsigned int side, uint32_t file)
{
	uint32_t other = s->files[side][file].partner;

	if (other != ANNOTATE_NONE)
		return other;
	other = annotate_files_index(s, !side, s->files[side][file].path);
	if (s->files[!side][other].partner != ANNOTATE_NONE)
		return ANNOTATE_NONE;
	s->files[!side][other].owner = s->files[side][file].owner;
	annotate_files_pair(s, side ? other : file, side ? file : other);
	return other;
}
