/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oprofilefs (man oprofilefs.5): the files that control and show the daemon, as a tree of nodes. No
 * file exists here: a transport, such as the FUSE program, names a node by its path, and gives or
 * gets its text. The host, the daemon, provides what the nodes show and do. Settings are written
 * to a copy here, until the host takes them over at its next start.
 *
 *	struct nodes *nodes = nodes_new(&settings, &host, daemon);
 *	nodes_write(nodes, "0/count", "100000\n", err);
 *	nodes_write(nodes, "enable", "1\n", err);	calls host.enable
 *	nodes_read(nodes, "stats/sample_received", &text, err);
 *	nodes_free(nodes);
 *
 * Functions return 0 or -errno as a file system would: -ENOENT, -EISDIR, -ENOTDIR, -EACCES for a
 * node that cannot be read or written, -EINVAL for a bad value, -EBUSY for a setting while the
 * daemon samples.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "oprofilefs/nodes_host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nodes;

/* Makes the tree, with the settings in force now, which are copied; @host is borrowed. Caller
 * frees. */
struct nodes *nodes_new(const struct node_settings *settings, const struct nodes_host *host,
			void *data);
/* NULL is fine. */
void nodes_free(struct nodes *n);
DEFINE_CLEANUP(struct nodes *, nodes_free);

/* The settings as written; borrowed. */
const struct node_settings *nodes_settings(const struct nodes *n);
/* Shows @settings from now on, as if they had been written. */
void nodes_show(struct nodes *n, const struct node_settings *settings);
/* Returns whether the node is the directory of cookies, or in it: the host asks large tables for
 * them. */
bool nodes_is_cookie(const char *path);
/* Whether any was written since nodes_new() or nodes_taken_over(). */
bool nodes_changed(const struct nodes *n);
/* Says that the host has taken the settings over. */
void nodes_taken_over(struct nodes *n);

/* The node's type and permissions: S_IFDIR or S_IFREG and mode bits. */
int nodes_stat(const struct nodes *n, const char *path, mode_t *ret, struct error *err);
/* Calls @item for each node in the directory @path ("" or "/": the root). */
typedef void nodes_item(const char *name, mode_t mode, const char *help, void *data);
/* 0 or -errno. */
int nodes_list(const struct nodes *n, const char *path, nodes_item *item, void *data,
	       struct error *err);
/* Adds the text of the file to @text. */
int nodes_read(const struct nodes *n, const char *path, struct strbuf *text, struct error *err);
/* Writes a file: a number in C's notation, decimal, 0x... or octal 0..., blanks and newlines around
 * it ignored. */
int nodes_write(struct nodes *n, const char *path, const char *text, struct error *err);

/*
 * The same for requests on the control socket; @arg is the request's argument. The text of an error
 * begins with the name of its number: "EBUSY: ...".
 */

/* "[PATH]": answers with a line for each node in the directory: name, octal mode, help. */
int nodes_request_list(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err);
/* "PATH": answers "mode 100644". */
int nodes_request_stat(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err);
/* "PATH": answers "value 1", or "text ..." for a file that does not end with a newline. */
int nodes_request_read(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err);
/* "PATH VALUE": no answer. */
int nodes_request_write(struct nodes *n, const char *arg, struct error *err);
