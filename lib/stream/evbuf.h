/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event buffer carries samples from a driver to record, as a stream of 64-bit words. A sample
 * is two words: its offset in an image (or a kernel address) and its counter. An escape word and a
 * code precede whatever changes between samples: task, CPU, image. Codes below 16 are those of
 * OProfile 1.x. man oprofile-buffer.5 has the grammar. The buffer is its owner's; words are the
 * sink's for one call.
 *
 *	struct evbuf *b = evbuf_new(131072, sink, data);
 *	evbuf_context(b, &(struct evbuf_context){ .cpu = 0, .tgid = 7, .tid = 7, .app = 1 });
 *	evbuf_sample(b, cookie, offset, counter, 1);
 *	evbuf_chain(b, frames, count, &(struct evbuf_trace){ counter, 1, CHAIN_END_COMPLETE });
 *	evbuf_callers(b, 12, frames + 1, count - 1, CHAIN_END_COMPLETE);
 *	evbuf_called(b, frames, 12, &(struct evbuf_trace){ counter, 1 });
 *	evbuf_flush(b);
 */
#pragma once

#include "unwind/chain_end_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVBUF_ESCAPE	     UINT64_MAX
#define EVBUF_NO_COOKIE	     ((uint64_t)0) /* anonymous: absolute PCs follow */
#define EVBUF_INVALID_COOKIE UINT64_MAX

/* Codes: name, number, words after the code. CTX_SWITCH is always followed by CTX_TGID. */
#define EVBUF_CODES(X)                                                                             \
	X(CTX_SWITCH, 1, 2)    /* tid, application cookie */                                       \
	X(CPU_SWITCH, 2, 1)    /* cpu */                                                           \
	X(COOKIE_SWITCH, 3, 1) /* cookie of the image that the next samples are in */              \
	X(KERNEL_ENTER, 4, 0)  /* absolute kernel PCs follow */                                    \
	X(USER_ENTER, 5, 0)                                                                        \
	X(MODULE_LOADED, 6, 0) /* read the module list again */                                    \
	X(CTX_TGID, 7, 1)      /* thread group of the CTX_SWITCH before it */                      \
	X(TRACE_BEGIN, 8, 0)   /* the samples up to the next context are one call chain */         \
	X(TRACE_END, 9, 0)                                                                         \
	X(XEN_ENTER, 10, 0)                                                                        \
	X(SPU_PROFILING, 11, 1)                                                                    \
	X(SPU_CTX_SWITCH, 12, 0)                                                                   \
	X(IBS_FETCH, 13, 7)                                                                        \
	X(IBS_OP, 14, 13)                                                                          \
	X(WEIGHT, 32, 1)      /* ours: the number of samples that the next one stands for */       \
	X(CHAIN_END, 33, 1)   /* ours: why this chain has no further callers (enum chain_end) */   \
	X(CTX_CGROUP, 34, 1)  /* ours: cookie of the cgroup of the samples from here on */         \
	X(CALLERS, 35, 3)     /* ours: number of a list of callers, its end, its length */         \
	X(CALLER, 36, 2)      /* ours: cookie and offset of the next one of that list */           \
	X(CALLED_BY, 37, 1)   /* ours: the chain goes on with the list of that number, and ends */ \
	X(KERNEL_CODE, 38, 3) /* ours: start, length and cookie of code added to the kernel */     \
	X(CTX_COMM, 39, 1)    /* ours: cookie of the thread's name, of the samples from here on */ \
	X(NAME, 40, 8)	      /* ours: 64 bytes more of the name of the next GENERATED, or NULs */ \
	X(GENERATED, 41, 3)   /* ours: process, address and length of code made at run time */

enum evbuf_code {
#define X(name, number, words) EVBUF_##name = number,
	EVBUF_CODES(X)
#undef X
};

/* The number of words after @code; -1 for an unknown code. An IBS_OP with a branch target has one
 * more. */
int evbuf_words_after(uint64_t code);

/* A chain has at most so many frames; a list of callers has a number below the other. */
enum { EVBUF_FRAMES_MAX = 1024, EVBUF_LISTS_MAX = 1 << 20 };

/* Code that a process has generated. */
struct evbuf_generated {
	uint64_t start, length;
	const char *name;
};

/* A name has at most so many bytes; each NAME has so many of them. */
enum { EVBUF_NAME_MAX = 4096, EVBUF_NAME_PART = 64 };

/* The cookie of a frame whose offset is an absolute address in the kernel. */
#define EVBUF_KERNEL (UINT64_MAX - 1)

/* A frame of a call chain: the PC of the innermost one and of the one that entered the kernel (of
 * the system call, if that is known), the return address of all others; or, where a signal
 * interrupted, one more than the PC. */
struct evbuf_frame {
	uint64_t cookie; /* of the image, or EVBUF_KERNEL */
	uint64_t offset; /* in the image, or a kernel address */
};

/* A call chain apart from its frames. */
struct evbuf_trace {
	unsigned int counter;
	uint64_t weight; /* number of samples with this chain */
	enum chain_end end;
};

/* Takes whole records; @words is borrowed for the call. 0, or -errno, which evbuf_flush() returns.
 */
typedef int evbuf_sink(const uint64_t *words, size_t count, void *data);

/* The task of a sample; written only where it differs from that of the sample before. */
struct evbuf_context {
	uint32_t cpu, tgid, tid;
	uint64_t app;	 /* cookie of the application image, EVBUF_NO_COOKIE if there is none */
	uint64_t cgroup; /* cookie; EVBUF_NO_COOKIE if cgroups are not asked for */
	uint64_t comm;	 /* the same of the thread's name */
};

struct evbuf;

/* Makes a buffer of @words (at least 64), which hands them to @sink when it is full and in
 * evbuf_flush(). Caller frees. */
struct evbuf *evbuf_new(size_t words, evbuf_sink *sink, void *data);
/* Frees it and drops the words that were not flushed; NULL is fine. */
void evbuf_free(struct evbuf *b);

/* Sets the context of the samples that follow. */
void evbuf_context(struct evbuf *b, const struct evbuf_context *context);
/* Adds @weight samples of @counter at @offset in the image @cookie. */
void evbuf_sample(struct evbuf *b, uint64_t cookie, uint64_t offset, unsigned int counter,
		  uint64_t weight);
/* Adds samples at an absolute kernel address. */
void evbuf_kernel_sample(struct evbuf *b, uint64_t pc, unsigned int counter, uint64_t weight);
/* Adds a sample with its call chain: @frames[0] is the sample itself, which must not be added by
 * evbuf_sample() too, and each further frame is the caller of the one before; kernel frames come
 * first, then user frames. Nothing is added if @count is 0. Frames beyond EVBUF_FRAMES_MAX are cut
 * off, and the end is then CHAIN_END_DEPTH. */
void evbuf_chain(struct evbuf *b, const struct evbuf_frame *frames, size_t count,
		 const struct evbuf_trace *trace);
/* Defines the list of callers @number from here on: its frames, the innermost first, and why there
 * are no more. */
void evbuf_callers(struct evbuf *b, uint32_t number, const struct evbuf_frame *frames, size_t count,
		   enum chain_end end);
/* As evbuf_chain() for a sample at @leaf with the list of callers @number; @trace has the end of
 * that list. */
void evbuf_called(struct evbuf *b, const struct evbuf_frame *leaf, uint32_t number,
		  const struct evbuf_trace *trace);
/* Defines the code in @length bytes of the kernel at @start from here on: @cookie has its name. */
void evbuf_kernel_code(struct evbuf *b, uint64_t start, uint64_t length, uint64_t cookie);
/* Defines the code that process @tgid has generated in @length bytes at @start from here on. Names
 * longer than EVBUF_NAME_MAX bytes are cut. */
void evbuf_generated(struct evbuf *b, uint32_t tgid, const struct evbuf_generated *code);
/* Adds a code that has no words of its own (MODULE_LOADED, TRACE_BEGIN, TRACE_END). */
void evbuf_code(struct evbuf *b, enum evbuf_code code);
/* Adds @code with its @count words (1 to 16), after setting the first to the offset of @at. */
void evbuf_words_at(struct evbuf *b, enum evbuf_code code, const struct evbuf_frame *at,
		    uint64_t *words, size_t count);
/* Hands over all words; 0, or what the sink returned when it last failed. */
int evbuf_flush(struct evbuf *b);
/* Has the next sample write its whole context, so that a reader may begin there. */
void evbuf_restart(struct evbuf *b);
/* Number of samples so far whose chain was cut short: neither complete nor of the full depth. */
uint64_t evbuf_cut_chains(const struct evbuf *b);
