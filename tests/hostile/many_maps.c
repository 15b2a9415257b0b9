/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * many_maps FILE SECONDS: maps the code of FILE, which is at its start, in as many places as the
 * kernel allows, runs in them, maps some of them again all the time, and forks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 60000, PAGE = 4096, AGAIN = 200 };

typedef void run_code(unsigned long count);

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Neighbours of one offset in the file are never merged. */
static void map_at(void *at, int fd)
{
	if (mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		exit(1);
}

int main(int argc, char **argv)
{
	double end = now() + (argc == 3 ? atof(argv[2]) : 0);
	int fd = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, i;
	char *start = mmap(NULL, (size_t)PLACES * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned int place = 0;
	pid_t child;

	if (fd < 0 || start == MAP_FAILED)
		return 1;
	for (i = 0; i < PLACES; i++)
		map_at(start + (size_t)i * PAGE, fd);
	puts("mapped");
	(void)fflush(stdout);
	while (now() < end) {
		for (i = 0; i < AGAIN; i++, place = (place + 7919) % PLACES)
			map_at(start + (size_t)place * PAGE, fd);
		((run_code *)(void *)(start + (size_t)place * PAGE))(1000000);
		child = fork();
		if (child == 0) {
			map_at(start, fd);
			((run_code *)(void *)(start + (size_t)PAGE))(1000000);
			_exit(0);
		}
		if (child > 0)
			(void)waitpid(child, NULL, 0);
	}
	return 0;
}
