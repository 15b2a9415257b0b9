/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's settings, in one table. It generates the keys of daemonrc, the options of opcontrol
 * and oprofiled with their help, the checks, the defaults and the fields of struct settings. To add
 * a setting, add a row here and use its field.
 *
 * A struct settings owns its strings. Every field is always valid: a setting that was not given has
 * its default.
 *
 *	_cleanup_(settings_done) struct settings s = settings_default();
 *	if (settings_set(&s, SETTING_BUDGET, "2%", err) < 0)
 *		return err->code;
 *	printf("%g\n", s.budget);	0.02
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SETTINGS_EVENTS_MAX = 64,   /* CHOSEN_EVENTS_0 to CHOSEN_EVENTS_63 */
	SETTINGS_UNKNOWN_MAX = 256, /* unknown lines kept */
};

/*
 * X(key in daemonrc, kind, field, least, most, default, value of the option without an argument,
 *   letter, option, argument, help)
 *
 * @kind is one of SETTING_FIELD_... below. @least and @most are the range of a number or of a size
 * in bytes; for a FLAG, @least is its bit. A default of NULL means unset. An option without help
 * text is accepted but not shown.
 */
/* clang-format off */
#define SETTINGS_OF_SAMPLING(X)                                                                    \
	X(RATE, NUMBER, rate, 1, 100000, "199", NULL, 0, "rate", "HZ",                             \
	  "samples per second per CPU where the clock replaces a counter (199)")                   \
	X(BUDGET, SHARE, budget, 0, 0, "0.5%", NULL, 0, "budget", "PERCENT",                       \
	  "limit on the share of each CPU's time that sampling costs; above it, fewer samples "    \
	  "are taken, and each counts for more (0.5%); none: no limit")                            \
	X(DRIVER, TEXT, driver, 0, 0, NULL, NULL, 0, "driver", "NAME",                             \
	  "driver that takes the samples: auto, bpf, perf (auto)")                                 \
	X(CALLGRAPH, NUMBER, callgraph, 0, DRIVER_DEPTH_MAX, "255", "255", 'c', "callgraph",       \
	  "DEPTH",                                                                                 \
	  "record the call chain of every sample, up to DEPTH frames; 0: none (255; with the "     \
	  "driver perf: 0)")                                                                       \
	X(CALLGRAPH_MODE, CHAIN_MODE, callgraph_mode, 0, 0, "auto", NULL, 0, "callgraph-mode",     \
	  "auto|fp|table", "find callers by frame pointers or by the images' unwind tables (auto)")\
	X(UNWIND_MEMORY, SIZE, unwind_memory, DRIVER_UNWIND_MIN, DRIVER_UNWIND_MAX, "64M", NULL, 0,\
	  "unwind-memory", "SIZE",                                                                 \
	  "memory for unwind tables; chains that need more are cut short (64M)")                   \
	X(ATTACH_JAVA, NUMBER, attach_java, 0, 1, "0", "1", 0, "attach-java", "[0|1]",             \
	  "ask Java virtual machines that run without the agent for the names of their code (0)")  \
	X(EXT_FEATURE, TEXT, ext_feature, 0, 0, NULL, NULL, 'x', "ext-feature", "NAME:ARGS",       \
	  "enable an extended feature: ibs or offcpu")
#define SETTINGS_OF_FILES(X)                                                                       \
	X(SESSION_DIR, PATH, session_dir, 0, 0, "/var/lib/oprofile", NULL, 0, "session-dir", "DIR",\
	  "directory for samples (/var/lib/oprofile)")                                             \
	X(SEPARATE, SEPARATION, separate, 0, 0, "library,kernel", NULL, 'p', "separate",           \
	  "WHAT,...",                                                                              \
	  "keep separate sample files by: none, library, kernel, thread, cpu, cgroup, comm (name " \
	  "of the thread), all (library,kernel)")                                                  \
	X(SEPARATE_LIB, FLAG, separate, RECORD_SEPARATE_LIB, 0, "1", "1", 0, "separate-lib",       \
	  "0|1", NULL)                                                                             \
	X(SEPARATE_KERNEL, FLAG, separate, RECORD_SEPARATE_KERNEL, 0, "1", "1", 0,                 \
	  "separate-kernel", "0|1", NULL)                                                          \
	X(SEPARATE_THREAD, FLAG, separate, RECORD_SEPARATE_THREAD, 0, NULL, "1", 0,                \
	  "separate-thread", "0|1", NULL)                                                          \
	X(SEPARATE_CPU, FLAG, separate, RECORD_SEPARATE_CPU, 0, NULL, "1", 0, "separate-cpu",      \
	  "0|1", NULL)                                                                             \
	X(SEPARATE_CGROUP, FLAG, separate, RECORD_SEPARATE_CGROUP, 0, NULL, "1", 0,                \
	  "separate-cgroup", "0|1", NULL)                                                          \
	X(SEPARATE_COMM, FLAG, separate, RECORD_SEPARATE_COMM, 0, NULL, "1", 0, "separate-comm",   \
	  "0|1", NULL)                                                                             \
	X(IMAGE_FILTER, IMAGES, image_filter, 0, 0, NULL, NULL, 'i', "image", "PATH,...",          \
	  "keep only the samples of these programs (all)")                                         \
	X(VMLINUX, PATH, vmlinux, 0, 0, NULL, "none", 'k', "vmlinux", "FILE",                      \
	  "kernel image with symbols; none: count all of the kernel as one image")                 \
	X(KERNEL_RANGE, RANGE, kernel_range, 0, 0, NULL, NULL, 'r', "kernel-range", "START,END",   \
	  "addresses of the kernel's text, hexadecimal")                                           \
	X(BUF_SIZE, NUMBER, buffer_size, 0, SETTINGS_WORDS_MAX, "0", NULL, 0, "buffer-size",       \
	  "WORDS", "size of the event buffer (0: default)")                                        \
	X(BUF_WATERSHED, NUMBER, buffer_watershed, 0, SETTINGS_WORDS_MAX, "0", NULL, 0,            \
	  "buffer-watershed", "WORDS",                                                             \
	  "words left free in the event buffer when a foreign reader is woken (0: default)")       \
	X(CPU_BUF_SIZE, NUMBER, cpu_buffer_size, 0, SETTINGS_WORDS_MAX, "0", NULL, 0,              \
	  "cpu-buffer-size", "WORDS", "size of each CPU's buffer (0: default)")
#define SETTINGS_OF_DAEMON(X)                                                                      \
	X(MAX_MEMORY, SIZE_OR_NONE, max_memory, 8 << 20, (uint64_t)1 << 40, "256M", NULL, 0,       \
	  "max-memory", "SIZE", "memory above which the daemon sheds work (256M); none: no limit") \
	X(MAX_DISK, LIMIT, max_disk, 0, 0, "10%,64M,4G", NULL, 0, "max-disk", "SIZE|PERCENT",      \
	  "size of the session directory above which the daemon sheds work (10% of its file "      \
	  "system, from 64M to 4G); none: no limit")                                               \
	X(KEEP_FREE, LIMIT, keep_free, 0, 0, "5%,0,1G", NULL, 0, "keep-free", "SIZE|PERCENT",      \
	  "space of the file system to leave free (5%, up to 1G); none: no limit")                 \
	X(KEEP, TIME_OR_NONE, keep, 0, 0, "30d", NULL, 0, "keep", "TIME",                          \
	  "how long the history is kept (30d); none: no history")                                  \
	X(MAX_HISTORY, SIZE_OR_NONE, max_history, 8 << 20, (uint64_t)1 << 40, "512M", NULL, 0,     \
	  "max-history", "SIZE", "size above which the oldest history is deleted (512M); none: "   \
	  "no limit")                                                                              \
	X(MAX_SYMBOLS, SIZE_OR_NONE, max_symbols, 4 << 20, (uint64_t)1 << 40, "64M", NULL, 0,      \
	  "max-symbols", "SIZE",                                                                   \
	  "size of the functions kept of sampled files, for when the files are gone (64M); none: " \
	  "none are kept")                                                                         \
	X(MAX_FILES, NUMBER_OR_NONE, max_files, 128, 1 << 20, "none", NULL, 0, "max-files", "N",   \
	  "limit on open files (as many as the system allows)")                                    \
	X(SOCKET_GROUP, TEXT, socket_group, 0, 0, NULL, NULL, 0, "socket-group", "GROUP",          \
	  "group whose members may control the daemon and read what it records")                   \
	X(SESSION_MODE, MODE, session_mode, 0, 0, "750", NULL, 0, "session-mode", "MODE",          \
	  "mode of the session directory, octal (750)")                                            \
	X(USER, TEXT, user, 0, 0, NULL, NULL, 0, "user", "NAME",                                   \
	  "user to switch to when started as root (oprofile)")                                     \
	X(AS_ROOT, NUMBER, as_root, 0, 1, "0", "1", 0, "as-root", "[0|1]",                         \
	  "stay root if there is no user to switch to (0)")                                        \
	X(VERBOSE, LOG_LEVEL, verbose, 0, 0, "info", "all", 'V', "verbose", "[LEVEL]",             \
	  "what to log: none, info or debug (info); all, sfile, arcs, samples, module, misc and "  \
	  "ext of OProfile 1.x mean debug")
/* clang-format on */

#define SETTINGS(X) SETTINGS_OF_SAMPLING(X) SETTINGS_OF_FILES(X) SETTINGS_OF_DAEMON(X)

enum { SETTINGS_WORDS_MAX = 1 << 24 }; /* largest buffer, in words */

/* A size limit: a number of bytes, or a share of some total within bounds. */
struct setting_limit {
	uint64_t bytes; /* upper bound if it is a share; 0: no limit */
	double share;	/* 0: a number of bytes, not a share */
	uint64_t least; /* lower bound of a share, in bytes */
};

struct setting_range {
	uint64_t start, end; /* 0, 0: unset */
};

/* An ordered list of strings; owns all of them. */
struct setting_list {
	char **items;
	size_t count, room;
};

/* The field that each kind of setting has in struct settings. */
#define SETTING_FIELD_NUMBER(name)	   uint64_t name;
#define SETTING_FIELD_NUMBER_OR_NONE(name) uint64_t name; /* 0: none */
#define SETTING_FIELD_SIZE(name)	   uint64_t name;
#define SETTING_FIELD_SIZE_OR_NONE(name)   uint64_t name; /* 0: none */
#define SETTING_FIELD_SHARE(name)	   double name;	  /* 1 is all; 0: no limit */
#define SETTING_FIELD_TIME_OR_NONE(name)   uint64_t name; /* in milliseconds; 0: none */
#define SETTING_FIELD_LIMIT(name)	   struct setting_limit name;
#define SETTING_FIELD_RANGE(name)	   struct setting_range name;
#define SETTING_FIELD_MODE(name)	   uint64_t name;    /* a mode_t */
#define SETTING_FIELD_CHAIN_MODE(name)	   uint64_t name;    /* enum driver_chain_mode */
#define SETTING_FIELD_LOG_LEVEL(name)	   uint64_t name;    /* enum log_level */
#define SETTING_FIELD_SEPARATION(name)	   uint64_t name;    /* enum record_separate; no key */
#define SETTING_FIELD_FLAG(name)			     /* a bit of the SEPARATION above */
#define SETTING_FIELD_TEXT(name)	   const char *name; /* NULL: unset */
#define SETTING_FIELD_PATH(name)	   const char *name; /* absolute, "none"; NULL: unset */
#define SETTING_FIELD_IMAGES(name)	   const char *name; /* comma-separated; NULL: all */

enum setting_id {
#define SETTING_ID_(key, ...) SETTING_##key,
	SETTINGS(SETTING_ID_)
#undef SETTING_ID_
		SETTING_COUNT_
};

struct settings {
#define SETTING_DECLARE_(key, kind, name, ...) SETTING_FIELD_##kind(name)
	SETTINGS(SETTING_DECLARE_)
#undef SETTING_DECLARE_
	struct setting_list events;  /* NAME:count:unitmask:kernel:user each */
	struct setting_list unknown; /* whole lines of daemonrc */
	char *text[SETTING_COUNT_];  /* each setting as it was given; NULL: not given */
};

/* All settings at their defaults; release with settings_done(). */
struct settings settings_default(void);
/* Frees everything that @s owns. */
void settings_done(struct settings *s);
/* Copies @s to @ret, which must be empty; release with settings_done(). */
void settings_copy(const struct settings *s, struct settings *ret);

/* Sets one setting; an empty @value restores its default. Returns 0, or -EINVAL for a bad value,
 * with the accepted values in @err. */
int settings_set(struct settings *s, enum setting_id id, const char *value, struct error *err);
/* Does the same by key of daemonrc, including CHOSEN_EVENTS_n; errors name the key. Returns -ENOENT
 * for an unknown key. */
int settings_set_key(struct settings *s, const char *key, const char *value, struct error *err);
/* The setting's key in daemonrc; NULL if it has none. */
const char *setting_key(enum setting_id id);
/* The largest value of a number or size. */
uint64_t setting_most(enum setting_id id);
/* The setting's value as written in daemonrc; caller frees. NULL if it was not given. */
char *settings_text(const struct settings *s, enum setting_id id);

/* Adds an event. Returns 0, or -EINVAL if there are too many or @event does not fit on a line. */
int settings_add_event(struct settings *s, const char *event, struct error *err);
/* Removes all events. */
void settings_clear_events(struct settings *s);
/* The events, comma-separated; caller frees. NULL if there are none. */
char *settings_events(const struct settings *s);

/* The limit in bytes where the total is @all bytes; 0: no limit. */
uint64_t setting_limit_bytes(const struct setting_limit *limit, uint64_t all);

/*
 * Settings as command-line options: the tool keeps a table of the values given and splices the
 * generated options into its own table.
 *
 *	static struct setting_given given[] = SETTINGS_GIVEN;
 *	static const struct opt opts[] = { SETTINGS(SETTING_OPTION) OPT_END };
 *	...
 *	r = settings_take(&s, given, err);
 */
struct setting_given {
	enum setting_id id;
	const char *value; /* borrowed from argv; NULL: not given */
};

#define SETTING_GIVEN_(key, ...) [SETTING_##key] = { SETTING_##key, NULL },
#define SETTINGS_GIVEN                                                                             \
	{                                                                                          \
		SETTINGS(SETTING_GIVEN_)                                                           \
	}
#define SETTING_OPTION(key, kind, field, least, most, preset, bare, letter, option, arg, help)     \
	{ letter, option, OPT_CALL, &given[SETTING_##key], arg, help, setting_give },

/* Checks the argument of an OPT_CALL option and stores it; @target is a struct setting_given.
 * Returns 0, or -EINVAL with the option and the value in @err. */
int setting_give(const char *arg, void *target, struct error *err);
/* Applies the values given on the command line. Returns 0 or -EINVAL. */
int settings_take(struct settings *s, const struct setting_given given[SETTING_COUNT_],
		  struct error *err);
