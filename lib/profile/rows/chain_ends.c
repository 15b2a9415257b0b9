/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chain_ends.h"

#include "base/macro.h"

#include <string.h>

const struct chains_end chain_ends[CHAIN_END_COUNT_] = {
#define X(name, number, text, meaning)                                                             \
	[number] = { text, meaning, number == CHAIN_END_COMPLETE ? NULL : "[" text "]", 0 },
	CHAIN_ENDS(X)
#undef X
};

uint32_t chain_ends_find(const char *name)
{
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(chain_ends); i++)
		if (!strcmp(chain_ends[i].name, name))
			return i;
	return CHAIN_END_UNKNOWN;
}

bool chain_ends_in_doubt(uint32_t end)
{
	return end == CHAIN_END_FP_END || end == CHAIN_END_NO_USER || end == CHAIN_END_NO_MAPPING;
}

/* Workers that the kernel runs for a process begin like its own threads; Go's functions are at the
 * ends of its stacks. */
bool chain_ends_is_entry(const char *symbol)
{
	static const char *const entries[] = {
		"_start",
		"__libc_start_main",
		"__libc_start_main_impl",
		"__libc_start_call_main",
		"start_thread",
		"clone",
		"clone3",
		"__clone",
		"__clone3",
		"_dl_start_user",
		"ret_from_fork",
		"ret_from_fork_asm",
		"_rt0_amd64_linux",
		"_rt0_arm64_linux",
		"runtime.goexit",
		"runtime.goexit.abi0",
		"runtime.mstart",
		"runtime.mstart.abi0",
		"runtime.rt0_go",
		"runtime.rt0_go.abi0",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entries); i++)
		if (!strcmp(symbol, entries[i]))
			return true;
	return false;
}
