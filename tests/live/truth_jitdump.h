/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a jitdump (tools/perf/Documentation/jitdump-specification.txt in Linux) of this process,
 * jit-PID.dump in its directory. It is found because it is mapped executable.
 *
 *	if (jitdump_open())
 *		return 1;
 *	jitdump_load(code, bytes, "name");
 */
#pragma once

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static FILE *jitdump;

static inline void jitdump_u32(uint32_t v)
{
	(void)fwrite(&v, sizeof(v), 1, jitdump);
}

static inline void jitdump_u64(uint64_t v)
{
	(void)fwrite(&v, sizeof(v), 1, jitdump);
}

/* Starts a record whose payload has @bytes. */
static inline void jitdump_record(uint32_t kind, size_t bytes)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	jitdump_u32(kind);
	jitdump_u32((uint32_t)(16 + bytes));
	jitdump_u64((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}

static inline int jitdump_open(void)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	jitdump = fopen(name, "w+");
	if (!jitdump)
		return -1;
	jitdump_u32(0x4a695444);
	jitdump_u32(1);
	jitdump_u32(40);
#ifdef __aarch64__
	jitdump_u32(EM_AARCH64);
#else
	jitdump_u32(EM_X86_64);
#endif
	jitdump_u32(0);
	jitdump_u32((uint32_t)getpid());
	jitdump_u64(0);
	jitdump_u64(0);
	(void)fflush(jitdump);
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(jitdump), 0) ==
	       MAP_FAILED;
}

static inline void jitdump_load(const void *code, size_t bytes, const char *name)
{
	static uint64_t index;

	jitdump_record(0, 40 + strlen(name) + 1 + bytes);
	jitdump_u32((uint32_t)getpid());
	jitdump_u32((uint32_t)getpid());
	jitdump_u64((uintptr_t)code);
	jitdump_u64((uintptr_t)code);
	jitdump_u64(bytes);
	jitdump_u64(++index);
	(void)fwrite(name, strlen(name) + 1, 1, jitdump);
	(void)fwrite(code, bytes, 1, jitdump);
	(void)fflush(jitdump);
}
