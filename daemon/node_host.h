/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon as the host of oprofilefs (oprofilefs/nodes.h): provides what the nodes show, and
 * turns settings written to nodes into those of the collector.
 *
 *	struct node_host host = { .view = &view, .collector = c, .options = options, ... };
 *	node_host_settings(&host, &settings);
 *	struct nodes *nodes = node_host_nodes(&host, &settings);
 *	if (nodes_changed(nodes))
 *		r = node_host_take_over(&host, nodes, err);
 */
#pragma once

#include "oprofilefs/nodes.h"
#include "collect/collector.h"

#include <stdio.h>

struct daemon_options;
struct event_box;
struct view;

/* Actions of nodes, as in struct nodes_host. */
struct node_actions {
	int (*enable)(bool on, void *data, struct error *err);
	int (*dump)(void *data, struct error *err);
};

/* Everything is borrowed. A host for nodes that are only read, and are no cookies, has nothing but
 * a view. */
struct node_host {
	const struct view *view; /* what the nodes show */
	struct event_box *events;
	struct collector *collector;
	struct daemon_options *options;
	const struct node_actions *actions;
	void *data; /* for ->actions */
};

/* The settings in force, as nodes show them. */
void node_host_settings(const struct node_host *host, struct node_settings *ret);
/* Makes the tree, which shows @settings; @host must outlive it. Caller frees. */
struct nodes *node_host_nodes(struct node_host *host, const struct node_settings *settings);
/* Reconfigures the collector with the settings written; it must not be sampling. On failure the
 * collector and the settings are unchanged. 0 or -errno. */
int node_host_take_over(struct node_host *host, struct nodes *nodes, struct error *err);
/* Prints for the log what stats/ has and collector_print_stats() does not, as the original's daemon
 * did: what the reader of the event buffer lost, and the counters of each CPU. */
void node_host_print_stats(struct node_host *host, FILE *out);
