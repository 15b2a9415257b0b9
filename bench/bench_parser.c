/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_parser FILE...: measures the cost of reading files in a process without rights. Builds the
 * unwind table of each file and reads its build-id, alternately here and there. Prints the medians
 * of the CPU time of both processes, and their ratio. */
#include "base/mem.h"
#include "file/procfs.h"
#include "parser/parser.h"
#include "unwind/unwind.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 31, IDS = 50, WORKERS_MAX = 8 };

/* The parser's processes: all that are called so and are younger than us. */
static struct {
	clockid_t clocks[WORKERS_MAX];
	size_t count;
} workers;

static void add_worker(uint32_t pid, void *data _unused_)
{
	char comm[16];

	if (pid > (uint32_t)getpid() && workers.count < WORKERS_MAX &&
	    procfs_comm("", pid, comm) == 0 && !strcmp(comm, "oprofile-parser") &&
	    clock_getcpuclockid((pid_t)pid, &workers.clocks[workers.count]) == 0)
		workers.count++;
}

static double read_us(clockid_t clock)
{
	struct timespec now = { 0 };

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* CPU time of this process and the workers. */
static double now_us(void)
{
	double sum = read_us(CLOCK_PROCESS_CPUTIME_ID);
	size_t i;

	for (i = 0; i < workers.count; i++)
		sum += read_us(workers.clocks[i]);
	return sum;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *all)
{
	qsort(all, ROUNDS, sizeof(*all), compare);
	return all[ROUNDS / 2];
}

static double build(struct parser *p, int fd, struct unwind_rules *rules)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	double since_us = now_us();

	(void)parser_table(p, fd, rules, &table, NULL);
	return now_us() - since_us;
}

static double identify(struct parser *p, int fd)
{
	double since_us = now_us();
	struct build_id id;
	int i;

	for (i = 0; i < IDS; i++)
		(void)parser_build_id(p, fd, &id);
	return (now_us() - since_us) / IDS;
}

static void measure(struct parser *p, const char *path)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	double here[ROUNDS], there[ROUNDS], id_here[ROUNDS], id_there[ROUNDS];
	int i;

	/* So that there are workers to look at. */
	(void)build(p, fd, rules);
	(void)identify(p, fd);
	workers.count = 0;
	(void)procfs_pids("", add_worker, NULL);
	for (i = 0; i < ROUNDS; i++) {
		here[i] = build(NULL, fd, rules);
		there[i] = build(p, fd, rules);
		id_here[i] = identify(NULL, fd);
		id_there[i] = identify(p, fd);
	}
	printf("%-24s table %9.1f us here, %9.1f there: %.3f   build-id %5.1f us here, %5.1f "
	       "there\n",
	       strrchr(path, '/') ? strrchr(path, '/') + 1 : path, median(here), median(there),
	       median(there) / median(here), median(id_here), median(id_there));
}

int main(int argc, char **argv)
{
	_cleanup_(parser_freep) struct parser *p = NULL;
	struct error err = ERROR_INIT;
	int i;

	if (argc < 2 || parser_new(&p, &err) < 0) {
		(void)fprintf(stderr, "bench_parser: %s\n", argc < 2 ? "which files?" : err.text);
		return 2;
	}
	for (i = 1; i < argc; i++)
		measure(p, argv[i]);
	return 0;
}
