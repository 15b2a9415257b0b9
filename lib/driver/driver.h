/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver turns counter overflows or clock ticks into the event buffer: PCs become (image, offset)
 * here, against the mappings of that moment. Three of them: "bpf" (a program in the kernel), "perf"
 * (the kernel's perf rings) and "replay" (a recorded stream). operf and oprofiled use them through
 * record/collector.h.
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
#include "event/event.h"

#include <sys/types.h>

struct cookie_table;
struct driver;
struct perf_event_attr;

/* AMD's instruction-based samples, whose registers go into the event buffer for an extended
 * feature. */
struct driver_ibs {
	uint64_t fetch_count, op_count; /* cycles, or ops, between two samples; 0: none */
	bool count_ops;		       /* op samples are counted by ops dispatched, not by cycles */
	bool branch_target;	       /* their words end with the target of a branch, or 0 */
	bool no_kernel[2], no_user[2]; /* samples of fetches and of ops that are not wanted */
};

enum driver_scope {
	DRIVER_SYSTEM, /* every CPU, every process */
	DRIVER_TREE,   /* every CPU, but only ->pid and its descendants are kept */
	DRIVER_TASK,   /* ->pid by inherited events: all that an ordinary user may do */
};

/* How the callers of a sample are found. */
#define DRIVER_CHAINS(X)                                                                           \
	X(AUTO, "auto")	  /* by tables where the driver can, else by frame pointers */             \
	X(FP, "fp")	  /* frame pointers: cheap, wrong where code is compiled without them */   \
	X(TABLE, "table") /* the images' unwind tables (.eh_frame) */

enum driver_chain_mode {
#define X(name, text) DRIVER_CHAINS_##name,
	DRIVER_CHAINS(X)
#undef X
};

/* Frames of a chain: the most, and how many where nobody says a number. */
enum { DRIVER_DEPTH_MAX = 1024, DRIVER_DEPTH_DEFAULT = 127 };

/* Bytes of unwind tables: at least, at most, and where nobody says a number. */
enum {
	DRIVER_UNWIND_MIN = 1 << 20,
	DRIVER_UNWIND_MAX = 128 << 20,
	DRIVER_UNWIND_DEFAULT = 64 << 20
};

/* Sizes where nobody says others: of the event buffer; of a CPU's buffer where samples carry no
 * copies of stacks. */
enum { DRIVER_BUFFER_WORDS = 128 << 10, DRIVER_CPU_BUFFER_BYTES = 512 << 10 };

struct driver_config {
	const struct event *events; /* borrowed for setup() */
	size_t event_count;
	enum driver_scope scope;
	pid_t pid;	     /* DRIVER_TREE, DRIVER_TASK */
	bool enable_on_exec; /* ->pid is a child of ours waiting to exec: count from there */
	struct driver_ibs ibs;
	bool offcpu; /* microseconds that tasks are off the CPU, where they left it: samples of
		      * the counter behind those of the events, with that weight */
	bool offcpu_blocked; /* not of those that were made to leave */
	/* What opens events in the place of the kernel, for tests; NULL: the kernel. */
	int (*open_event)(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data);
	void *open_data;
	bool no_timer_fallback; /* fail where an event does not open */
	bool force;		/* sample even so often that little else gets done */
	uint64_t timer_hz;	/* of the clock where an event does not open or names no rate of
				 * its own; 0: default */
	unsigned int callgraph_depth; /* most frames of a chain; 0: no chains */
	enum driver_chain_mode callgraph_mode;
	size_t unwind_bytes;	 /* of unwind tables; 0: default */
	bool cgroups;		 /* samples are to be told by cgroup */
	size_t cpu_buffer_bytes; /* ring of each CPU; 0: default */
	size_t buffer_words;	 /* event buffer; 0: default */
	const char *root;	 /* whose /proc is read; "" or NULL: this machine's */
	const char *instead;	 /* why a driver that would be better does not serve; or NULL */
	const char *replay_path; /* driver "replay": the recorded stream */
	struct cookie_table *cookies; /* borrowed for the driver's life */
	evbuf_sink *sink;	      /* takes the event buffer */
	void *sink_data;
};

/* What sampling on a CPU has cost so far. */
struct driver_cost {
	unsigned int cpu;
	uint32_t stretch;    /* that it is sampled with now (driver_ops.stretch) */
	uint64_t samples;    /* taken, whatever they stand for */
	uint64_t interrupts; /* those of an idle CPU's clock among them */
	uint64_t program_ns; /* in the program in the kernel, where there is one */
};

struct driver_ops {
	const char *name;
	/* Whether it would work here: 0, or -errno with the step that fails and the remedy. */
	int (*probe)(const struct driver_config *config, struct error *err);
	/* Opens everything, nothing counts yet. Caller ends it with shutdown(). */
	int (*setup)(const struct driver_config *config, struct driver **ret, struct error *err);
	/* Has it sample other events, or hand its event buffer over by other sizes, while it is
	 * stopped, without loading anything into the kernel; totals go on. 0; -ENOTSUP where
	 * @config differs in more than that, so that a setup() is needed; -errno: all is as before.
	 * NULL: never. */
	int (*change)(struct driver *d, const struct driver_config *config, struct error *err);
	/* Starts and, after stop(), starts again. 0 or -errno. */
	int (*start)(struct driver *d, struct error *err);
	/* CPU buffers to event buffer, up to a moment ago, or all there is if @all. 0; 1 when the
	 * source has ended (replay finished, no process left to follow); -errno. */
	int (*sync)(struct driver *d, bool all, struct error *err);
	/* Stops counting; what is in the CPU buffers stays for a last sync(). */
	void (*stop)(struct driver *d);
	/* Frees all; NULL is fine. */
	void (*shutdown)(struct driver *d);
	/* Has each chain spelt out from now on, for a reader that was not told what came before, or
	 * not any more. NULL where they always are. */
	void (*spell_out)(struct driver *d, bool on);
	/* A descriptor that polls readable when a sync is due before its time, or -1. */
	int (*fd)(const struct driver *d);
	/* The events as they were opened (timer mode replaces what does not open); borrowed. */
	const struct event *(*events)(const struct driver *d, size_t *ret_count);
	/* One line saying what is sampled by what and why; borrowed. */
	const char *(*why)(const struct driver *d);
	/* Totals since setup(). */
	void (*stats)(const struct driver *d, struct driver_stats *ret);
	/* Likewise, those of @cpu; NULL: not known. */
	void (*cpu_stats)(const struct driver *d, unsigned int cpu, struct driver_cpu_stats *ret);
	/* What each CPU cost since its events were opened, as of the last sync(), into @ret of
	 * @room; how many that are. NULL: nothing is sampled here. */
	size_t (*costs)(struct driver *d, struct driver_cost *ret, size_t room);
	/* Bytes that the kernel holds for it and that are not counted as this process's. NULL:
	 * none.
	 */
	uint64_t (*kernel_bytes)(const struct driver *d);
	/* Samples @cpu more rarely: what was one sample's period becomes @stretch / STRETCH_ONE
	 * of it, at least one, and each sample counts for as many. NULL: cannot.
	 * 0 or -errno. */
	int (*stretch)(struct driver *d, unsigned int cpu, uint32_t stretch);
	/* Says, before the first start(), that what is sampled will run code of the file open as
	 * @fd, for a driver that makes ready for it. NULL: need not be told. */
	void (*expect)(struct driver *d, int fd);
	/* Says, before start(), where the kernel's own text lies, for a driver that has to tell
	 * other code of the kernel apart from what takes its place. NULL: need not be told. */
	void (*kernel_text)(struct driver *d, uint64_t start, uint64_t end);
};

/* Whether @name asks for whatever driver works here: "auto" or NULL. */
bool driver_is_auto(const char *name);
/* The driver called @name, the one that fits this machine for "auto" or NULL; NULL if there is none
 * of that name. */
const struct driver_ops *driver_find(const char *name);
/* The names that there are, as a sentence has them; constant. */
const char *driver_names(void);
/* Sets up the driver called @name, or for "auto" or NULL the first that works here: 0 with what was
 * found, or -errno of the last that was tried. Why a better one did not serve is in its ->why(). */
int driver_open(const char *name, const struct driver_config *config,
		const struct driver_ops **ret_ops, struct driver **ret, struct error *err);
extern const struct driver_ops driver_bpf, driver_perf, driver_replay;
