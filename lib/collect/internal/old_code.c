/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/old_code.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "collect/internal/references.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that is referred to. */
struct code_file {
	char *path; /* below the session */
	int64_t written_s;
	uint64_t bytes;
};

struct search {
	const struct old_code *how;
	struct code_file *files;
	size_t count, room;
	uint64_t bytes;
};

/* Whether the name is TGID.jo. */
static bool is_code(const char *name, uint32_t *ret_tgid)
{
	uint64_t number;

	if (parse_dec(&name, &number) < 0 || number > UINT32_MAX || strcmp(name, ".jo") != 0)
		return false;
	*ret_tgid = (uint32_t)number;
	return true;
}

/* Whether there is no process @tgid. Its code is written again only when it makes more. */
static bool has_ended(uint32_t tgid)
{
	return kill((pid_t)tgid, 0) < 0 && errno == ESRCH;
}

static int look_at(const struct dirtree_visit *visit, void *data)
{
	struct search *s = data;
	uint32_t tgid;

	if (S_ISDIR(visit->st.st_mode)) {
		dirtree_remove_empty(visit);
		return 0;
	}
	if (!S_ISREG(visit->st.st_mode) || !is_code(visit->name, &tgid) ||
	    visit->st.st_mtim.tv_sec >= s->how->until_s || !has_ended(tgid))
		return 0;
	if (!references_maker(s->how->refs, tgid)) {
		(void)dirtree_remove(visit->directory, visit->name, NULL);
		return 0;
	}
	array_grow(&s->files, s->count + 1, &s->room);
	s->files[s->count++] = (struct code_file){ xstrdup(visit->path), visit->st.st_mtim.tv_sec,
						   (uint64_t)visit->st.st_size };
	s->bytes += (uint64_t)visit->st.st_size;
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct code_file *a = pa, *b = pb;

	return (a->written_s > b->written_s) - (a->written_s < b->written_s);
}

/* Removes the oldest files until the others are small enough. */
static void remove_excess(int top, struct search *s, struct strbuf *log)
{
	uint64_t before = s->bytes;
	size_t removed = 0;

	if (s->count)
		qsort(s->files, s->count, sizeof(*s->files), compare);
	for (; removed < s->count && s->bytes > s->how->bytes_max; removed++) {
		(void)dirtree_remove(top, s->files[removed].path, NULL);
		s->bytes -= s->files[removed].bytes;
	}
	if (removed)
		strbuf_addf(log,
			    "JIT code took up %" PRIu64
			    " bytes, more than is kept: functions of the %zu process%s that ended "
			    "first lost their names\n",
			    before, removed, removed == 1 ? "" : "es");
}

void old_code_remove(const char *samples, const struct old_code *how, struct strbuf *log)
{
	_cleanup_close_ int fd = open(samples, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	int r = fd < 0 ? -errno : dirtree_names(fd, &names);
	struct search s = { .how = how };
	const char *name;
	size_t at = 0, i;

	while ((name = dirtree_next_name(&names, &at)))
		if (*name == '{' || !strcmp(name, "jit"))
			(void)dirtree_walk(fd, name, look_at, &s, NULL);
	if (fd >= 0)
		remove_excess(fd, &s, log);
	if (r < 0)
		strbuf_addf(log, "cannot list %s: %s\n", samples, strerror(-r));
	for (i = 0; i < s.count; i++)
		free(s.files[i].path);
	free(s.files);
}
