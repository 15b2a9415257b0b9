/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocation that cannot fail: without memory the program ends, the one case in which a library may
 * end it. The caller frees what is returned, with free().
 *
 *	struct error *items = NULL;
 *	size_t n = 0, room = 0;
 *	array_grow(&items, n + 1, &room);
 *	items[n++] = (struct error)ERROR_INIT;
 */
#pragma once

#include "base/macro.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* The exit status of a program that ran out of memory (EX_OSERR of sysexits.h). */
enum { MEM_EXHAUSTED = 71 };

/* Reports that there is no memory, and ends the program. For failures in libraries that would
 * otherwise look like damaged data. */
void mem_exhausted(void) _noreturn_;

/* Allocates @size bytes; caller frees. */
void *xmalloc(size_t size);
/* Allocates @n zeroed elements of @size bytes; caller frees. */
void *xcalloc(size_t n, size_t size);
/* The same of elements that will all be written. To take megabytes from the kernel page by page
 * takes longer than to write them, so they are taken in large pages if it has some. */
void *xcalloc_whole(size_t n, size_t size);
/* Resizes @p to @size bytes. Under this name, and xmalloc()'s, libiberty allocates too. */
void *xrealloc(void *p, size_t size);
/* Resizes @p to @n elements of @size bytes; the old pointer is taken, caller frees the new one. */
void *xreallocarray(void *p, size_t n, size_t size);
/* Copies a string; caller frees. */
char *xstrdup(const char *s);
/* Copies at most @n characters of a string; caller frees. */
char *xstrndup(const char *s, size_t n);
/* Copies @size bytes; caller frees. */
void *xmemdup(const void *p, size_t size);
/* Prints into a new string; caller frees. */
char *xasprintf(const char *format, ...) _printf_(1, 2);
/* As xasprintf(), with the arguments in a va_list. */
char *xvasprintf(const char *format, va_list ap) _printf_(1, 0);

/* As getline(), but out of memory is not mistaken for the end of the file. */
ssize_t xgetline(char **line, size_t *room, FILE *f);
/* As realpath(); NULL with errno if there is no such file. Caller frees. */
char *xrealpath(const char *path);
/* As fdopen(). */
FILE *xfdopen(int fd, const char *mode);
/* As open_memstream(); to be closed with xmemstream_close(). The caller frees the text. */
FILE *xmemstream(char **ret, size_t *ret_size);
/* Closes it; *@text, which it was opened with, is whole then. */
void xmemstream_close(FILE *f, char *const *text);

/* Makes room for @need elements in the array *@array, which has room for *@room; it grows by
 * doubling. New elements are not initialised. */
#define array_grow(array, need, room)                                                              \
	(*(array) = mem_grow(*(array), (need), (room), sizeof(**(array))))

/* Does the work of array_grow(); returns the array, moved or not. */
void *mem_grow(void *array, size_t need, size_t *room, size_t size);
