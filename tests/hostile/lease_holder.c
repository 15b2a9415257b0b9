/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lease_holder DIR COUNT SECONDS: runs in COUNT copies of itself below DIR, in turn, and holds a
 * write lease on each (fcntl(2)), so that whoever opens one waits until the lease is broken.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Uses nothing but its argument: it is run at other addresses. */
static __attribute__((noinline)) void spin(unsigned long n)
{
	while (n--)
		__asm__ volatile("" ::: "memory");
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct code {
	uintptr_t start, end;
	off_t offset; /* in the file */
};

/* Where the mapping of this program with spin() is. */
static struct code find_code(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct code c;
	uint64_t offset;

	while (maps && fscanf(maps, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64 "%*[^\n]", &c.start,
			      &c.end, &offset) == 3)
		if ((uintptr_t)spin >= c.start && (uintptr_t)spin < c.end) {
			c.offset = (off_t)offset;
			(void)fclose(maps);
			return c;
		}
	exit(1);
}

static void copy(const char *to)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	char bytes[65536];
	ssize_t n;

	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)n) != n)
			exit(1);
	if (in < 0 || out < 0 || n < 0 || close(in) < 0 || close(out) < 0)
		exit(1);
}

/* Maps a copy at @path and takes the lease; the address of its spin(). */
static uintptr_t take(const char *path, const struct code *c)
{
	void *map;
	int fd;

	copy(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	map = mmap(NULL, c->end - c->start, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, c->offset);
	if (map == MAP_FAILED || fcntl(fd, F_SETLEASE, F_WRLCK) < 0) {
		perror(path);
		exit(77);
	}
	return (uintptr_t)map + ((uintptr_t)spin - c->start);
}

int main(int argc, char **argv)
{
	const struct code c = find_code();
	int count = argc == 4 ? atoi(argv[2]) : 0, i;
	uintptr_t *copies = calloc((size_t)count + 1, sizeof(*copies));
	double end;

	if (count < 1 || !copies)
		return 2;
	(void)signal(SIGIO, SIG_IGN); /* keeps the lease until the kernel takes it */
	for (i = 0; i < count; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/leased-%d", argv[1], i);
		copies[i] = take(path, &c);
	}
	puts("held");
	(void)fflush(stdout);
	for (end = now() + atof(argv[3]), i = 0; now() < end; i = (i + 1) % count)
		((void (*)(unsigned long))copies[i])(10000000);
	return 0;
}
