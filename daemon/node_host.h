/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon as the host of oprofilefs (oprofilefs/nodes.h): what its nodes show, and how settings
 * written there become those of a collector.
 *
 *	struct node_host host = { .collector = c, .options = options, ... };
 *	struct nodes *nodes = node_host_nodes(&host);
 *	if (nodes_changed(nodes))
 *		r = node_host_take_over(&host, nodes, err);
 */
#pragma once

#include "oprofilefs/nodes.h"
#include "record/collector.h"

struct daemon_options;

/* What is done for a node; as struct nodes_host has it. */
struct node_actions {
	int (*enable)(bool on, void *data, struct error *err);
	int (*dump)(void *data, struct error *err);
	/* Words that readers of the event buffer were too slow for. */
	uint64_t (*event_lost)(const void *data);
};

/* Everything is borrowed. */
struct node_host {
	struct collector *collector;
	struct daemon_options *options;
	const struct node_actions *actions;
	void *data; /* for ->actions */
	/* What stats/ shows while it is gone through. */
	struct driver_stats driver;
	struct record_stats record;
	struct driver_cpu_stats cpu;
};

/* Makes the tree, which shows the settings; @host must outlive it. Caller frees. */
struct nodes *node_host_nodes(struct node_host *host);
/* Sets the collector up by what was written, while it does not sample. On failure the collector and
 * the settings are as before. 0 or -errno. */
int node_host_take_over(struct node_host *host, struct nodes *nodes, struct error *err);
