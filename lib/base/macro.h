/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes and the few macros that a function cannot replace.
 *
 *	_cleanup_free_ char *name = xstrdup("x");
 *	_cleanup_close_ int fd = open(name, O_RDONLY);
 *	*ret = STEAL(name);
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define _printf_(f, a)	__attribute__((format(printf, f, a)))
#define _must_check_	__attribute__((warn_unused_result))
#define _noreturn_	__attribute__((noreturn))
#define _unused_	__attribute__((unused))
#define _cleanup_(f)	__attribute__((cleanup(f)))
#define _cleanup_free_	_cleanup_(cleanup_freep)
#define _cleanup_close_ _cleanup_(cleanup_closep)
#define _likely_(x)	__builtin_expect(!!(x), 1)
#define _unlikely_(x)	__builtin_expect(!!(x), 0)

/* Number of elements of a real array; a pointer does not compile. */
#define ARRAY_SIZE(a)                                                                              \
	(sizeof(a) / sizeof((a)[0]) +                                                              \
	 0 * sizeof(char[1 -                                                                       \
			 2 * __builtin_types_compatible_p(__typeof__(a), __typeof__(&(a)[0]))]))

/* Moves an owned pointer out of a variable, which becomes NULL. */
#define STEAL(p)                                                                                   \
	({                                                                                         \
		__typeof__(p) stolen_ = (p);                                                       \
		(p) = NULL;                                                                        \
		stolen_;                                                                           \
	})

/* Moves an owned descriptor out of a variable, which becomes -1. */
#define STEAL_FD(fd)                                                                               \
	({                                                                                         \
		int stolen_ = (fd);                                                                \
		(fd) = -1;                                                                         \
		stolen_;                                                                           \
	})

/* Lower bound, by bisection: the first i of [low, high) for which @before, an expression of i, is
 * false; high if there is none. @before must be true up to some i and false from there on. */
#define FIRST_NOT(i, low, high, before)                                                            \
	({                                                                                         \
		size_t low_ = (low), high_ = (high);                                               \
		while (low_ < high_) {                                                             \
			size_t i = low_ + (high_ - low_) / 2;                                      \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

#define MIN(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) a_ = (a);                                                            \
		__typeof__(b) b_ = (b);                                                            \
		a_ < b_ ? a_ : b_;                                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) a_ = (a);                                                            \
		__typeof__(b) b_ = (b);                                                            \
		a_ > b_ ? a_ : b_;                                                                 \
	})

/* Makes the cleanup form NAMEp() of a destructor NAME(), for use with _cleanup_(). */
#define DEFINE_CLEANUP(type, name)                                                                 \
	static inline void name##p(type *p)                                                        \
	{                                                                                          \
		if (*p)                                                                            \
			name(*p);                                                                  \
	}                                                                                          \
	struct cleanup_##name##_semicolon

/* Whether this is built with AddressSanitizer, whose shadow memory and system calls would exceed
 * what confined processes may use: 1 or 0. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}
