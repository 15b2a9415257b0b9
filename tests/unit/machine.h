/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine of which records come in and the event buffer goes out: process table, sideband and
 * attribution together over a /proc that is a directory of ours. */
#pragma once

#include "test.h"

#include "driver/perf/perf_samples.h"
#include "identity/cookie.h"
#include "perf_bytes.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { USER = PERF_RECORD_MISC_USER, KERNEL = PERF_RECORD_MISC_KERNEL };

/* A machine: its /proc, what the driver makes of it, the samples that came out as text, one line
 * each: "application image+offset" or "application kernel+address", " xN" if it counts as N. */
struct machine {
	char *root;
	struct cookie_table *cookies;
	struct driver_stats stats;
	struct sideband sideband;
	struct evbuf *out;
	struct attribution attribution;
	struct strbuf bytes; /* of the record being made */
	uint64_t now_ns;
	/* What the words said last. */
	uint64_t app, cookie, weight;
	bool kernel;
	bool tracing, calling; /* in a chain; after its first frame */
	bool branch_target;    /* IBS_OP has another word than the table says */
	struct strbuf seen;
	uint64_t placed; /* samples that came out */
};

static inline const char *path_of(const struct machine *m, uint64_t cookie)
{
	const struct cookie_image *image = cookie_lookup(m->cookies, cookie);

	return image ? image->path : "nobody";
}

static inline void say_place(struct machine *m, uint64_t offset)
{
	strbuf_addf(&m->seen, "%s ", path_of(m, m->app));
	strbuf_addf(&m->seen, "%s+%" PRIx64, m->kernel ? "kernel" : path_of(m, m->cookie), offset);
}

/* An instruction-based sample: its place, and the words after the offset that are not 0. */
static inline void say_registers(struct machine *m, const uint64_t *w, size_t count)
{
	size_t i;

	say_place(m, w[0]);
	for (i = 1; i < count; i++)
		if (w[i])
			strbuf_addf(&m->seen, " %zu:%" PRIx64, i, w[i]);
	strbuf_adds(&m->seen, "\n");
}

static inline int take(const uint64_t *w, size_t count, void *data)
{
	static const size_t words[] = {
#define X(name, number, words) [number] = words,
		EVBUF_CODES(X)
#undef X
	};
	struct machine *m = data;
	size_t i;

	for (i = 0; i < count; i += 2) {
		if (w[i] != EVBUF_ESCAPE) {
			m->placed += !m->calling;
			m->calling = m->tracing;
			say_place(m, w[i]);
			strbuf_addf(&m->seen, m->weight ? " x%" PRIu64 "\n" : "\n", m->weight);
			m->weight = 0;
			continue;
		}
		if (w[i + 1] == EVBUF_WEIGHT)
			m->weight = w[i + 2];
		if (w[i + 1] == EVBUF_IBS_FETCH || w[i + 1] == EVBUF_IBS_OP)
			say_registers(m, &w[i + 2], words[w[i + 1]] + m->branch_target);
		if (w[i + 1] == EVBUF_CTX_SWITCH)
			m->app = w[i + 3];
		if (w[i + 1] == EVBUF_COOKIE_SWITCH)
			m->cookie = w[i + 2];
		if (w[i + 1] == EVBUF_KERNEL_ENTER || w[i + 1] == EVBUF_USER_ENTER)
			m->kernel = w[i + 1] == EVBUF_KERNEL_ENTER;
		if (w[i + 1] == EVBUF_TRACE_BEGIN || w[i + 1] == EVBUF_TRACE_END) {
			m->tracing = w[i + 1] == EVBUF_TRACE_BEGIN;
			m->calling = false;
		}
		if (w[i + 1] == EVBUF_CHAIN_END)
			strbuf_addf(&m->seen, "%s\n", chain_end_name(w[i + 2]));
		i += words[w[i + 1]] + (w[i + 1] == EVBUF_IBS_OP && m->branch_target);
	}
	return 0;
}

static inline struct machine *machine_new(void)
{
	struct machine *m = xcalloc(1, sizeof(*m));

	m->root = test_directory();
	m->cookies = cookie_table_new();
	m->out = evbuf_new(4096, take, m);
	m->now_ns = 1000000000;
	sideband_init(&m->sideband, &(struct process_source){ m->root, m->cookies }, &m->stats);
	/* The machine may be busy. */
	m->sideband.patience_ns = m->sideband.turn_ns = m->sideband.usual_turn_ns =
		(uint64_t)60 * 1000000000;
	m->attribution =
		(struct attribution){ .sideband = &m->sideband, .out = m->out, .stats = &m->stats };
	return m;
}

static inline void machine_free(struct machine *m)
{
	sideband_done(&m->sideband);
	evbuf_free(m->out);
	cookie_table_free(m->cookies);
	strbuf_done(&m->bytes);
	strbuf_done(&m->seen);
	test_directory_donep(&m->root);
	free(m);
}
DEFINE_CLEANUP(struct machine *, machine_free);
#define _cleanup_machine_ _cleanup_(machine_freep)

/* Puts a file into the machine's /proc/@pid. */
static inline void proc_file(struct machine *m, uint32_t pid, const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%u/%s", m->root, pid, name);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
}

/* A process that runs @exe and has it mapped at 0x400000. */
static inline void proc_process(struct machine *m, uint32_t pid, uint32_t parent, const char *exe)
{
	_cleanup_free_ char *link = xasprintf("%s/proc/%u/exe", m->root, pid);
	_cleanup_free_ char *comm = xasprintf("%s\n", path_base(exe));
	_cleanup_free_ char *stat = xasprintf("%u (%s) S %u 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1",
					      pid, path_base(exe), parent);
	_cleanup_free_ char *maps =
		xasprintf("00400000-00405000 r-xp 00001000 08:01 %u %s\n"
			  "00800000-00805000 rw-p 00001000 08:01 %u %s\n"
			  "7fff7ffc0000-7fff7ffc1000 r-xp 00000000 00:00 0 [vdso]\n",
			  pid, exe, pid, exe);

	proc_file(m, pid, "comm", comm);
	proc_file(m, pid, "stat", stat);
	proc_file(m, pid, "maps", maps);
	(void)unlink(link);
	CHECK_EQ(symlink(exe, link), 0);
}

static inline void proc_kernel_thread(struct machine *m, uint32_t pid, const char *name)
{
	_cleanup_free_ char *stat = xasprintf("%u (%s) S 2 0 0 0 -1 %u 0 0 0 0 0 0 0 0 20 0 1 0 1",
					      pid, name, 0x200040);

	proc_file(m, pid, "comm", name);
	proc_file(m, pid, "stat", stat);
	proc_file(m, pid, "maps", "");
}

static inline void proc_remove(struct machine *m, uint32_t pid)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%u", m->root, pid);

	CHECK_EQ(path_remove_tree(path, NULL), 0);
}

/* Time goes on by a moment. */
static inline uint64_t tick(struct machine *m)
{
	return m->now_ns += 1000;
}

static inline void apply(struct machine *m)
{
	struct perf_record r;

	CHECK_EQ(perf_record_decode(span_of(m->bytes.text, m->bytes.length), &r), 0);
	sideband_apply(&m->sideband, &r, m->now_ns);
}

static inline void fork_to(struct machine *m, uint32_t parent, uint32_t child)
{
	bytes_task(&m->bytes, PERF_RECORD_FORK, (const uint32_t[]){ child, parent, child, parent },
		   tick(m));
	apply(m);
}

static inline void leave(struct machine *m, uint32_t pid)
{
	bytes_task(&m->bytes, PERF_RECORD_EXIT, (const uint32_t[]){ pid, 1, pid, 1 }, tick(m));
	apply(m);
}

static inline void map_file(struct machine *m, uint32_t pid, uint64_t start, const char *path)
{
	bytes_map(&m->bytes, pid, start, 0x5000, strlen(path), path, tick(m));
	apply(m);
}

/* An exec as the kernel reports it: the name, then the program's mapping. */
static inline void exec_to(struct machine *m, uint32_t pid, const char *path)
{
	bytes_comm(&m->bytes, pid, pid, path_base(path), true, tick(m));
	apply(m);
	map_file(m, pid, 0x400000, path);
}

static inline void sample(struct machine *m, uint16_t mode, uint32_t pid, uint64_t ip)
{
	struct perf_record r;

	bytes_sample(&m->bytes, mode, pid, ip, tick(m));
	CHECK_EQ(perf_record_decode(span_of(m->bytes.text, m->bytes.length), &r), 0);
	m->attribution.now_ns = m->now_ns;
	perf_samples_put(&m->attribution, 0, 0, &r);
}

/* What came out since the last call is @lines; and no sample went anywhere unseen. */
static inline void expect(struct machine *m, const char *lines)
{
	(void)evbuf_flush(m->out);
	CHECK_STR(strbuf_text(&m->seen), lines);
	CHECK_EQ(m->stats.sample_received, m->placed + m->stats.sample_lost_no_mapping +
						   m->stats.sample_lost_no_mm +
						   m->stats.sample_filtered);
	strbuf_clear(&m->seen);
	m->placed = 0;
	m->stats = (struct driver_stats){ 0 };
}
