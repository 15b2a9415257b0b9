/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* The only place in the libraries that ends the program. */
void mem_exhausted(void)
{
	static const char text[] = "oprofile: out of memory\n";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(MEM_EXHAUSTED);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		mem_exhausted();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		mem_exhausted();
	return p;
}

void *xcalloc_whole(size_t n, size_t size)
{
	enum { PAGE = 4096, LARGE = 4 << 20 };
	void *p = xcalloc(n, size);
	uintptr_t from = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);

	if (n * size >= LARGE) /* a wish: without it, it takes longer */
		(void)madvise((void *)from, n * size - PAGE, MADV_HUGEPAGE);
	return p;
}

void *xrealloc(void *p, size_t size)
{
	return xreallocarray(p, size, 1);
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n ? n : 1, size ? size : 1);
	if (!p)
		mem_exhausted();
	return p;
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = xmalloc(length + 1);

	memcpy(copy, s, length);
	copy[length] = '\0';
	return copy;
}

void *xmemdup(const void *p, size_t size)
{
	void *copy = xmalloc(size);

	if (size)
		memcpy(copy, p, size);
	return copy;
}

char *xvasprintf(const char *format, va_list ap)
{
	char *s;

	if (vasprintf(&s, format, ap) < 0)
		mem_exhausted();
	return s;
}

char *xasprintf(const char *format, ...)
{
	va_list ap;
	char *s;

	va_start(ap, format);
	s = xvasprintf(format, ap);
	va_end(ap);
	return s;
}

ssize_t xgetline(char **line, size_t *room, FILE *f)
{
	ssize_t n = getline(line, room, f);

	if (n < 0 && !feof(f) && !ferror(f))
		mem_exhausted();
	return n;
}

char *xrealpath(const char *path)
{
	char *real = realpath(path, NULL);

	if (!real && errno == ENOMEM)
		mem_exhausted();
	return real;
}

FILE *xfdopen(int fd, const char *mode)
{
	FILE *f = fdopen(fd, mode);

	if (!f && errno == ENOMEM)
		mem_exhausted();
	return f;
}

FILE *xmemstream(char **ret, size_t *ret_size)
{
	FILE *f = open_memstream(ret, ret_size);

	if (!f)
		mem_exhausted();
	return f;
}

void xmemstream_close(FILE *f, char *const *text)
{
	bool failed = fflush(f) != 0 || ferror(f);

	/* To give back what is not needed, glibc may need memory. */
	if (fclose(f) != 0 || failed || !*text)
		mem_exhausted();
}

void *mem_grow(void *array, size_t need, size_t *room, size_t size)
{
	size_t want = *room ? *room : 8;

	if (need <= *room)
		return array;
	while (want < need)
		if (__builtin_mul_overflow(want, 2, &want))
			mem_exhausted();
	array = xreallocarray(array, want, size);
	*room = want;
	return array;
}
