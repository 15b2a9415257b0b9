/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon as the host of oprofilefs (oprofilefs/nodes.h): provides what the nodes show, and
 * turns settings written to nodes into those of the collector.
 *
 *	struct node_host host = { .collector = c, .options = options, ... };
 *	struct nodes *nodes = node_host_nodes(&host);
 *	if (nodes_changed(nodes))
 *		r = node_host_take_over(&host, nodes, err);
 */
#pragma once

#include "oprofilefs/nodes.h"
#include "record/collector.h"

#include <stdio.h>

struct daemon_options;

/* Actions of nodes, as in struct nodes_host. */
struct node_actions {
	int (*enable)(bool on, void *data, struct error *err);
	int (*dump)(void *data, struct error *err);
	/* Words dropped because readers of the event buffer were too slow. */
	uint64_t (*event_lost)(const void *data);
};

/* Everything is borrowed. */
struct node_host {
	struct collector *collector;
	struct daemon_options *options;
	const struct node_actions *actions;
	void *data; /* for ->actions */
	/* The counters that stats/ shows, read when its first one is asked for. */
	struct driver_stats driver;
	struct record_stats record;
	struct driver_cpu_stats cpu;
};

/* Makes the tree, which shows the settings; @host must outlive it. Caller frees. */
struct nodes *node_host_nodes(struct node_host *host);
/* Reconfigures the collector with the settings written; it must not be sampling. On failure the
 * collector and the settings are unchanged. 0 or -errno. */
int node_host_take_over(struct node_host *host, struct nodes *nodes, struct error *err);
/* Prints for the log what stats/ has and collector_print_stats() does not, as the original's daemon
 * did: what the reader of the event buffer lost, and the counters of each CPU. */
void node_host_print_stats(struct node_host *host, FILE *out);
