/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event buffer: one stream of 64-bit words from driver to record. A sample is two words, offset
 * (or absolute PC) and counter; what changes between samples (task, CPU, image) stands between them
 * behind an escape word. Codes below 16 are the original's; man oprofile-buffer.5 has the grammar.
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
#define EVBUF_NO_COOKIE	     ((uint64_t)0) /* anonymous: what follows are absolute PCs */
#define EVBUF_INVALID_COOKIE UINT64_MAX

/* Codes: name, number, words behind the code. Those of variable length say so in record's handler
 * (CTX_SWITCH is followed by an ESCAPE, TGID, tgid of its own). */
#define EVBUF_CODES(X)                                                                             \
	X(CTX_SWITCH, 1, 2)    /* tid, application cookie */                                       \
	X(CPU_SWITCH, 2, 1)    /* cpu */                                                           \
	X(COOKIE_SWITCH, 3, 1) /* cookie of the image the next samples are in */                   \
	X(KERNEL_ENTER, 4, 0)  /* what follows are absolute kernel PCs */                          \
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
	X(WEIGHT, 32, 1)     /* ours: the next sample stands for so many */                        \
	X(CHAIN_END, 33, 1)  /* ours: why this chain has no further callers (enum chain_end) */    \
	X(CTX_CGROUP, 34, 1) /* ours: cookie of the cgroup of the samples from here on */          \
	X(CALLERS, 35, 3)    /* ours: number of a list of callers, its end, its length */          \
	X(CALLER, 36, 2)     /* ours: cookie and offset of the next one of that list */            \
	X(CALLED_BY, 37, 1)  /* ours: the chain goes on with the list of that number, and ends */  \
	X(KERNEL_CODE, 38,                                                                         \
	  3) /* ours: start, length and cookie of code that came into the kernel  \
			       */

enum evbuf_code {
#define X(name, number, words) EVBUF_##name = number,
	EVBUF_CODES(X)
#undef X
};

/* The most frames of a chain that are written out; numbers of lists of callers are below the other.
 */
enum { EVBUF_FRAMES_MAX = 1024, EVBUF_LISTS_MAX = 1 << 20 };

/* In a frame's cookie: its offset is an absolute address in the kernel. */
#define EVBUF_KERNEL (UINT64_MAX - 1)

/* One frame of a call chain: of the innermost the PC, of all others the return address. */
struct evbuf_frame {
	uint64_t cookie; /* of the image, or EVBUF_KERNEL */
	uint64_t offset; /* in the image, or a kernel address */
};

/* What belongs to a chain as a whole. */
struct evbuf_trace {
	unsigned int counter;
	uint64_t weight; /* so many samples have this very chain */
	enum chain_end end;
};

/* Takes a run of whole records; @words is borrowed for the call. 0 or -errno, which stops the run.
 */
typedef int evbuf_sink(const uint64_t *words, size_t count, void *data);

/* Who runs: written out only where it differs from the sample before. */
struct evbuf_context {
	uint32_t cpu, tgid, tid;
	uint64_t app;	 /* cookie of the application image, EVBUF_NO_COOKIE if there is none */
	uint64_t cgroup; /* cookie; EVBUF_NO_COOKIE, always, where nobody asks for cgroups */
};

struct evbuf;

/* A buffer of @words (at least 64), handed to @sink when full and by evbuf_flush(). Caller frees.
 */
struct evbuf *evbuf_new(size_t words, evbuf_sink *sink, void *data);
/* Frees it, dropping what was not flushed; NULL is fine. */
void evbuf_free(struct evbuf *b);

/* Sets the context of the samples that follow. */
void evbuf_context(struct evbuf *b, const struct evbuf_context *context);
/* Adds @weight samples of @counter at @offset in the image @cookie. */
void evbuf_sample(struct evbuf *b, uint64_t cookie, uint64_t offset, unsigned int counter,
		  uint64_t weight);
/* Adds samples at an absolute kernel address. */
void evbuf_kernel_sample(struct evbuf *b, uint64_t pc, unsigned int counter, uint64_t weight);
/* Adds a sample with its call chain in the context set before: @frames[0] is the sample itself (it
 * counts as with evbuf_sample(), which is not called for it), each further one the caller of the
 * one before; kernel frames first, then user frames. A chain of one frame is fine; of none is
 * nothing. What is beyond EVBUF_FRAMES_MAX is cut off and the end said to be DEPTH. */
void evbuf_chain(struct evbuf *b, const struct evbuf_frame *frames, size_t count,
		 const struct evbuf_trace *trace);
/* Says what callers @number stands for from now on, the innermost first, and why there are no more.
 */
void evbuf_callers(struct evbuf *b, uint32_t number, const struct evbuf_frame *frames, size_t count,
		   enum chain_end end);
/* As evbuf_chain(), of a sample at @leaf and the callers of @number, whose end it has. */
void evbuf_called(struct evbuf *b, const struct evbuf_frame *leaf, uint32_t number,
		  const struct evbuf_trace *trace);
/* Says what lies at @length bytes of the kernel from @start on from now on: the code whose name is
 * that of @cookie. */
void evbuf_kernel_code(struct evbuf *b, uint64_t start, uint64_t length, uint64_t cookie);
/* Adds a code that has no words of its own (MODULE_LOADED, TRACE_BEGIN, TRACE_END). */
void evbuf_code(struct evbuf *b, enum evbuf_code code);
/* Adds @code, which takes @count words, at most 16, of which the first is set to where @at is; in
 * the context set before. */
void evbuf_words_at(struct evbuf *b, enum evbuf_code code, const struct evbuf_frame *at,
		    uint64_t *words, size_t count);
/* Hands over what there is; 0, or what the sink returned the last time it failed. */
int evbuf_flush(struct evbuf *b);
/* What follows says its whole context again, so that a reader may begin there. */
void evbuf_restart(struct evbuf *b);
/* Words handed over so far. */
uint64_t evbuf_words(const struct evbuf *b);
/* Samples so far whose chain ended before its time: neither complete nor as deep as asked for. */
uint64_t evbuf_cut_chains(const struct evbuf *b);
