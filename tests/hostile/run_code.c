/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs code of files for a while, and a copy of the first one's in memory, as a compiler makes it:
 * run_code SECONDS [--lease] FILE.... Whoever opens a file with a lease waits until it is given
 * up. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { FILES_MAX = 64 };

typedef void run_code(unsigned long count);

/* There is no lease on a file that somebody else has open: a profiler that knew it before, too. */
static int take_lease(int fd)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int i, r = -1;

	for (i = 0; r < 0 && i < 3000; i++) {
		r = fcntl(fd, F_SETLEASE, F_WRLCK);
		if (r < 0 && errno != EAGAIN)
			break;
		if (r < 0)
			(void)nanosleep(&pause, NULL);
	}
	return r;
}

static run_code *map_code(const char *path, int lease)
{
	int fd = open(path, O_RDONLY);
	void *code;

	if (lease && take_lease(fd) < 0) {
		perror(path);
		exit(1);
	}
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	return (run_code *)code;
}

/* Copies code to memory, where it belongs to no file. */
static run_code *copy_code(run_code *code)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	memcpy(memory, (const void *)code, 64);
	return (run_code *)memory;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 2 ? atoi(argv[1]) : 0);
	run_code *codes[FILES_MAX];
	int i, count = 0, lease = 0;

	(void)signal(SIGIO, SIG_IGN);
	for (i = 2; i < argc && count < FILES_MAX; i++) {
		if (strcmp(argv[i], "--lease") != 0)
			codes[count++] = map_code(argv[i], lease);
		lease = !strcmp(argv[i], "--lease");
	}
	if (count && count < FILES_MAX)
		codes[count] = copy_code(codes[0]), count++;
	for (i = 0; count && time(NULL) < end; i++)
		codes[i % count](1000000);
	return 0;
}
