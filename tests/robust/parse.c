/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse FILE...: reads each file as the daemon does, in the process without rights (parser.h): its
 * build-id, unwind table, functions, and as code made at run time. Prints a line for each file, and
 * on standard error what was not read.
 */
#include "base/log.h"
#include "jit/jit.h"
#include "jit/jit_source.h"
#include "parser/parser.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(enum log_level level _unused_, const char *text, void *data _unused_)
{
	(void)fprintf(stderr, "parse: %s\n", text);
}

/* FNV-1a */
static uint64_t digest(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t sum = 0xcbf29ce484222325u;

	while (size--)
		sum = (sum ^ *at++) * 0x100000001b3u;
	return sum;
}

static void print_table(struct parser *p, int fd)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *t = NULL;
	int r = parser_table(p, fd, rules, &t, NULL);

	if (r == 0)
		(void)printf(" table %zu %" PRIx64, t->row_count,
			     digest(t->rows, t->row_count * sizeof(*t->rows)));
	else
		(void)printf(" table: %s", strerrorname_np(-r));
}

static void print_functions(struct parser *p, int fd)
{
	_cleanup_free_ void *bytes = NULL;
	size_t size = 0;
	int r = parser_functions(p, fd, &bytes, &size);

	if (r == 0)
		(void)printf(" functions %" PRIx64, digest(bytes, size));
	else
		(void)printf(" functions: %s", strerrorname_np(-r));
}

static void print_code(struct parser *p, int fd)
{
	_cleanup_(jit_source_freep) struct jit_source *s = jit_source_new(dup(fd), "code");
	_cleanup_(jit_freep) struct jit *j = jit_new();
	int64_t n;

	while ((n = parser_jit(p, s, j, 1, NULL)) > 0)
		;
	(void)printf(" code %zu%s", jit_count(j), n < 0 ? " and a failure" : "");
}

static void print_file(struct parser *p, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct build_id id = { 0 };
	int r = parser_build_id(p, fd, &id);

	(void)printf("%s: build-id %d %" PRIx64, path, r, digest(&id, sizeof(id)));
	print_table(p, fd);
	print_functions(p, fd);
	print_code(p, fd);
	(void)printf("\n");
}

int main(int argc, char **argv)
{
	_cleanup_(parser_freep) struct parser *p = NULL;
	struct error err = ERROR_INIT;
	int i;

	log_to(LOG_LEVEL_INFO, say, NULL);
	if (parser_new(&p, &err) < 0) {
		(void)fprintf(stderr, "parse: %s\n", err.text);
		return 1;
	}
	for (i = 1; i < argc; i++)
		print_file(p, argv[i]);
	parser_tell(p);
	return 0;
}
