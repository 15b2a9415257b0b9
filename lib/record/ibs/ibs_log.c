/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/ibs/ibs_log.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

enum ibs_log_file { LOG_MEMORY, LOG_BRANCH };

static const struct {
	const char *name, *columns;
} files[] = {
	[LOG_MEMORY] = { "ibs_memaccess.log",
			 "app,image,cpu,tgid,tid,offset,physical,linear,kind,latency" },
	[LOG_BRANCH] = { "ibs_bta.log", "app,image,cpu,tgid,tid,offset,target" },
};

/* Indexes of words of an op sample; a register takes two words, low half first. */
enum { WORD_DATA3 = 7, WORD_LINEAR = 9, WORD_PHYSICAL = 11, WORD_TARGET = 13 };

#define DATA3_LOAD  (1ULL << 0)
#define DATA3_STORE (1ULL << 1)

static uint64_t join(const uint64_t *words)
{
	return (words[0] & UINT32_MAX) | words[1] << 32;
}

/* The file, with its first line written; NULL if it cannot be opened. */
static FILE *file_of(struct ibs_log *log, enum ibs_log_file which)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (log->files[which] || log->failed || !log->directory)
		return log->files[which];
	path = path_join(log->directory, files[which].name);
	fd = path_make_parents(path, 0755, NULL);
	if (fd == 0)
		fd = open_regular_or_create(path, O_WRONLY | O_APPEND, 0644);
	log->files[which] = fd < 0 ? NULL : xfdopen(fd, "a");
	if (!log->files[which]) {
		log_warn("%s: %s: IBS samples are not logged there", path, open_regular_why(fd));
		log->failed = true;
		return NULL;
	}
	if (ftell(log->files[which]) == 0)
		(void)fprintf(log->files[which], "%s\n", files[which].columns);
	return log->files[which];
}

static void put_where(FILE *out, const struct feature_where *w, uint64_t offset)
{
	(void)fprintf(out, "0x%" PRIx64 ",0x%" PRIx64 ",%u,%u,%u,0x%" PRIx64, w->app, w->image,
		      w->cpu, w->tgid, w->tid, offset);
}

void ibs_log_op(struct ibs_log *log, const struct feature_where *where, const uint64_t *words)
{
	uint64_t data3 = join(words + WORD_DATA3);
	bool access = data3 & (DATA3_LOAD | DATA3_STORE);
	FILE *out = log->memory && access ? file_of(log, LOG_MEMORY) : NULL;

	if (out) {
		put_where(out, where, words[0]);
		(void)fprintf(out, ",0x%" PRIx64 ",0x%" PRIx64 ",%s,%" PRIu64 "\n",
			      join(words + WORD_PHYSICAL), join(words + WORD_LINEAR),
			      data3 & DATA3_LOAD ? "LD" : "ST", data3 >> 32 & 0xffff);
	}
	out = log->branch && words[WORD_TARGET] ? file_of(log, LOG_BRANCH) : NULL;
	if (out) {
		put_where(out, where, words[0]);
		(void)fprintf(out, ",0x%" PRIx64 "\n", words[WORD_TARGET]);
	}
}

void ibs_log_done(struct ibs_log *log)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(log->files); i++)
		if (log->files[i] && fclose(log->files[i]) != 0)
			log_warn("%s: %s", files[i].name, strerror(errno));
	free(log->directory);
}
