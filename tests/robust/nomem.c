/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one allocation of a program fail, in its own code or in a library; for LD_PRELOAD.
 * Addresses must be the same in each run (setarch -R).
 *
 *	OP_NOMEM_LIST=FILE	when the program ends, writes a line "ADDRESS COUNT" for each
 *				place that allocates, in it or in processes that it started
 *	OP_NOMEM=ADDRESS:N	the N-th allocation of that place fails
 *	OP_NOMEM=ADDRESS:N+	and so do all later ones of any place
 *
 * Allocations during look-ups of users and groups never fail, because the GNU C library
 * (nss_database.c of 2.36) crashes there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The C library's own, under the names that it keeps for whoever puts something before them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

enum { PLACES_MAX = 1 << 12 };

/* Shared with the processes that this one starts. */
static struct shared {
	bool none_left;
	struct place {
		uintptr_t address; /* 0: free */
		uint64_t count;
	} places[PLACES_MAX];
} * shared;

static uintptr_t wanted; /* 0: none */
static uint64_t number;
static bool for_good;
static pid_t first; /* the process that was started */
static bool spared;

/* The entry of @address, made where missing; there are far fewer places. */
static struct place *find(uintptr_t address)
{
	size_t i = address % PLACES_MAX;
	uintptr_t none;

	for (;; i = (i + 1) % PLACES_MAX) {
		struct place *at = &shared->places[i];

		none = 0;
		if (__atomic_compare_exchange_n(&at->address, &none, address, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    none == address)
			return at;
	}
}

static bool is_due(const void *caller)
{
	uint64_t n;

	/* The dynamic linker allocates before begin(). */
	if (spared || !shared)
		return false;
	n = __atomic_add_fetch(&find((uintptr_t)caller)->count, 1, __ATOMIC_RELAXED);
	if (!shared->none_left && (!wanted || (uintptr_t)caller != wanted || n != number))
		return false;
	if (for_good)
		shared->none_left = true;
	errno = ENOMEM;
	return true;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
	return is_due(CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return is_due(CALLER) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return is_due(CALLER) ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return is_due(CALLER) ? NULL : __libc_realloc(p, bytes);
}

#define SPARED(type, name, parameter)                                                              \
	type *name(parameter of)                                                                   \
	{                                                                                          \
		type *(*next)(parameter) = (type * (*)(parameter)) dlsym(RTLD_NEXT, #name);        \
		type *found;                                                                       \
                                                                                                   \
		spared = true;                                                                     \
		found = next(of);                                                                  \
		spared = false;                                                                    \
		return found;                                                                      \
	}

SPARED(struct passwd, getpwuid, uid_t)
SPARED(struct passwd, getpwnam, const char *)
SPARED(struct group, getgrnam, const char *)

__attribute__((constructor)) static void begin(void)
{
	const char *what = getenv("OP_NOMEM");
	char *colon = NULL;

	first = getpid();
	if (what)
		wanted = strtoull(what, &colon, 16);
	if (colon && *colon == ':')
		number = strtoull(colon + 1, &colon, 10);
	for_good = colon && *colon == '+';
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		_exit(125);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("OP_NOMEM_LIST");
	int fd = path && getpid() == first ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
	size_t i;

	for (i = 0; fd >= 0 && i < PLACES_MAX; i++)
		if (shared->places[i].address)
			(void)dprintf(fd, "%jx %ju\n", (uintmax_t)shared->places[i].address,
				      (uintmax_t)shared->places[i].count);
}
