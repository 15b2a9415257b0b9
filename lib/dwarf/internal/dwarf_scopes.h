/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The namespaces, classes and functions of C++ that an entry of DWARF is in. An entry does not say
 * what it is in, so units are read for it: of each level, what has children, once.
 *
 *	struct dwarf_scopes *s = dwarf_scopes_new();
 *	dwarf_scopes_add(s, unit, offset, "get", &text);	"ns::(anonymous namespace)::get"
 *	dwarf_scopes_free(s);
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"

struct dwarf_scopes;
struct strbuf;

/* Has read nothing; caller frees. */
struct dwarf_scopes *dwarf_scopes_new(void);
/* NULL is fine. */
void dwarf_scopes_free(struct dwarf_scopes *s);

/* Whether the unit @u, opened, was compiled from C++. */
bool dwarf_scopes_exist(const struct dwarf_unit *u);
/* Adds @function, which the entry at @offset of @u declares, after the names of what that is in: as
 * a demangler writes them, but functions without parameters, and lambdas without a number. */
void dwarf_scopes_add(struct dwarf_scopes *s, struct dwarf_unit *u, uint64_t offset,
		      const char *function, struct strbuf *out);
