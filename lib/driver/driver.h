/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver takes samples on counter overflows or clock ticks and writes them to the event buffer.
 * It translates each PC to (image, offset) using the mappings at the time of the sample. There are
 * three drivers: "bpf" (a program in the kernel), "perf" (the kernel's perf rings) and "replay" (a
 * recorded stream). operf and oprofiled use them through collect/collector.h. The caller owns the
 * driver and ends it with shutdown().
 *
 *	if (driver_open("auto", &config, &ops, &driver, err) == 0 && ops->start(driver, err) == 0)
 *		while (!stop && poll(&(struct pollfd){ ops->fd(driver), POLLIN }, 1, -1) >= 0)
 *			ops->sync(driver, false, err);
 *	ops->stop(driver);
 *	ops->shutdown(driver);
 */
#pragma once

#include "base/error.h"
#include "bpf/stretch.h"
#include "stats/counters.h"
#include "stream/evbuf.h"
#include "event/evderived.h"
#include "event/event.h"

#include <sys/types.h>

struct cookie_table;
struct driver;
struct perf_event_attr;
struct turn;
struct unwind_code;

enum driver_scope {
	DRIVER_SYSTEM, /* every CPU, every process */
	DRIVER_TREE,   /* every CPU, but only samples of ->pid and its descendants are kept */
	DRIVER_TASK,   /* ->pid, with inherited events: the only scope open to an ordinary user */
};

/* How to find the callers of a sample. */
#define DRIVER_CHAINS(X)                                                                           \
	X(AUTO, "auto")	  /* unwind tables if the driver supports them, else frame pointers */     \
	X(FP, "fp")	  /* frame pointers: cheap, wrong in code compiled without them */         \
	X(TABLE, "table") /* the images' unwind tables (.eh_frame) */

enum driver_chain_mode {
#define X(name, text) DRIVER_CHAINS_##name,
	DRIVER_CHAINS(X)
#undef X
};

/* Frames in a chain: maximum and default. Imports of Python programs are some 200 deep. */
enum { DRIVER_DEPTH_MAX = 1024, DRIVER_DEPTH_DEFAULT = 255 };

/* Bytes of unwind tables: minimum, maximum and default. */
enum {
	DRIVER_UNWIND_MIN = 1 << 20,
	DRIVER_UNWIND_MAX = 128 << 20,
	DRIVER_UNWIND_DEFAULT = 64 << 20
};

/* Default sizes: of the event buffer, and of a CPU's buffer if samples carry no stack copies. */
enum { DRIVER_BUFFER_WORDS = 128 << 10, DRIVER_CPU_BUFFER_BYTES = 512 << 10 };

struct driver_config {
	const struct event *events; /* borrowed during setup() */
	size_t event_count;
	enum driver_scope scope;
	pid_t pid;	     /* DRIVER_TREE, DRIVER_TASK */
	const pid_t *others; /* further processes with that one, borrowed for the driver's life */
	size_t other_count;
	bool enable_on_exec; /* ->pid is a child of ours waiting to exec: count from there */
	/* What an extended feature needs. Registers of instruction-based samples are written to the
	 * event buffer, with the branch target or 0 after those of ops if the unit mask asks for
	 * it. With ->offcpu, each interval off the CPU becomes a sample where the task left it,
	 * weighted by microseconds; its counter is the one after those of the events. */
	struct evderived derived;
	/* Replaces perf_event_open() in tests; NULL: use the kernel. */
	int (*open_event)(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data);
	void *open_data;
	bool no_timer_fallback; /* fail if an event does not open */
	bool force;		/* allow rates so high that little else gets done */
	uint64_t timer_hz;	/* clock rate if an event does not open or has no rate of its own;
				 * 0: default */
	unsigned int callgraph_depth; /* maximum frames in a chain; 0: no chains */
	bool callgraph_unasked;	      /* only if chains are cheap: not by copies of stacks */
	enum driver_chain_mode callgraph_mode;
	size_t unwind_bytes;	      /* of unwind tables; 0: default */
	bool cgroups;		      /* record the cgroup of each sample */
	bool comms;		      /* record the name of each sample's thread */
	size_t cpu_buffer_bytes;      /* ring of each CPU; 0: default */
	size_t buffer_words;	      /* event buffer; 0: default */
	const char *root;	      /* prefix of the /proc to read; "" or NULL: this machine */
	const char *instead;	      /* why a preferred driver cannot be used, or NULL */
	const char *replay_path;      /* driver "replay": the recorded stream */
	struct cookie_table *cookies; /* borrowed for the driver's life */
	struct turn *turn; /* of the caller's loop, borrowed for the driver's life; or NULL */
	evbuf_sink *sink;  /* receives the event buffer */
	void *sink_data;
};

/* The cost of sampling on one CPU so far. */
struct driver_cost {
	unsigned int cpu;
	uint32_t stretch;    /* now in force (driver_ops.stretch) */
	uint64_t samples;    /* taken, not scaled by the stretch */
	uint64_t interrupts; /* including clock ticks while idle */
	uint64_t program_ns; /* spent in the BPF program, if there is one */
};

struct driver_ops {
	const char *name;
	/* Checks whether the driver works here. Returns 0, or -errno with the step that fails and
	 * the remedy in @err. */
	int (*probe)(const struct driver_config *config, struct error *err);
	/* Opens everything without counting yet. Caller ends it with shutdown(). */
	int (*setup)(const struct driver_config *config, struct driver **ret, struct error *err);
	/* Changes the events, or the size of the event buffer, of a stopped driver without loading
	 * anything into the kernel; totals are kept. Returns 0; -ENOTSUP if @config differs in more
	 * than that, so that a new setup() is needed; other -errno with nothing changed. NULL: not
	 * supported. */
	int (*change)(struct driver *d, const struct driver_config *config, struct error *err);
	/* Starts counting, also after stop(). Returns 0 or -errno. */
	int (*start)(struct driver *d, struct error *err);
	/* Moves samples from the CPU buffers to the event buffer: those up to a moment ago, or all
	 * if @all. Returns 0; 1 if the source has ended (replay finished, no process left to
	 * follow); or -errno. */
	int (*sync)(struct driver *d, bool all, struct error *err);
	/* Whether the last sync() left what it could have moved, because it may not take long while
	 * the caller's loop has turns: another one is due soon. NULL: it never does. */
	bool (*has_more)(const struct driver *d);
	/* The time (CLOCK_MONOTONIC) before which all samples in the event buffer were taken; those
	 * taken before it that are still missing are rare. NULL: not known. */
	uint64_t (*taken_until_ns)(const struct driver *d);
	/* Stops counting; the contents of the CPU buffers stay for a last sync(). */
	void (*stop)(struct driver *d);
	/* Frees everything; accepts NULL. */
	void (*shutdown)(struct driver *d);
	/* Writes each chain in full from now on if @on, for a reader that has not seen the chains
	 * written before; else by number again. NULL: chains are always written in full. */
	void (*spell_out)(struct driver *d, bool on);
	/* A descriptor that polls readable when a sync is due early, or -1. */
	int (*fd)(const struct driver *d);
	/* The events as opened (timer mode replaces those that do not open); borrowed. */
	const struct event *(*events)(const struct driver *d, size_t *ret_count);
	/* One line saying what is sampled, by which driver and why; borrowed. */
	const char *(*why)(const struct driver *d);
	/* Totals since setup(). */
	void (*stats)(const struct driver *d, struct driver_stats *ret);
	/* Totals of @cpu. NULL: not known. */
	void (*cpu_stats)(const struct driver *d, unsigned int cpu, struct driver_cpu_stats *ret);
	/* Writes the cost of each CPU since its events were opened, as of the last sync(), to @ret,
	 * which has @room entries. Returns their number. NULL: the driver does not sample this
	 * machine. */
	size_t (*costs)(struct driver *d, struct driver_cost *ret, size_t room);
	/* Bytes of kernel memory that the driver uses and that are not charged to this process.
	 * NULL: none. */
	uint64_t (*kernel_bytes)(const struct driver *d);
	/* Samples @cpu more rarely: multiplies the period by @stretch / STRETCH_ONE, at least one;
	 * each sample counts as that many. Returns 0 or -errno. NULL: not supported. */
	int (*stretch)(struct driver *d, unsigned int cpu, uint32_t stretch);
	/* Announces, before the first start(), that the profiled program will run code of the file
	 * open as @fd, so that the driver can prepare for it. NULL: not needed. */
	void (*expect)(struct driver *d, int fd);
	/* Receives how to unwind code that a process has generated; borrowed during the call. NULL:
	 * not used. */
	void (*code)(struct driver *d, const struct unwind_code *code);
	/* Asks for the names of generated code again (evbuf_generated()), because those sent before
	 * were forgotten. NULL: the driver sends none. */
	void (*renew_names)(struct driver *d);
	/* Sets, before start(), the address range of the kernel's own text, for a driver that must
	 * distinguish kernel code outside it (modules, BPF programs) from code loaded later at the
	 * same address. NULL: not needed. */
	void (*kernel_text)(struct driver *d, uint64_t start, uint64_t end);
};

/* Whether @name asks for any driver that works here: "auto" or NULL. */
bool driver_is_auto(const char *name);
/* The driver called @name, or for "auto" or NULL the one that fits this machine. NULL if there is
 * no driver of that name. */
const struct driver_ops *driver_find(const char *name);
/* The available names, formatted for a sentence; constant. */
const char *driver_names(void);
/* Sets up the driver called @name, or for "auto" or NULL the first that works here. Returns 0, or
 * -errno of the last driver tried. Its ->why() says why a preferred driver could not be used. */
int driver_open(const char *name, const struct driver_config *config,
		const struct driver_ops **ret_ops, struct driver **ret, struct error *err);
extern const struct driver_ops driver_bpf, driver_perf, driver_replay;
