/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_gone COUNT MILLISECONDS file|memfd: runs that many programs one after the other. Each has a
 * build-id of its own, works for that long in the function gone_work, and has no file: its name is
 * removed once it runs, or it is executed from memory. Static, so that the profile contains only
 * these programs and the kernel. */
#include "truth.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BUILD_ID = 20 };

static volatile uint64_t sink;

__attribute__((noinline)) static void gone_work(double seconds)
{
	double end = truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
	unsigned int i;

	while (truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (i = 0; i < 20000; i++)
			sink += i;
}

/* The program's own file in memory. */
struct program {
	uint8_t *bytes;
	size_t size, id_at; /* where its build-id is */
};

static int load(struct program *p)
{
	/* The head of the note: lengths of name and build-id, type, name. */
	static const uint8_t head[] = {
		4, 0, 0, 0, BUILD_ID, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0
	};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *note;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	p->size = (size_t)st.st_size;
	p->bytes = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	note = p->bytes == MAP_FAILED ? NULL : memmem(p->bytes, p->size / 2, head, sizeof(head));
	if (!note)
		return -1;
	p->id_at = (size_t)(note - p->bytes) + sizeof(head);
	return 0;
}

/* Runs the program with the build-id @number, and removes its file @path (NULL: in memory). */
static int run(const struct program *p, unsigned long number, char *const child[], const char *path)
{
	int go[2], status, fd;
	char nothing;
	pid_t pid;

	memcpy(p->bytes + p->id_at, &number, sizeof(number));
	fd = path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700)
		  : memfd_create("gone", MFD_CLOEXEC);
	if (fd < 0 || write(fd, p->bytes, p->size) != (ssize_t)p->size || pipe2(go, O_CLOEXEC) < 0)
		return -1;
	if (path) {
		(void)close(fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	pid = fork();
	if (pid == 0) {
		(void)fexecve(fd, child, environ);
		_exit(127);
	}
	(void)close(fd);
	(void)close(go[1]);
	/* Its end is closed by the exec. */
	(void)!read(go[0], &nothing, 1);
	(void)close(go[0]);
	if (path)
		(void)unlink(path);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status ? -1 : 0;
}

int main(int argc, char **argv)
{
	char word[] = "child", path[64];
	char *child[] = { argv[0], argc > 2 ? argv[2] : NULL, word, NULL };
	struct program p;
	unsigned long i, count;

	if (argc == 3 && !strcmp(argv[2], word)) {
		gone_work(strtod(argv[1], NULL) / 1000);
		return 0;
	}
	if (argc != 4 || load(&p) < 0)
		return 2;
	count = strtoul(argv[1], NULL, 10);
	(void)snprintf(path, sizeof(path), "/tmp/truth_gone.%d", (int)getpid());
	for (i = 1; i <= count; i++)
		if (run(&p, i, child, strcmp(argv[3], "memfd") ? path : NULL) < 0)
			return 1;
	return 0;
}
