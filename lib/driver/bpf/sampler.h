/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user-space side of the BPF program that samples in the kernel (bpf/sample.bpf.c): loads it,
 * attaches it to perf events and drains its samples. Everything loaded disappears with the process,
 * however it ends. The caller owns the sampler and frees it.
 *
 *	struct sampler *s;
 *	if (sampler_new(&(struct sampler_config){ .keys = 16384 }, &s, err) == 0)
 *		sampler_attach(event, 0, s);
 *	sampler_drain(s, &handler);
 *	sampler_free(s);
 */
#pragma once

#include "driver/bpf/sampler_handler.h"
#include "base/error.h"
#include "bpf/sample.h"
#include "driver/bpf/sampler_load.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_buffer;
struct sampler;

/* Loads the program and tests it by looking up an address of this process. Returns 0, or -errno
 * with the reason why it cannot be used here, in one line. Caller frees. */
int sampler_new(const struct sampler_config *config, struct sampler **ret, struct error *err);
/* Frees the sampler; accepts NULL. The program stays loaded until the descriptors returned by
 * sampler_attach() are closed. */
void sampler_free(struct sampler *s);
DEFINE_CLEANUP(struct sampler *, sampler_free);

/* Attaches the program to the event @fd, whose samples get the number @counter. Returns a
 * descriptor that keeps it attached, or -errno. Is a perf_attach: @sampler is the struct
 * sampler. */
int sampler_attach(int fd, unsigned int counter, void *sampler);

/* A descriptor that polls readable when a drain is due early. */
int sampler_fd(const struct sampler *s);

/* Begins another round of counting, so that the data for sampler_drain() no longer changes. */
void sampler_end_round(struct sampler *s);
/* Passes everything counted in the last round to @handler: first new images and chains, then the
 * samples, sorted by epoch and context. Ends the round first if sampler_end_round() was not called
 * since the last drain. */
void sampler_drain(struct sampler *s, const struct sampler_handler *handler);
/* Passes only new images and chains to @handler. */
void sampler_listen(struct sampler *s, const struct sampler_handler *handler);
/* Whether the maps are full enough that a drain is due. */
bool sampler_is_filling(const struct sampler *s);
/* Whether any sample or caller since the last drain was in memory without a file. */
bool sampler_met_memory(const struct sampler *s);

/* The number of drains, with which the program stamps tables when it uses them. */
uint32_t sampler_drains(const struct sampler *s);

/* Reads the totals of all CPUs, of samples or of time off the CPU. */
void sampler_counters(const struct sampler *s, enum sample_slot slot, struct sample_counters *ret);
/* Copies the totals of one CPU, as of the last sampler_counters(). */
void sampler_cpu_counters(const struct sampler *s, unsigned int cpu, struct sample_counters *ret);
/* Makes each sample of @cpu count as @stretch / STRETCH_ONE samples, at least one, from now on. */
void sampler_stretch(struct sampler *s, unsigned int cpu, uint32_t stretch);

/* Starts measuring time off the CPU: when a task comes back, counts the microseconds it was away,
 * at the place where it left, as samples of the event that counts the reason; @counter is the first
 * of these. */
void sampler_offcpu(struct sampler *s, unsigned int counter);
/* Stops measuring time off the CPU. Passes the time up to now of tasks that have not come back to
 * @handler, adds it to @squares, by event, and forgets them. Returns their number; 0 if it was not
 * on. */
size_t sampler_offcpu_end(struct sampler *s, const struct sampler_handler *handler,
			  struct offcpu_squares squares[SAMPLE_OFFCPU_EVENTS]);

/* Sets the range of the kernel's own text. From then on, samples in other kernel code, which may be
 * replaced by different code, carry a timestamp. */
void sampler_set_text(struct sampler *s, uint64_t start, uint64_t end);
/* Whether the kernel address @address is outside the kernel's own text. */
bool sampler_is_passing(const struct sampler *s, uint64_t address);

/* Makes the program report the path of @file again at its next sample. */
void sampler_forget_image(struct sampler *s, const struct sample_file *file);

/* Finds the program's identification of the file open as @fd, which must not be empty. Returns 0 or
 * -errno. Sampling must be stopped meanwhile. */
int sampler_identify(const struct sampler *s, int fd, struct sample_file *ret);

/* Descriptors of the maps that other modules read and write, named as in bpf/; ->followed is -1 if
 * all processes are sampled. */
struct sampler_maps {
	int chunks, codes, copies, executables, followed, interpreters, left, pages, rules,
		table_numbers, tables;
	int chains[SAMPLE_CHAIN_SLOTS], functions[SAMPLE_CHAIN_SLOTS], wants[SAMPLE_CHAIN_SLOTS];
};
/* The number of entries in the maps of tables and of their numbers. */
uint32_t sampler_tables(const struct sampler *s);
/* The number of entries in the map of unwinding for generated code. */
uint32_t sampler_codes_max(const struct sampler *s);
/* Sets the number of entries that are in use there: the program looks there only if there are. */
void sampler_set_codes(struct sampler *s, uint32_t count);
/* Makes the program send the names of generated code again. */
void sampler_renew_names(struct sampler *s);
/* The maps of the program that @s has loaded; borrowed. */
const struct sampler_maps *sampler_maps(const struct sampler *s);
/* Bytes of the program's maps, except those mapped by this process and those of unwind tables. */
uint64_t sampler_kernel_bytes(const struct sampler *s);
/* Opens the rings @maps, whose messages @on_message gets with @data. Returns NULL with errno set on
 * failure. Caller frees. */
struct ring_buffer *sampler_rings(const int *maps, size_t count,
				  int (*on_message)(void *data, void *message, size_t bytes),
				  void *data);
/* Maps @bytes of an array map. Returns NULL with errno set on failure. Caller unmaps. */
void *sampler_map_memory(int map, size_t bytes);
/* Makes the program drop its cached tables after their numbers were deleted, and waits until it no
 * longer uses them. */
void sampler_forget_tables(const struct sampler *s);

/* Follows process @tgid (in the initial PID namespace). Returns 0 or -errno. */
int sampler_follow(struct sampler *s, uint32_t tgid, enum sample_follow state);
/* Whether any followed process is alive. */
bool sampler_any_followed(const struct sampler *s);
