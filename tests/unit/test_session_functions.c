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
	_cleanup_free_ char *path = path_join(dir, "kallsyms");
	struct segment_functions f;
	FILE *file = fopen(path, "we");
	size_t i;

	CHECK(file && fputs(symbols, file) >= 0 && fclose(file) == 0);
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

TESTS(T(the_kernel_has_functions), T(a_session_without_symbols_has_none))
