/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host that builds and tests does in a month, in little time: endurance_load TINY DIRECTORY
 * FILES PROCESSES CGROUPS JITS SECONDS runs so many processes, in so many files and cgroups of
 * their own, evenly over the time, and prints how many there were every few seconds: "files
 * processes cgroups jits". The numbers are what is tried; it ends when the time is up. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES, PROCESSES, CGROUPS, JITS, KINDS };

static const char *tiny, *directory;
static char program[1 << 16];
static size_t program_size;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void run(const char *path, char *argument)
{
	char *argv[] = { (char *)path, argument, NULL }, *none[] = { NULL };
	pid_t pid;

	if (posix_spawn(&pid, path, NULL, NULL, argv, none) == 0)
		(void)waitpid(pid, NULL, 0);
}

/* A file that runs once; one in a hundred runs long enough for many samples. */
static void one_file(unsigned int number)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/conftest%u", directory, number);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, program, program_size) != (ssize_t)program_size)
		die(path);
	close(fd);
	run(path, number % 100 ? NULL : (char *)"long");
	unlink(path);
}

static void one_process(unsigned int number)
{
	(void)number;
	run(tiny, NULL);
}

/* Where cgroups can be made. */
static const char *cgroups(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified",
					      "/sys/fs/cgroup/perf_event" };
	char procs[64];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", places[i]);
		if (access(procs, W_OK) == 0)
			return places[i];
	}
	return "/nowhere";
}

static void one_cgroup(unsigned int number)
{
	char path[256], procs[300];
	FILE *f;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/endurance-%u", cgroups(), number);
	if (mkdir(path, 0755) < 0)
		return;
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	pid = fork();
	if (pid == 0) {
		f = fopen(procs, "w");
		if (f && fprintf(f, "%d\n", getpid()) > 0)
			fclose(f);
		execl(tiny, tiny, NULL);
		_exit(1);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	rmdir(path);
}

/* A process that makes code, names it and runs it for some milliseconds. */
static void one_jit(unsigned int number)
{
#if defined(__x86_64__)
	static const uint8_t code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
#else
	static const uint8_t code[] = { 0x00, 0x04, 0x00, 0xd1, 0xe0, 0xff,
					0xff, 0xb5, 0xc0, 0x03, 0x5f, 0xd6 };
#endif
	char map[64];
	FILE *f;
	pid_t pid = fork();

	if (pid == 0) {
		void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memcpy(at, code, sizeof(code));
		__builtin___clear_cache(at, (char *)at + sizeof(code));
		snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
		f = fopen(map, "w");
		if (f && fprintf(f, "%lx 10 made_%u\n", (unsigned long)at, number) > 0)
			fclose(f);
		((void (*)(unsigned long))at)(10000000);
		unlink(map);
		_exit(0);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static void (*const one[])(unsigned int) = { one_file, one_process, one_cgroup, one_jit };
	double wanted[KINDS], seconds, begin = now(), at, told = begin;
	unsigned int done[KINDS] = { 0 }, k;
	int fd;

	if (argc != 8)
		return 2;
	tiny = argv[1];
	directory = argv[2];
	for (k = 0; k < KINDS; k++)
		wanted[k] = strtod(argv[3 + k], NULL);
	seconds = strtod(argv[7], NULL);
	fd = open(tiny, O_RDONLY | O_CLOEXEC);
	program_size = fd < 0 ? 0 : (size_t)read(fd, program, sizeof(program));
	if (!program_size)
		die(tiny);
	while ((at = now() - begin) < seconds) {
		for (k = 0; k < KINDS; k++)
			if (done[k] < wanted[k] * at / seconds)
				one[k](done[k]++);
		if (now() - told < 1)
			continue;
		told = now();
		printf("%u %u %u %u\n", done[FILES], done[PROCESSES], done[CGROUPS], done[JITS]);
		fflush(stdout);
	}
	return 0;
}
