/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a command several times, and prints the best elapsed and CPU time in milliseconds and the
 * best peak RSS in MB (10^6), including all processes that the command started. This program is
 * small, because a child's peak includes the memory of the process that it was forked from.
 *
 *	measure ROUNDS COMMAND [ARGUMENT]...
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void add(struct rusage *to, const struct rusage *u)
{
	timeradd(&to->ru_utime, &u->ru_utime, &to->ru_utime);
	timeradd(&to->ru_stime, &u->ru_stime, &to->ru_stime);
	to->ru_maxrss = to->ru_maxrss > u->ru_maxrss ? to->ru_maxrss : u->ru_maxrss;
}

/* The command's output goes nowhere; what it complains of is kept to be seen. */
static int run(char **argv, struct rusage *ret)
{
	int status = -1, null;
	struct rusage left;
	pid_t pid = vfork();

	if (pid == 0) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0)
			(void)dup2(null, STDOUT_FILENO);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, ret) != pid)
		return -1;
	while (wait4(-1, NULL, 0, &left) > 0)
		add(ret, &left);
	return status;
}

int main(int argc, char **argv)
{
	double elapsed = 1e9, cpu = 1e9, start, used;
	int rounds = argc > 2 ? atoi(argv[1]) : 0;
	struct rusage usage;
	long peak = 0;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (; rounds > 0; rounds--) {
		start = seconds();
		if (run(argv + 2, &usage) != 0) {
			(void)printf("- - -\n");
			return 1;
		}
		start = seconds() - start;
		used = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
		elapsed = start < elapsed ? start : elapsed;
		cpu = used < cpu ? used : cpu;
		peak = usage.ru_maxrss > peak ? usage.ru_maxrss : peak;
	}
	(void)printf("%.1f %.1f %.1f\n", elapsed * 1e3, cpu * 1e3, (double)peak * 1024e-6);
	return 0;
}
