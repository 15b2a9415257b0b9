/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind of code that a row is about: its language, as far as that is known. Reports print it,
 * and pages have a colour for it. Nothing is opened for it: the name of the image, its entry in the
 * manifest, the symbol and, for code made at run time, the program that made it are enough. What is
 * known of these programs is one table.
 *
 *	puts(code_kind_name(code_kind_of(gather, row)));		"python"
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct gather;
struct row;

/* Name in reports. */
#define CODE_KINDS(X)                                                                              \
	X(NATIVE, "native") /* compiled before it ran: C, C++, Rust */                             \
	X(KERNEL, "kernel") /* and its modules */                                                  \
	X(GO, "go")	    /* compiled by Go */                                                   \
	X(PYTHON, "python") /* in a source file that an interpreter runs, or made of it */         \
	X(PHP, "php")	    /* the same for PHP */                                                 \
	X(RUBY, "ruby")	    /* the same for Ruby */                                                \
	X(JAVA, "java")	    /* made at run time by a Java virtual machine, or interpreted */       \
	X(JS, "javascript") /* made at run time by Node */                                         \
	X(JIT, "run-time")  /* made at run time by another program */

enum code_kind {
#define X(kind, name) CODE_##kind,
	CODE_KINDS(X) CODE_KIND_COUNT_
#undef X
};

/* The name of the kind in reports. Static. */
const char *code_kind_name(enum code_kind kind);
/* The kind of the row's code. */
enum code_kind code_kind_of(const struct gather *g, const struct row *row);
/* Whether code of this kind was made at run time. */
bool code_kind_is_jit(enum code_kind kind);
/* Whether the row is of the program or library that runs code of some kind: an interpreter or a
 * virtual machine. *@ret is the kind that it runs. */
bool code_kind_is_runtime(const struct gather *g, const struct row *row, enum code_kind *ret);
/* The same for an image, by its name. */
bool code_kind_image_runs(const struct gather *g, uint32_t image, enum code_kind *ret);
/* The function of an interpreter that runs code of this kind; NULL if there is none. Static. */
const char *code_kind_loop(enum code_kind kind);
/* The mark by which tools colour functions of the kernel, made at run time, and inlined: "_[k]" or
 * ""; @is_kernel: the row's image is part of the kernel. Static. */
const char *code_kind_mark(const struct gather *g, const struct row *row, bool is_kernel);
/* How the code of the image called @shown, "[JIT node]", gets names; NULL if that is not known.
 * Static. */
const char *code_kind_remedy(const char *shown);
