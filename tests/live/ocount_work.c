/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ocount_work PAGES MS [THREADS]: touches that many pages, then computes until it has used that
 * many milliseconds of CPU time, in that many additional threads. Prints the pages, and the CPU
 * time in nanoseconds that it used since its start. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec at;

	(void)clock_gettime(clock, &at);
	return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED || madvise(memory, pages * page, MADV_NOHUGEPAGE) < 0)
		exit(77);
	for (i = 0; i < pages; i++)
		((volatile char *)memory)[i * page] = 1;
}

static void *compute(void *data)
{
	uint64_t wanted = *(uint64_t *)data;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < wanted)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, i;
	uint64_t ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	size_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	pthread_t *threads = calloc(count + 1, sizeof(*threads));

	if (pages)
		touch(pages);
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, compute, &ns))
			return 1;
	(void)compute(&ns);
	for (i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	free(threads);
	printf("%zu %llu\n", pages, (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
