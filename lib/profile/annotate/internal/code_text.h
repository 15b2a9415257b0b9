/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions as text, without what differs from build to build because data and code have moved,
 * so that an instruction is recognised in another build.
 *
 *	struct code_text t = { .is_aarch64 = true };
 *	hash = code_text_hash(&t, "adrp\tx0, <>");		one after the other
 *	hash = code_text_hash(&t, "ldr\tw1, [x0, #12]");	as of "ldr\tw1, [x0, ]"
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct code_text {
	bool is_aarch64;
	uint32_t pages; /* registers that have the address of a page, from adrp */
};

/* A hash of the instruction @text, in which addresses were replaced, without the part of an address
 * that it adds to the program counter or to a page. */
uint64_t code_text_hash(struct code_text *t, const char *text);
