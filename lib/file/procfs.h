/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what /proc has about processes: mappings, names, threads, memory. Every function takes the
 * directory that contains "proc" as @root ("" for this machine), so that recorded machines can be
 * read.
 *
 *	procfs_maps("", pid, add_mapping, proc);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* One line of /proc/PID/maps (Documentation/filesystems/proc.rst). */
struct maps_line {
	uint64_t start, end;   /* addresses, end excluded */
	uint64_t offset;       /* of start in the file */
	uint32_t major, minor; /* device */
	uint64_t inode;	       /* 0: no file */
	bool executable;
	const char *path; /* borrowed from the line; "" for anonymous memory, "[vdso]", or a path
			   * with \ooo escapes as the kernel wrote it */
};

/* Parses a line, with or without its newline, which is replaced by a NUL; 0 or -EBADMSG. */
int maps_line_parse(char *line, struct maps_line *ret);

/* Calls @each for every mapping of @pid, until it returns non-zero; returns that, 0 at the end, or
 * -errno if the process cannot be read. A line that does not parse is skipped. */
int procfs_maps(const char *root, uint32_t pid,
		int (*each)(const struct maps_line *line, void *data), void *data);

/* One line of /proc/PID/mountinfo (proc(5)); its strings are borrowed from the line. */
struct mount_line {
	uint64_t id; /* of the mount, as in statx(2) */
	uint32_t major, minor;
	const char *root;    /* directory of the file system that is mounted */
	const char *point;   /* where */
	const char *type;    /* "ext4", "overlay" */
	const char *options; /* of the file system, separated by commas */
};

/* Parses a line in place; 0 or -EBADMSG. */
int mount_line_parse(char *line, struct mount_line *ret);

/* Calls @each for every mount that @pid sees, 0 this process, until it returns non-zero; returns
 * that, 0 at the end, or -errno. A line that does not parse is skipped. */
int procfs_mounts(const char *root, uint32_t pid,
		  int (*each)(const struct mount_line *line, void *data), void *data);

/* Calls @each with the pid of every process; 0 or -errno. */
int procfs_pids(const char *root, void (*each)(uint32_t pid, void *data), void *data);

/* Calls @each with every thread of @pid; 0 or -errno. */
int procfs_tids(const char *root, uint32_t pid, void (*each)(uint32_t tid, void *data), void *data);

/* Name of a process (at most 15 characters) into @comm; 0 or -errno. */
int procfs_comm(const char *root, uint32_t pid, char comm[16]);

/* A few fields of /proc/PID/stat. */
struct procfs_stat {
	char state; /* 'R', 'S', ... 'Z' for one that has exited */
	uint32_t parent;
	bool kernel_thread;
	uint64_t threads; /* of the whole process, 0 once it is a zombie */
	uint64_t start;	  /* ticks since the machine started; 0: not there */
};

/* Parses a line of /proc/PID/stat; 0 or -EBADMSG. */
int procfs_stat_parse(const char *line, struct procfs_stat *ret);
/* Reads and parses /proc/PID/stat; 0 or -errno. */
int procfs_stat(const char *root, uint32_t pid, struct procfs_stat *ret);

/* Resident memory of @pid (0: this process) in bytes, and in *@ret_shared, which may be NULL, the
 * part of it that is file-backed or shared. 0 or -errno. */
int procfs_memory(const char *root, uint32_t pid, uint64_t *ret_resident, uint64_t *ret_shared);

/* The target of /proc/PID/exe; caller frees, NULL if there is none (a kernel thread). */
char *procfs_exe(const char *root, uint32_t pid);

/* Whether this process is in the machine's first PID namespace: from another one, processes outside
 * it cannot be told apart. */
bool procfs_first_pid_namespace(void);

/* Model of the first CPU, "AMD EPYC 7R13"; NULL if /proc/cpuinfo does not say. Caller frees. */
char *procfs_cpu_model(const char *root);
/* Frequency of the first CPU in MHz, 0 if /proc/cpuinfo does not say. */
double procfs_cpu_mhz(const char *root);
