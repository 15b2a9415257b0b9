/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oprofilefs (man oprofilefs.5): the small files by which the daemon is controlled, as one table of
 * nodes, each with its place, its mode, how it is written, how it is read. There are no files here:
 * a transport names a node by its path and gives or gets its text. What the nodes show and what
 * they set off is the host's, the daemon's; the settings among them are kept here until the next
 * start takes them over.
 *
 *	struct nodes *nodes = nodes_new(&settings, &host, daemon);
 *	nodes_write(nodes, "0/count", "100000\n", err);
 *	nodes_write(nodes, "enable", "1\n", err);	calls host.enable
 *	nodes_read(nodes, "stats/sample_received", &text, err);
 *	nodes_free(nodes);
 *
 * Functions return 0 or -errno as a file system would: -ENOENT, -EISDIR, -ENOTDIR, -EACCES for a
 * node that cannot be read or written, -EINVAL for a value that is none, -EBUSY for a setting
 * while it samples.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { NODES_COUNTERS_MAX = 24, NODES_DEPTH_MAX = 1024 };

/* A numbered directory. */
struct node_counter {
	uint64_t enabled;   /* 0 or 1 */
	uint64_t event;	    /* its code */
	uint64_t count;	    /* events between two samples; of the clock its rate in Hz */
	uint64_t unit_mask; /* as in the event's description */
	uint64_t kernel, user;
};

/* What can be set by nodes; the same names. */
struct node_settings {
	uint64_t buffer_size, buffer_watershed, cpu_buffer_size; /* words of 8 bytes */
	uint64_t backtrace_depth;
	struct node_counter counters[NODES_COUNTERS_MAX];
	size_t counter_count;		/* directories there are */
	bool has_ibs_fetch, has_ibs_op; /* whether their directories are there */
	struct {
		uint64_t enable, max_count, rand_enable;
	} ibs_fetch;
	struct {
		uint64_t enable, max_count, dispatched_ops, branch_target;
	} ibs_op;
};

/* What the daemon does for its nodes; @data is that given to nodes_new(). Functions that return int
 * return 0 or -errno. */
struct nodes_host {
	bool (*running)(void *data);
	int (*enable)(bool on, void *data, struct error *err);
	int (*dump)(void *data, struct error *err);
	const char *(*cpu_type)(void *data); /* borrowed */
	/* The code of the event called @name, or -EINVAL. */
	int (*event_code)(const char *name, uint64_t *ret, void *data, struct error *err);
	/* The @i-th counter of stats/, or of stats/cpu@cpu/; false behind the last. */
	bool (*stat)(size_t i, const char **ret_name, uint64_t *ret_value, void *data);
	bool (*cpu_stat)(unsigned int cpu, size_t i, const char **ret_name, uint64_t *ret_value,
			 void *data);
	unsigned int (*cpu_count)(void *data);
	/* The @i-th cookie, 0 behind the last; the path of the image @cookie, which the caller
	 * frees, NULL where there is no such cookie. */
	uint64_t (*cookie_at)(size_t i, void *data);
	char *(*cookie_path)(uint64_t cookie, void *data);
};

struct nodes;

/* Makes the tree with the settings that hold now, which are copied; @host is borrowed. Caller
 * frees. */
struct nodes *nodes_new(const struct node_settings *settings, const struct nodes_host *host,
			void *data);
/* NULL is fine. */
void nodes_free(struct nodes *n);
DEFINE_CLEANUP(struct nodes *, nodes_free);

/* The settings as they were written; borrowed. */
const struct node_settings *nodes_settings(const struct nodes *n);
/* Whether any was changed since nodes_new() or nodes_taken_over(). */
bool nodes_changed(const struct nodes *n);
void nodes_taken_over(struct nodes *n);

/* What kind of node it is, and who may do what with it: S_IFDIR or S_IFREG and permissions. */
int nodes_stat(const struct nodes *n, const char *path, mode_t *ret, struct error *err);
/* Calls @item for each node in the directory @path ("" or "/": the uppermost). */
typedef void nodes_item(const char *name, mode_t mode, const char *help, void *data);
int nodes_list(const struct nodes *n, const char *path, nodes_item *item, void *data,
	       struct error *err);
/* Adds the text of the file to @text. */
int nodes_read(const struct nodes *n, const char *path, struct strbuf *text, struct error *err);
/* Writes a file: a number in C's notation, decimal, 0x... or octal 0..., blanks and a newline
 * around it left out. */
int nodes_write(struct nodes *n, const char *path, const char *text, struct error *err);

/*
 * The same as requests of the control socket, whose argument is @arg. An error's text begins with
 * the name of its number: "EBUSY: ...".
 */

/* "[PATH]": a line for each node in the directory: name, mode in octal, what it is. */
int nodes_request_list(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err);
/* "PATH": "mode 100644". */
int nodes_request_stat(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err);
/* "PATH": "value 1", or "text ..." for a file that does not end with a newline. */
int nodes_request_read(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err);
/* "PATH VALUE". */
int nodes_request_write(struct nodes *n, const char *arg, struct error *err);
