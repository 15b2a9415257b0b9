/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampling program in the kernel (bpf/sample.bpf.c), from outside: loaded, attached to events,
 * drained. All of it goes with the process, however that ends.
 *
 *	struct sampler *s;
 *	if (sampler_new(&(struct sampler_config){ .keys = 16384 }, &s, err) == 0)
 *		sampler_attach(event, 0, s);
 *	sampler_drain(s, &handler);
 *	sampler_free(s);
 */
#pragma once

#include "base/error.h"
#include "bpf/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLER_CHAINS_MAX = 32768 }; /* known at a time */

struct sampler;

struct sampler_config {
	size_t keys;	    /* that may be counted on each CPU between two drains */
	bool follow;	    /* only processes that sampler_follow() names, and their descendants */
	unsigned int depth; /* of call chains, the sample itself counted; 0: none */
	bool by_frame_pointers;
	bool pass_on;	     /* samples go into the event's ring as well */
	bool cgroups;	     /* keys have them */
	bool offcpu;	     /* sampler_offcpu() may be asked for */
	bool offcpu_blocked; /* there, tasks that were made to leave do not count */
};

/* Loads the program and has it look up an address of ours; 0, or -errno with the reason why it
 * cannot be used here, one line. Caller frees. */
int sampler_new(const struct sampler_config *config, struct sampler **ret, struct error *err);
/* Unloads; NULL is fine. What was attached holds the program until it is closed. */
void sampler_free(struct sampler *s);
DEFINE_CLEANUP(struct sampler *, sampler_free);

/* Lets the program take the samples of the event @fd under the number @counter; a descriptor that
 * keeps it so, or -errno. A perf_attach: @sampler is the struct sampler. */
int sampler_attach(int fd, unsigned int counter, void *sampler);

/* A descriptor that polls readable when a drain is due early. */
int sampler_fd(const struct sampler *s);

/* Takes what comes out; what is pointed at is borrowed for the call. */
struct sampler_handler {
	void (*image)(const struct sample_image *image, void *data);
	void (*chain)(const struct sample_chain *chain, void *data);
	void (*sample)(const struct sample_key *key, uint32_t callers, uint64_t count, void *data);
	/* The number of a chain's callers, by which the samples of a context are sorted; or NULL.
	 */
	uint32_t (*number)(uint64_t chain, void *data);
	/* The epoch of a sample in kernel code that may be replaced; or NULL. Samples of a lower
	 * epoch come first. The others have that of the time 0. */
	uint32_t (*epoch)(uint64_t at_ns, void *data);
	void *data;
};

/* Begins another round of counting: nothing is added any more to what sampler_drain() hands over.
 */
void sampler_end_round(struct sampler *s);
/* Hands over all that was counted in the rounds before: first images and chains that are seen for
 * the first time, then the samples, sorted by epoch and context. Ends the round if
 * sampler_end_round() was not called since the last drain. */
void sampler_drain(struct sampler *s, const struct sampler_handler *handler);
/* Hands over images and chains only. */
void sampler_listen(struct sampler *s, const struct sampler_handler *handler);
/* Whether more is counted than there shall be when it is drained. */
bool sampler_is_filling(const struct sampler *s);
/* Whether samples or callers since the last drain were in memory that has no file. */
bool sampler_met_memory(const struct sampler *s);

/* Grows with each drain: the stamp that tables get when they are used. */
uint32_t sampler_drains(const struct sampler *s);

/* Totals of all CPUs, of samples or of time off the CPU. */
void sampler_counters(const struct sampler *s, enum sample_slot slot, struct sample_counters *ret);
/* Those of one CPU, as of the last sampler_counters(). */
void sampler_cpu_counters(const struct sampler *s, unsigned int cpu, struct sample_counters *ret);
/* Lets each sample of @cpu stand for @stretch / STRETCH_ONE of them, at least one, from now on. */
void sampler_stretch(struct sampler *s, unsigned int cpu, uint32_t stretch);

/* From now on the microseconds that a task was off the CPU are counted when it comes back, where it
 * had left, as samples of event @counter. */
void sampler_offcpu(struct sampler *s, unsigned int counter);
/* No longer; hands over the time up to now of those that have not come back, and forgets them: how
 * many. Does nothing where it was not on. */
size_t sampler_offcpu_end(struct sampler *s, const struct sampler_handler *handler);

/* Where the kernel's own text lies. From then on samples in other code of the kernel, which may
 * give way to yet other code, carry the moment when they were taken. */
void sampler_set_text(struct sampler *s, uint64_t start, uint64_t end);
/* Whether @address, of the kernel, is not in its own text. */
bool sampler_is_passing(const struct sampler *s, uint64_t address);

/* Has the path of @file told again at its next sample. */
void sampler_forget_image(struct sampler *s, const struct sample_file *file);

/* What the program knows the file open as @fd by, which must have a byte; 0 or -errno. Nothing may
 * be sampled meanwhile. */
int sampler_identify(const struct sampler *s, int fd, struct sample_file *ret);

/* Descriptors of the maps that other modules read and write, named as in bpf/. */
struct sampler_maps {
	int chains, chunks, pages, rules, table_numbers, tables, wants;
};
/* Those of the program that @s has loaded; borrowed. */
const struct sampler_maps *sampler_maps(const struct sampler *s);
/* Bytes of the program's maps, but for what this process maps and those of tables. */
uint64_t sampler_kernel_bytes(const struct sampler *s);
/* Maps the memory of an array map of @bytes; NULL with errno. Caller unmaps. */
void *sampler_map_memory(int map, size_t bytes);
/* Has the program forget what it remembers of tables whose numbers were deleted, and waits until it
 * does not use them any more. */
void sampler_forget_tables(const struct sampler *s);

/* Follows process @tgid (of the first PID namespace); 0 or -errno. */
int sampler_follow(struct sampler *s, uint32_t tgid, enum sample_follow state);
/* Whether a process that is followed lives. */
bool sampler_any_followed(const struct sampler *s);
