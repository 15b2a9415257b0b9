/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_unwound SECONDS: JIT code without frame pointers, which use the register for something
 * else, with unwinding information in a jitdump. Two sets of three functions, of which each calls
 * the next: the first set runs for SECONDS / 2, so that the code is known when the second one runs
 * for SECONDS. */
#include "truth.h"
#include "truth_jitdump.h"

TRUTH_CHAIN(early)
TRUTH_CHAIN(known)

#ifdef __x86_64__
/* Calls the function that is filled in, with its own arguments. */
static const uint8_t caller[] = {
	0x55,			      /* push %rbp */
	0x53,			      /* push %rbx */
	0x48, 0x83, 0xec, 0,	      /* sub $FRAME, %rsp */
	0xbd, 0x78, 0x56, 0x34, 0x12, /* mov $0x12345678, %ebp */
	0xe8, 0,    0,	  0,	0,    /* call NEXT */
	0x48, 0x83, 0xc4, 0,	      /* add $FRAME, %rsp */
	0x5b,			      /* pop %rbx */
	0x5d,			      /* pop %rbp */
	0xc3,			      /* ret */
};
enum { CALLER_SUB = 5, CALLER_NEXT = 12, CALLER_ADD = 19 };

/* Counts its first argument down, then calls the second one with the first. */
static const uint8_t leaf[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xfd, /* mov %rdi, %rbp */
	0x48, 0xff, 0xcd, /* 1: dec %rbp */
	0x75, 0xfb,	  /* jnz 1b */
	0xff, 0xd6,	  /* call *%rsi */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};

/* Version 1, "zR", alignments 1 and -8, the return address is register 16, FDEs have addresses of
 * 4 bytes relative to the PC; the CFA is rsp + 8, the return address at CFA - 8. */
#define CIE 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0
/* Its length, its distance from the CIE; start, size and augmentation are filled in. */
#define FDE(length) length, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0

static const uint8_t caller_cfi[] = {
	CIE,  FDE(36), 0x41, 0x0e, 16,	 0x86, 2, /* after 1 byte: CFA rsp + 16, rbp at CFA - 16 */
	0x41, 0x0e,    24,   0x83, 3,	 0x44, 0x0e, 0, /* FRAME + 24 */
	0x4e, 0x0e,    24,   0x41, 0x0e, 16,   0x41, 0x0e, 8, 0,
};
static const uint8_t leaf_cfi[] = {
	CIE, FDE(28), 0x41, 0x0e, 16, 0x86, 2, 0x4b, 0x0e, 8, 0, 0, 0, 0, 0, 0, 0,
};
enum { FDE_START = 32, FDE_SIZE = 36, CALLER_CFA = 53, INDEX_BYTES = 20 };
_Static_assert(sizeof(caller_cfi) == 64 && sizeof(leaf_cfi) == 56, "whole records");

static void put_word(uint8_t *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
}

/* Describes code of @bytes, which is followed by the .eh_frame @cfi. */
static void say_unwinding(uint8_t *cfi, size_t cfi_bytes, size_t bytes)
{
	static const uint8_t index[INDEX_BYTES];
	size_t distance = (bytes + 7) / 8 * 8;

	put_word(cfi + FDE_START, -(uint32_t)(distance + FDE_START));
	put_word(cfi + FDE_SIZE, (uint32_t)bytes);
	jitdump_record(4, 24 + cfi_bytes + sizeof(index));
	jitdump_u64(cfi_bytes + sizeof(index));
	jitdump_u64(sizeof(index));
	jitdump_u64(cfi_bytes + sizeof(index));
	(void)fwrite(cfi, cfi_bytes, 1, jitdump);
	(void)fwrite(index, sizeof(index), 1, jitdump);
}

/* Makes a function at @at that calls @next with a frame of @frame bytes. */
static void make_caller(uint8_t *at, const uint8_t *next, uint8_t frame, const char *name)
{
	uint8_t cfi[sizeof(caller_cfi)];

	memcpy(at, caller, sizeof(caller));
	put_word(at + CALLER_NEXT, (uint32_t)(next - (at + CALLER_NEXT + 4)));
	at[CALLER_SUB] = at[CALLER_ADD] = frame;
	memcpy(cfi, caller_cfi, sizeof(cfi));
	cfi[CALLER_CFA] = frame + 24;
	say_unwinding(cfi, sizeof(cfi), sizeof(caller));
	jitdump_load(at, sizeof(caller), name);
}

static void make_leaf(uint8_t *at, const char *name)
{
	uint8_t cfi[sizeof(leaf_cfi)];

	memcpy(at, leaf, sizeof(leaf));
	memcpy(cfi, leaf_cfi, sizeof(cfi));
	say_unwinding(cfi, sizeof(cfi), sizeof(leaf));
	jitdump_load(at, sizeof(leaf), name);
}

typedef uint64_t chain_fn(uint64_t steps);
typedef uint64_t entry_fn(uint64_t steps, chain_fn *then);

enum { SET_BYTES = 256 };

static void make_set(uint8_t *at, const char *const names[3])
{
	make_caller(at, at + 64, 0x28, names[0]);
	make_caller(at + 64, at + 128, 0x48, names[1]);
	make_leaf(at + 128, names[2]);
}

__attribute__((noinline)) static void run_set(const uint8_t *at, chain_fn *then, double seconds)
{
	double end = truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
	entry_fn *entry;

	memcpy(&entry, &at, sizeof(entry));
	while (truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		(void)entry(TRUTH_UNIT, then);
	__asm__ volatile(""); /* so that this is in the chains */
}

int main(int argc, char **argv)
{
	static const char *const first[] = { "outer first", "middle first", "leaf first" };
	static const char *const second[] = { "outer second", "middle second", "leaf second" };
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double seconds = argc == 2 ? strtod(argv[1], NULL) : 0;

	if (!seconds || page == MAP_FAILED || jitdump_open())
		return 2;
	make_set(page, first);
	make_set(page + SET_BYTES, second);
	run_set(page, early, seconds / 2);
	run_set(page + SET_BYTES, known, seconds);
	return 0;
}
#else
int main(void)
{
	return 77; /* no code for this machine */
}
#endif
