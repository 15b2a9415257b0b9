/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures the CPU time of a whole run of ophelp: "bench_catalog OPHELP". */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 9, ARGUMENTS = 4 };

static double run(const char *const *argv)
{
	struct rusage used;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
			_exit(126);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) < 0 || status) {
		(void)fprintf(stderr, "bench_catalog: %s failed\n", argv[0]);
		exit(1);
	}
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		const char *arguments[ARGUMENTS];
	} rows[] = {
		{ "list all PMUs that libpfm4 knows", { "-c", "all" } },
		{ "list one CPU, i386/skylake", { "-c", "i386/skylake" } },
		{ "list this CPU", { NULL } },
		{ "check one specification", { "-e", "default" } },
	};
	size_t i, k;

	if (argc != 2)
		return 2;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *command[ARGUMENTS + 2] = { argv[1] };
		double best = 0, took;

		for (k = 0; k < ARGUMENTS; k++)
			command[k + 1] = rows[i].arguments[k];
		for (k = 0; k < ROUNDS; k++) {
			took = run(command);
			best = k && best < took ? best : took;
		}
		printf("%-36s %6.1f ms\n", rows[i].what, best);
	}
	return 0;
}
