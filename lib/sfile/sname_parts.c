/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/sname.h"

#include "base/hash.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

int sname_task_compare(const struct sname_task *a, const struct sname_task *b)
{
	const int64_t of_a[] = { a->tgid, a->tid, a->cpu }, of_b[] = { b->tgid, b->tid, b->cpu };
	int r = strcmp(a->cgroup ?: "", b->cgroup ?: "") ?: strcmp(a->comm ?: "", b->comm ?: "");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_a) && r == 0; i++)
		r = (of_a[i] > of_b[i]) - (of_a[i] < of_b[i]);
	return r;
}

uint64_t sname_task_hash(const struct sname_task *task)
{
	const char *path = task->cgroup ?: "", *name = task->comm ?: "";
	uint64_t hash = hash_bytes(path, strlen(path));

	if (*name)
		hash = hash_add(hash, hash_bytes(name, strlen(name)));

	hash = hash_add(hash, (uint64_t)task->tgid);
	return hash_add(hash_add(hash, (uint64_t)task->tid), (uint64_t)task->cpu);
}

bool sname_image_equal(const struct sname_image *a, const struct sname_image *b)
{
	return a->kind == b->kind && sname_same_text(a->name, b->name) &&
	       (a->kind != SNAME_ANON ||
		(a->tgid == b->tgid && a->start == b->start && a->end == b->end));
}

const char *sname_build_mark(const char *name)
{
	const char *mark = strrchr(name, '#');

	return mark && strlen(mark) == 9 && strspn(mark + 1, "0123456789abcdef") == 8 ? mark : "";
}

bool sname_image_is_kernel(const struct sname_image *image)
{
	static const char path[] = "/proc/kallsyms";
	size_t length = sizeof(path) - 1;

	return image->kind == SNAME_ROOT && !strncmp(image->name, path, length) &&
	       (!image->name[length] || image->name[length] == '#');
}

char *sname_image_display(const struct sname_image *image)
{
	if (image->kind != SNAME_ANON || !image->tgid)
		return xstrdup(image->name);
	return xasprintf("%s (tgid:%" PRIu32 " range:0x%" PRIx64 "-0x%" PRIx64 ")", image->name,
			 image->tgid, image->start, image->end);
}
