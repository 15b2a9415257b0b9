/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/limits.h"

#include "base/macro.h"
#include "base/parse.h"
#include "control/daemonrc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Less is not enough to run with. */
#define MEMORY_MIN (8 * MIB)
enum { FILES_MIN = 64, FILES_MAX = 1 << 20 };

static bool is_none(const char *text)
{
	return !strcmp(text, "none") || !strcmp(text, "0");
}

/* A percentage above 0; the '%' may be left out if @bare. */
static int parse_share(const char *text, bool bare, double *ret)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end == '%' ? end[1] : !bare || *end))
		return -EINVAL;
	if (!(percent > 0 && percent <= 100))
		return -ERANGE;
	*ret = percent / 100;
	return 0;
}

static int read_cpu(const char *text, struct limits *l)
{
	l->cpu = 0;
	return is_none(text) ? 0 : parse_share(text, true, &l->cpu);
}

static int read_memory(const char *text, struct limits *l)
{
	int r = 0;

	l->memory = 0;
	if (!is_none(text))
		r = parse_size(text, &l->memory);
	return r == 0 && l->memory && l->memory < MEMORY_MIN ? -ERANGE : r;
}

static int read_limit(const char *text, struct limit *ret)
{
	*ret = (struct limit){ 0 };
	if (is_none(text))
		return 0;
	if (text[strlen(text) - 1] != '%')
		return parse_size(text, &ret->bytes);
	ret->bytes = UINT64_MAX;
	return parse_share(text, false, &ret->share);
}

static int read_disk(const char *text, struct limits *l)
{
	return read_limit(text, &l->disk);
}

static int read_keep_free(const char *text, struct limits *l)
{
	return read_limit(text, &l->keep_free);
}

static int read_files(const char *text, struct limits *l)
{
	l->files = 0;
	return is_none(text) ? 0 : parse_u64(text, FILES_MIN, FILES_MAX, &l->files);
}

int limits_read(const struct daemonrc *rc, struct limits *ret, struct error *err)
{
	const struct {
		const char *key, *text, *form;
		int (*read)(const char *text, struct limits *l);
	} rows[] = {
		{ "BUDGET", rc->budget, "a percentage such as 0.5%, or none", read_cpu },
		{ "MAX_MEMORY", rc->max_memory, "a size from 8M, or none", read_memory },
		{ "MAX_DISK", rc->max_disk, "a size or a percentage, or none", read_disk },
		{ "KEEP_FREE", rc->keep_free, "a size or a percentage, or none", read_keep_free },
		{ "MAX_FILES", rc->max_files, "a number from 64, or none", read_files },
	};
	struct limits l = {
		.cpu = 0.005,
		.memory = 256 * MIB,
		.disk = { 4 * GIB, 0.1, 64 * MIB },
		.keep_free = { GIB, 0.05, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].text && rows[i].read(rows[i].text, &l) < 0)
			return error_set(err, -EINVAL, "%s: '%s' is not %s", rows[i].key,
					 rows[i].text, rows[i].form);
	*ret = l;
	return 0;
}

uint64_t limits_bytes(const struct limit *limit, uint64_t all)
{
	uint64_t bytes;

	if (limit->share <= 0)
		return limit->bytes;
	bytes = MIN((uint64_t)((double)all * limit->share), limit->bytes);
	return MAX(bytes, limit->least);
}
