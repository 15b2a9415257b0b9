/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which symbols a report shows, according to --include-symbols and --exclude-symbols: comma lists
 * of names or shell patterns, each optionally followed by an image in brackets: "main,std::*,
 * memcpy[libc.so*]". Both linker names and demangled names match.
 *
 *	struct symbol_filter f = { 0 };
 *	symbol_list_add(&f.include, "main,*[libc.so.6]");
 *	if (symbol_filter_wants(&f, "main", "/usr/bin/xz"))
 *		...
 *	symbol_filter_done(&f);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct symbol_entry {
	char *whole;	    /* as written; even with an image it may be a name that has brackets */
	char *name, *image; /* its two parts; NULL if it names no image */
	char *bracketed;    /* ->image with its brackets: "[JIT node]" is the name of one */
	bool is_kernel;	    /* ->image is that of "[kernel]" */
};

struct symbol_list {
	struct symbol_entry *entries;
	size_t count, room;
};

struct symbol_filter {
	struct symbol_list include; /* empty: all symbols */
	struct symbol_list exclude;
};

/* Chains and frames that a report is about, by lists of functions; empty ones choose all. */
struct chain_choice {
	struct symbol_filter symbols;  /* chains with a function that is included, none excluded */
	struct symbol_list hide;       /* functions left out of chains */
	struct symbol_list callers_of; /* chains with one of these, without what it called */
	bool merge_runtime; /* without frames of an interpreter in chains of what it runs */
	bool native;	    /* without what an interpreter runs */
};

/* Adds a comma list; a comma after a backslash is part of a name. */
void symbol_list_add(struct symbol_list *l, const char *text);
/* Whether the list has the symbol @name, as linked, or NULL, of the image at @path. */
bool symbol_list_has(const struct symbol_list *l, const char *name, const char *path);
/* Frees the list. */
void symbol_list_done(struct symbol_list *l);
/* Whether anything is left out. */
bool symbol_filter_is_set(const struct symbol_filter *f);
/* Whether the symbol @name, as linked, of the image at @path is wanted. @name is NULL for code
 * without a symbol: it is wanted if no names were given, or all of its image was ("*[PATH]").
 */
bool symbol_filter_wants(const struct symbol_filter *f, const char *name, const char *path);
/* Frees the lists. */
void symbol_filter_done(struct symbol_filter *f);
