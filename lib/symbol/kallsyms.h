/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of its own code: /proc/kallsyms (symbols) and /proc/modules (load addresses
 * and sizes). Record asks for the ranges; reports ask for the symbols, of this boot or of the one
 * that a session was made in, whose symbols record saved in the session.
 *
 * A saved file is kallsyms' own lines (text symbols only), each image's behind a line that says
 * where it lay: "# text START END" for the kernel, "# module NAME START END" for a module, START
 * and END in hexadecimal. Code outside both (BPF programs, pages of ftrace and kprobes) comes and
 * goes, and has another place after each boot: below "# absolute NAME" each piece that was sampled
 * has a place that the file gives it, KALLSYMS_SLOT bytes, whatever its address was. One symbol's
 * code is taken for the same wherever it lies: the name of a BPF program says what it was made of.
 * Images are only ever appended, so those of several boots of one kernel can stand in one file.
 *
 *	struct kallsyms *k;
 *	if (kallsyms_load(path, &k, err) == 0)
 *		symbol = kallsyms_find(kallsyms_image(k, "xfs"), key);
 *	kallsyms_free(k);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One line of /proc/kallsyms. */
struct kallsyms_line {
	uint64_t address;
	char type; /* as nm(1) prints it */
	const char *name;
	const char *module; /* without brackets; "" for the kernel */
};

/* One line of /proc/modules. */
struct modules_line {
	const char *name;
	uint64_t size; /* bytes */
	uint64_t address;
};

/* Takes a line of kallsyms apart, writing NULs into it; the strings are borrowed from it. 0 or
 * -EBADMSG. */
int kallsyms_line_parse(char *line, struct kallsyms_line *ret);
/* As kallsyms_line_parse(), a line of /proc/modules. */
int modules_line_parse(char *line, struct modules_line *ret);

/* Addresses that belong together. */
struct kallsyms_range {
	char *name;	     /* "" for the kernel's own text, else the module's or bracket's name */
	char *symbol;	     /* of code that is neither kernel nor module its only one; else NULL */
	uint64_t start, end; /* end excluded */
	void *data;	     /* the caller's, as is the next; NULL and 0 at first */
	uint64_t key;
};

/* Room for a piece of code outside kernel and modules. */
#define KALLSYMS_SLOT (1ULL << 24)

struct kallsyms_ranges {
	struct kallsyms_range *ranges; /* sorted, not overlapping */
	size_t count;
	bool hidden; /* kptr_restrict: all addresses read as 0, so there are no ranges */
};

/* Reads both files below @root. No /proc/modules (a kernel without modules) is no error. Caller
 * calls kallsyms_ranges_done(); 0 or -errno where /proc/kallsyms cannot be read. */
int kallsyms_ranges_read(const char *root, struct kallsyms_ranges *ret, struct error *err);
/* Reads the modules anew, which costs next to nothing, and leaves the rest as it was read; whether
 * anything changed. Then the caller's data is gone. */
bool kallsyms_modules_renew(const char *root, struct kallsyms_ranges *r);
/* Frees what it holds and empties it. */
void kallsyms_ranges_done(struct kallsyms_ranges *r);
/* The range that @address lies in, or NULL; borrowed. */
struct kallsyms_range *kallsyms_ranges_find(const struct kallsyms_ranges *r, uint64_t address);

/* Appends the text symbols of kernel and modules in @r that @path does not have yet, read from
 * /proc/kallsyms below @root; creates the file where missing. 0 or -errno. */
int kallsyms_save(const char *root, const struct kallsyms_ranges *r, const char *path,
		  struct error *err);
/* The key in the file @path of the first byte of @range, which is code outside kernel and modules;
 * enters it if the file does not have it. 0 or -errno. */
int kallsyms_enter(const char *path, const struct kallsyms_range *range, uint64_t *ret_key,
		   struct error *err);

/* Where the scheduler's own functions lie, schedule() and what sleeps by it; both 0 where the
 * kernel below @root does not show it. */
void kallsyms_scheduler(const char *root, uint64_t *ret_start, uint64_t *ret_end);

struct kallsyms_symbol {
	uint64_t address;
	const char *name;
};

/* The text symbols of the kernel, of a module, or of code outside both. */
struct kallsyms_image {
	const char *name; /* "" for the kernel */
	uint64_t start;	  /* a sample's key + start = its address in this table */
	uint64_t end;	  /* end of the image, excluded; 0: not known */
	const struct kallsyms_symbol *symbols; /* sorted by address; of several at one address the
						* one to show stands first */
	size_t count;
};

struct kallsyms;

/* Reads a saved file, or a plain copy of /proc/kallsyms (in which only the kernel's own start is
 * known: modules are left out). Lines that make no sense are skipped. Caller frees; 0 or -errno,
 * -ENODATA if it holds no symbol. */
int kallsyms_load(const char *path, struct kallsyms **ret, struct error *err);
/* As kallsyms_load(), for the kernel that runs now (below @root); -EACCES with the remedy if its
 * addresses are hidden from us. */
int kallsyms_load_live(const char *root, struct kallsyms **ret, struct error *err);
/* As kallsyms_load() from a stream, @name for messages. */
int kallsyms_load_stream(FILE *f, const char *name, struct kallsyms **ret, struct error *err);
/* NULL is fine. */
void kallsyms_free(struct kallsyms *k);
DEFINE_CLEANUP(struct kallsyms *, kallsyms_free);

/* Whether the file has an image called @name, which reads nothing but headings. */
bool kallsyms_has(const struct kallsyms *k, const char *name);
/* A digest of what the file says of the image called @name, without reading it as symbols; false if
 * there is no such image. */
bool kallsyms_digest(const struct kallsyms *k, const char *name, uint64_t ret[2]);
/* The image called @name ("" for the kernel), read at the first question; or NULL; borrowed until
 * kallsyms_free(). It may have no symbol. */
const struct kallsyms_image *kallsyms_image(const struct kallsyms *k, const char *name);
/* Number of images. */
size_t kallsyms_image_count(const struct kallsyms *k);
/* The @i-th image; borrowed until kallsyms_free(). */
const struct kallsyms_image *kallsyms_image_at(const struct kallsyms *k, size_t i);
/* The symbol at or before @key, which counts from the image's start, or NULL. NULL @image is fine.
 */
const struct kallsyms_symbol *kallsyms_find(const struct kallsyms_image *image, uint64_t key);
