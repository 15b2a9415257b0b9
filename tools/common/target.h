/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tool profiles or counts: a command that it starts, a process that runs already, or the
 * machine. A command is forked at once, but waits in a pipe until the tool is ready.
 *
 *	_cleanup_(target_done) struct target target = TARGET_INIT;
 *	target_command(&target, argv, &err);
 *	...					sampling of target.pid is set up
 *	target_release(&target, &err);		it execs
 *	while (!target_ended(&target))
 *		poll((struct pollfd[]){ { target.signals }, { target.pidfd } }, 2, -1);
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
	pid_t pid;	 /* 0: the machine */
	int signals;	 /* polls readable when a signal came, -1 if none is waited for */
	int pidfd;	 /* TARGET_PROCESS: polls readable when it ended; else -1 */
	int go, failed;	 /* TARGET_COMMAND: pipes that let it exec, and tell its errno */
	bool ended;	 /* seen by target_ended() */
	bool reaped;	 /* TARGET_COMMAND: ->status is its wait status */
	int status;	 /* what waitpid() said */
	int exit_status; /* where it could not be started: 126, 127 */
	uint64_t cpu_ns; /* TARGET_COMMAND: CPU time it used, known when it ended */
	int raised;	 /* how much higher our priority is than that of a command shall be */
	const char *name;
	char *path;		    /* TARGET_COMMAND: of what is executed */
	sigset_t mask;		    /* signals blocked before, which a command gets back */
	struct sigaction interrupt; /* what SIGINT did before, likewise */
};

#define TARGET_INIT ((struct target){ .signals = -1, .pidfd = -1, .go = -1, .failed = -1 })

/* Forks a child that waits to exec @command, which is borrowed as long as @target lives. 0; -ENOENT
 * or -EACCES if there is no such command, before anything was touched; -errno. */
int target_command(struct target *target, char **command, struct error *err);
/* The running process @pid; -ESRCH if there is none. */
int target_process(struct target *target, uint64_t pid, struct error *err);
/* The machine, or whatever else only a signal ends. */
int target_system(struct target *target, struct error *err);

/* Lets the command exec; 0, or the -errno with which it failed to. */
int target_release(struct target *target, struct error *err);

/* Takes signals and looks whether to go on: a command goes on until it ended, whatever signals
 * come, which are passed on to it where it did not get them itself; the others until SIGINT,
 * SIGTERM or SIGHUP, or the process ended. */
bool target_ended(struct target *target);

/* Waits for a command's end, though nothing is sampled any more. */
void target_wait(struct target *target);

/* The exit status of the tool: of the command (128 + signal where one killed it), or by @result. */
int target_exit_status(const struct target *target, int result);

/* Ends a command that still waits to exec; closes what is open. */
void target_done(struct target *target);
