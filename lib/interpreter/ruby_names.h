/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that Ruby has for files, in the form that reports show. They come from the memory of a
 * process, so they may contain anything.
 *
 *	_cleanup_free_ char *file = ruby_names_file("(eval)");
 *	puts(file);				"<(eval)>"
 */
#pragma once

/* The name of a source file: a path, or a name in brackets if it is no file, such as "<-e>". Caller
 * frees. */
char *ruby_names_file(const char *file);
