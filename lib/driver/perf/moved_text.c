/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/moved_text.h"

#include "base/mem.h"
#include "identity/cookie.h"

#include <string.h>

/* When there are more, the oldest have to be found again. */
enum { PIECES_MAX = 1024 };

void moved_text_done(struct moved_text *m)
{
	free(m->pieces);
	*m = (struct moved_text){ 0 };
}

/* The mapping that took the place of the memory, if it is still there. */
static const struct mapping *current(const struct moved_piece *piece, const struct process *p)
{
	const struct mapping *now = p && p->maps ? maps_find(p->maps, piece->before.start) : NULL;

	return now && now->start == piece->before.start && now->cookie == piece->file ? now : NULL;
}

/* Whether the process still has the copy in this memory; otherwise puts the memory back. */
static bool check(const struct moved_piece *piece, const struct moved_text_from *from)
{
	const struct cookie_mapped where = { .root = from->root, .tgid = piece->tgid };
	struct process *p = process_get(from->processes, piece->tgid);
	uint64_t offset = 0;

	if (!current(piece, p))
		return false;
	if (cookie_original(from->cookies, piece->memory, &where, &offset) == piece->file)
		return true;
	process_map(from->processes, p, &piece->before);
	return false;
}

/* Forgets the oldest piece, whose memory is found again. */
static void forget_oldest(struct moved_text *m, const struct moved_text_from *from)
{
	struct process *p = process_get(from->processes, m->pieces[0].tgid);

	if (current(&m->pieces[0], p))
		process_map(from->processes, p, &m->pieces[0].before);
	memmove(m->pieces, m->pieces + 1, --m->count * sizeof(*m->pieces));
}

const struct mapping *moved_text_find(struct moved_text *m, const struct moved_text_from *from,
				      struct process *p, const struct mapping *mapping, uint64_t pc)
{
	const struct cookie_mapped where = { .root = from->root, .tgid = p->tgid };
	uint64_t cookie =
		mapping->cookie
			?: cookie_anon(from->cookies, p->tgid, mapping->start - mapping->offset,
				       mapping->end, mapping->label);
	struct moved_piece piece = { p->tgid, cookie, 0, *mapping };
	struct mapping copy = { mapping->start, mapping->end, mapping->offset, cookie, "moved" };

	copy.cookie = cookie_original(from->cookies, cookie, &where, &copy.offset);
	if (copy.cookie == cookie)
		return mapping;
	piece.file = copy.cookie;
	if (m->count >= PIECES_MAX)
		forget_oldest(m, from);
	array_grow(&m->pieces, m->count + 1, &m->room);
	m->pieces[m->count++] = piece;
	process_map(from->processes, p, &copy);
	return maps_find(p->maps, pc);
}

void moved_text_check(struct moved_text *m, const struct moved_text_from *from)
{
	size_t i, kept = 0;

	for (i = 0; i < m->count; i++)
		if (check(&m->pieces[i], from))
			m->pieces[kept++] = m->pieces[i];
	m->count = kept;
}
