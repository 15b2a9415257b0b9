/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target is what a tool profiles or counts: a command that it starts, a running process, or the
 * whole machine. A command is forked at once, but its exec waits until the tool is ready. The
 * target is in the caller's storage.
 *
 *	_cleanup_(target_done) struct target target = TARGET_INIT;
 *	target_command(&target, argv, &err);
 *	...					sampling of target.pid is set up
 *	target_release(&target, &err);		it execs
 *	while (!target_ended(&target))
 *		poll((struct pollfd[]){ { target.signals }, { target.processes } }, 2, -1);
 */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum target_kind { TARGET_COMMAND, TARGET_PROCESS, TARGET_SYSTEM };

struct target {
	enum target_kind kind;
	pid_t pid;	     /* 0: the whole machine */
	const pid_t *others; /* TARGET_PROCESS: further ones, borrowed */
	size_t other_count;
	bool may_be_gone; /* some of them, but not all */
	int signals;	  /* polls readable when a signal came; -1: none is expected */
	int processes;	  /* TARGET_PROCESS: polls readable when one has ended; else -1 */
	size_t running;	  /* of those, not seen to have ended */
	int go, failed;	  /* TARGET_COMMAND: pipes: to release it; to get the errno of its exec */
	bool ended;	  /* seen by target_ended() */
	bool stopped;	  /* by target_stop() */
	bool reaped;	  /* TARGET_COMMAND: ->status is its wait status */
	int status;	  /* from waitpid() */
	int exit_status;  /* 126 or 127 if it could not be started */
	uint64_t cpu_ns;  /* TARGET_COMMAND: CPU time it used, known when it ended */
	int raised;	  /* how much lower a command's priority is than ours */
	const char *name;
	char *path;		    /* TARGET_COMMAND: path of the executable */
	sigset_t mask;		    /* signals blocked before, which a command gets back */
	struct sigaction interrupt; /* the previous handler of SIGINT, which a command gets back */
};

#define TARGET_INIT ((struct target){ .signals = -1, .processes = -1, .go = -1, .failed = -1 })

/* Searches PATH as a shell does. Returns 0 with the command's path, which the caller frees;
 * -ENOENT; or -EACCES if a file was found that may not be executed. */
int target_find_command(const char *name, char **ret);

/* Forks a child that waits to exec @command, which is borrowed as long as @target lives. 0; -ENOENT
 * or -EACCES if there is no such command, before anything was touched; -errno. */
int target_command(struct target *target, char **command, struct error *err);
/* Targets running processes, at least one, which are borrowed as long as @target lives; -ESRCH if
 * one does not exist, or with ->may_be_gone if none does. */
int target_processes(struct target *target, const pid_t *pids, size_t count, struct error *err);
/* Targets the machine, or anything else that only a signal ends. */
int target_system(struct target *target, struct error *err);

/* Lets the command exec; 0, or the -errno with which it failed to. */
int target_release(struct target *target, struct error *err);

/* Handles signals, and returns whether the target has ended. A command ends when it exits; signals
 * are passed on to it unless it got them itself. The others end on SIGINT, SIGTERM or SIGHUP, or
 * when all of the processes have exited. */
bool target_ended(struct target *target);

/* Ends a command that still runs, with SIGTERM; that this killed it is no failure then. */
void target_stop(struct target *target);
/* Waits for a command to exit, after sampling has stopped. */
void target_wait(struct target *target);

/* Returns the tool's exit status: the command's (128 + signal if one killed it), else that of
 * @result. */
int target_exit_status(const struct target *target, int result);

/* Kills a command that still waits to exec, and closes all descriptors. */
void target_done(struct target *target);
