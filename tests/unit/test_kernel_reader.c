/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/log.h"
#include "record/internal/kernel_reader.h"

#include <errno.h>

static char logged[4096];

static void keep(enum log_level level _unused_, const char *text, void *data _unused_)
{
	(void)snprintf(logged, sizeof(logged), "%s", text);
}

/* Syncs the file @path; returns what is logged about it. */
static const char *log_of_sync(const char *path)
{
	struct kernel_reader *r = kernel_reader_new("");

	*logged = '\0';
	log_to(LOG_LEVEL_WARNING, keep, NULL);
	kernel_reader_sync(r, path);
	kernel_reader_await(r);
	/* Samples are counted in any case. */
	CHECK(kernel_reader_lets_write(r));
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	kernel_reader_free(r);
	return logged;
}

static void a_place_that_is_not_on_the_disk_is_logged(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "kallsyms"), *none = path_join(dir, "none");
	_cleanup_free_ char *expected =
		xasprintf("%s is not on the disk yet: %s", none, strerror(ENOENT));

	CHECK_EQ(path_write(path, "", 0644, NULL), 0);
	CHECK_STR(log_of_sync(path), "");
	CHECK_STR(log_of_sync(none), expected);
}

TESTS(T(a_place_that_is_not_on_the_disk_is_logged))
