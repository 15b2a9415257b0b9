/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's configuration file, daemonrc: what `opcontrol --setup` stores and oprofiled reads.
 * Lines KEY=VALUE with the original's keys and a few of ours (man daemonrc.5); an unknown key is
 * warned of and kept, so that an older tool does not eat a newer one's setting.
 *
 * A struct daemonrc owns its strings.
 *
 *	_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
 *	_cleanup_free_ char *path = daemonrc_path(NULL, true);
 *	r = daemonrc_read(path, &rc, err);
 *	if (r < 0 && r != -ENOENT)
 *		return r;
 *	daemonrc_set(&rc, "BUF_SIZE", "65536", err);
 *	return daemonrc_write(path, &rc, err);
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	DAEMONRC_EVENTS_MAX = 64,  /* CHOSEN_EVENTS_0 to CHOSEN_EVENTS_63 */
	DAEMONRC_UNKNOWN_MAX = 256 /* unknown lines that are kept */
};

#define DAEMONRC_SESSION_DIR "/var/lib/oprofile" /* where SESSION_DIR is not set */

/* A list of strings in order; all owned. */
struct daemonrc_list {
	char **items;
	size_t count, room;
};

/* The settings; a string is NULL and a number 0 where nothing was set. */
struct daemonrc {
	char *session_dir;
	struct daemonrc_list events; /* NAME:count:unitmask:kernel:user each */
	bool separate_lib, separate_kernel, separate_thread, separate_cpu, separate_cgroup;
	uint64_t callgraph;	   /* depth, 0: no call chains */
	char *callgraph_mode;	   /* "auto", "fp", "table" */
	char *unwind_memory;	   /* a size */
	char *vmlinux;		   /* a path, or "none" */
	char *kernel_range;	   /* START,END in hexadecimal */
	char *image_filter;	   /* comma list of application images */
	uint64_t buffer_size;	   /* words */
	uint64_t buffer_watershed; /* words; 0: the usual number */
	uint64_t cpu_buffer_size;  /* words */
	char *driver;		   /* "auto", "bpf", "perf" */
	uint64_t rate;		   /* samples a second and CPU in timer mode */
	char *budget;		   /* of CPU time, as control/limits.h takes it */
	char *max_memory, *max_disk, *keep_free, *max_files; /* likewise */
	char *verbose;					     /* as oprofiled --verbose takes it */
	char *ext_feature;	      /* as oprofiled --ext-feature takes it */
	char *socket_group;	      /* name of the group that may use the control socket */
	char *session_mode;	      /* of the session directory, octal */
	char *user;		      /* name of the user that root's daemon becomes */
	struct daemonrc_list unknown; /* whole lines, kept */
};

#define DAEMONRC_INIT ((struct daemonrc){ 0 })

/* Frees what it holds; it is empty and usable again. */
void daemonrc_done(struct daemonrc *rc);

/* Where the file lies; caller frees. @given (of --config) if not NULL, else $OPROFILE_DAEMONRC,
 * else ~/.oprofile/daemonrc of the effective user where that exists, else /etc/oprofile/daemonrc;
 * an ordinary user who wants to @write gets the one at home in any case. */
char *daemonrc_path(const char *given, bool write);

/* Reads the file at @path into @ret, which must be empty or done. 0, or -errno with path and line
 * named: -ENOENT where there is no file, -EINVAL for a line that is wrong. */
int daemonrc_read(const char *path, struct daemonrc *ret, struct error *err);
/* The same from @size bytes of text; @path is for messages. */
int daemonrc_parse(const char *path, const char *text, size_t size, struct daemonrc *ret,
		   struct error *err);
/* Sets one key; an empty @value unsets it. 0, -ENOENT for an unknown key, -EINVAL for a value that
 * is wrong or would not survive in a line of text. */
int daemonrc_set(struct daemonrc *rc, const char *key, const char *value, struct error *err);

/* Adds an event; 0 or -EINVAL (one too many, or no line of text). */
int daemonrc_add_event(struct daemonrc *rc, const char *event, struct error *err);
/* Forgets the events. */
void daemonrc_clear_events(struct daemonrc *rc);
/* The events with commas between; caller frees, NULL if there is none. */
char *daemonrc_events(const struct daemonrc *rc);
/* What is separated, as --separate takes it: "library,thread", or "none"; caller frees. */
char *daemonrc_separate(const struct daemonrc *rc);

/* The bits of SESSION_MODE, or what they are where it is not set: others may read the directory,
 * but only its owner may write in it. 0 or -EINVAL. */
int daemonrc_mode(const struct daemonrc *rc, mode_t *ret, struct error *err);
/* The numbers of KERNEL_RANGE, 0 and 0 where it is not set; 0 or -EINVAL. */
int daemonrc_kernel_range(const struct daemonrc *rc, uint64_t *ret_start, uint64_t *ret_end,
			  struct error *err);

/* Adds the file's text to @out. */
void daemonrc_print(const struct daemonrc *rc, struct strbuf *out);
/* Writes the file as a whole, making its directory; 0 or -errno. Below ~/.oprofile only its owner
 * may read it (0600), elsewhere everybody (0644). */
int daemonrc_write(const char *path, const struct daemonrc *rc, struct error *err);
