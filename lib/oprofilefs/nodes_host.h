/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What oprofilefs (oprofilefs/nodes.h) needs of its host, the program that its files control: the
 * values that they set, and functions. The daemon is the only host outside tests.
 *
 *	static const struct nodes_host host = { ... };
 *	struct node_settings settings = { .buffer_size = 65536, .counter_count = 1 };
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NODES_COUNTERS_MAX = 24 };

/* X(node, setting of the daemon, least value, help): sizes are in words of 8 bytes. The table of
 * settings has the largest value. */
#define NODES_OF_SETTINGS(X)                                                                       \
	X(buffer_size, BUF_SIZE, 1024, "words of the event buffer")                                \
	X(buffer_watershed, BUF_WATERSHED, 1,                                                      \
	  "words left free when the reader of the buffer is woken")                                \
	X(cpu_buffer_size, CPU_BUF_SIZE, 1024, "words of each CPU's buffer")                       \
	X(backtrace_depth, CALLGRAPH, 0, "most frames of a call chain; 0: no call chains")

/* The values in a numbered directory. */
struct node_counter {
	uint64_t enabled;   /* 0 or 1 */
	uint64_t event;	    /* its code */
	uint64_t count;	    /* events between two samples; for the clock, its rate in Hz */
	uint64_t unit_mask; /* as in the event's description */
	uint64_t kernel, user;
};

/* The values that can be written, named like the files. */
struct node_settings {
#define NODE_FIELD_(name, ...) uint64_t name;
	NODES_OF_SETTINGS(NODE_FIELD_)
#undef NODE_FIELD_
	struct node_counter counters[NODES_COUNTERS_MAX];
	size_t counter_count;		/* numbered directories that exist */
	bool has_ibs_fetch, has_ibs_op; /* whether their directories exist */
	struct {
		uint64_t enable, max_count, rand_enable;
	} ibs_fetch;
	struct {
		uint64_t enable, max_count, dispatched_ops, branch_target;
	} ibs_op;
};

/* What the host does for its nodes; @data is what nodes_new() was given. Functions that return int
 * return 0 or -errno. */
struct nodes_host {
	bool (*running)(void *data);
	int (*enable)(bool on, void *data, struct error *err);
	int (*dump)(void *data, struct error *err);
	const char *(*cpu_type)(void *data); /* borrowed */
	/* Looks up the code of the event called @name; -EINVAL if there is no such event. */
	int (*event_code)(const char *name, uint64_t *ret, void *data, struct error *err);
	/* The @i-th counter of stats/, or of stats/cpu@cpu/; false after the last. */
	bool (*stat)(size_t i, const char **ret_name, uint64_t *ret_value, void *data);
	bool (*cpu_stat)(unsigned int cpu, size_t i, const char **ret_name, uint64_t *ret_value,
			 void *data);
	unsigned int (*cpu_count)(void *data);
	/* The @i-th cookie, 0 after the last; the path of the image @cookie, which the caller
	 * frees, NULL if there is no such cookie. */
	uint64_t (*cookie_at)(size_t i, void *data);
	char *(*cookie_path)(uint64_t cookie, void *data);
};
