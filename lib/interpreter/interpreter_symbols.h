/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the symbols by which interpreters are recognised. */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

struct elffile;

/* Stores in @ret the symbols of @ef that are called @names; those not defined there are 0. Looks in
 * .dynsym and, if the first one is there, in .symtab, too. Returns whether it is there. */
bool interpreter_symbols_find(const struct elffile *ef, const char *const *names, size_t count,
			      GElf_Sym *ret);
