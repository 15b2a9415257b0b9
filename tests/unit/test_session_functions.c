/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "collect/internal/session_functions.h"
#include "chains/chain_history.h"
#include "history/history_kind.h"
#include "history/segment_tree.h"
#include "history/upkeep.h"

#include <stdio.h>

static const char symbols[] = "# boot 0123\n"
			      "# text ffffffff81000000 ffffffff81003000\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81001000 T do_it\n"
			      "ffffffff81001000 T also_do_it\n"
			      "ffffffff81002000 t helper\n"
			      "# module xfs ffffffffc0000000 ffffffffc0001000\n"
			      "ffffffffc0000100 t xfs_read\t[xfs]\n";

static const char updated[] = "# boot 4567\n"
			      "# text ffffffff81000000 ffffffff81003000\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81000800 T do_it\n"
			      "# module xfs ffffffffc0000000 ffffffffc0001000\n"
			      "ffffffffc0000010 t xfs_read\t[xfs]\n";

static void write_symbols(const char *dir, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(dir, name);
	FILE *file = fopen(path, "we");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static uint64_t start_in(const struct segment_functions *f, const char *line, uint64_t key)
{
	const void *table = f->of_line(f, line);
	uint64_t start = UINT64_MAX;

	CHECK(table && f->start(table, key, &start));
	return start;
}

static void each_kernel_of_the_session_has_its_functions(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct segment_functions f;

	write_symbols(dir, "kallsyms", symbols);
	write_symbols(dir, "kallsyms#0a1b2c3d", updated);
	session_functions.open(dir, &f);
	f.kind = &history_chains;
	CHECK_EQ(start_in(&f, "image\troot\t0\t0\t0\t/proc/kallsyms\tkernel", 0x900), 0);
	CHECK_EQ(start_in(&f, "image\troot\t0\t0\t0\t/proc/kallsyms#0a1b2c3d\tkernel", 0x900),
		 0x800);
	CHECK_EQ(start_in(&f, "image\tkern\t0\t0\t0\txfs#0a1b2c3d\tkernel", 0x123), 0x10);
	CHECK(!f.of_line(&f, "image\troot\t0\t0\t0\t/proc/kallsyms#ffffffff\tkernel"));
	session_functions.close(&f);
}

/* The same for lines of sample files. */
static void sample_files_have_functions(void)
{
#define NAMED(of, path) of "\t0\t4\t0\t0\t{root}/usr/bin/x/{dep}/" path "/TIMER.0.0.all.all.all"
	_cleanup_directory_ char *dir = test_directory();
	struct segment_functions f;

	write_symbols(dir, "kallsyms", symbols);
	session_functions.open(dir, &f);
	f.kind = &history_flat;
	CHECK_EQ(start_in(&f, NAMED("kernel", "{root}/proc/kallsyms"), 0x1fff), 0x1000);
	CHECK_EQ(start_in(&f, NAMED("kernel", "{kern}/xfs"), 0x123), 0x100);
	CHECK(!f.of_line(&f, NAMED("user", "{root}/proc/kallsyms")));
	CHECK(!f.of_line(&f, NAMED("user", "{root}/usr/bin/x")));
	CHECK(!f.of_line(&f, "kernel\t{root}/proc/kallsyms"));
	session_functions.close(&f);
}

static void the_kernel_has_functions(void)
{
	static const char kernel[] = "image\troot\t0\t0\t0\t/proc/kallsyms\tkernel",
			  xfs[] = "image\tkern\t0\t0\t0\txfs\tkernel";
	static const struct {
		const char *line;
		uint64_t key, start;
		bool found;
	} rows[] = {
		{ kernel, 0, 0, true },		  { kernel, 0xfff, 0, true },
		{ kernel, 0x1000, 0x1000, true }, { kernel, 0x1fff, 0x1000, true },
		{ kernel, 0x2abc, 0x2000, true }, { kernel, 0x2fff, 0x2000, true },
		{ kernel, 0x3000, 0, false },	  { xfs, 0x80, 0, false },
		{ xfs, 0x123, 0x100, true },	  { xfs, UINT64_C(1) << 46, 0, false },
	};
	static const char *const others[] = {
		"image\tkern\t0\t0\t0\text4\tkernel",
		"image\troot\t0\t0\t0\t/boot/vmlinux\tkernel",
		"image\troot\t0\t0\t0\t/bin/true",
		"image\troot\t0\t0\t0\t/proc/kallsyms",
		"context\t1\tTIMER.0.0\tcomplete\t-1\t-1\t-1\t",
		"",
	};
	_cleanup_directory_ char *dir = test_directory();
	struct segment_functions f;
	size_t i;

	write_symbols(dir, "kallsyms", symbols);
	session_functions.open(dir, &f);
	f.kind = &history_chains;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const void *table = f.of_line(&f, rows[i].line);
		uint64_t start = 0;

		CHECK(table != NULL);
		CHECK_EQ(f.start(table, rows[i].key, &start), rows[i].found);
		CHECK_EQ(start, rows[i].start);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(f.of_line(&f, others[i]) == NULL);
	session_functions.close(&f);
}

static void a_session_without_symbols_has_none(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct segment_functions f;

	session_functions.open(dir, &f);
	f.kind = &history_chains;
	CHECK(f.of_line(&f, "image\troot\t0\t0\t0\t/proc/kallsyms\tkernel") == NULL);
	CHECK(f.of_line(&f, "image\troot\t0\t0\t0\t/proc/kallsyms\tkernel") == NULL);
	session_functions.close(&f);
}

TESTS(T(the_kernel_has_functions), T(each_kernel_of_the_session_has_its_functions),
      T(sample_files_have_functions), T(a_session_without_symbols_has_none))
