/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_exits CHILDREN MEBIBYTES: starts that many children one after the other by exec. Each ends
 * with a memfd of that size open, so it spends much of its time in the kernel after it has given up
 * its memory. truth_exits busy: works and sleeps by turns until it is killed. */
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int leave_memory(unsigned long mebibytes)
{
	static char block[1 << 20];
	int fd = memfd_create("left", 0);

	while (mebibytes-- && fd >= 0)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			return 1;
	return fd < 0;
}

/* Often runs just before somebody else on its CPU. */
static _Noreturn void be_busy(void)
{
	volatile unsigned int i;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		for (i = 0; i < 3000; i++)
			;
		(void)usleep(1);
	}
}

int main(int argc, char **argv)
{
	char child[] = "child", *child_argv[] = { argv[0], child, argc > 2 ? argv[2] : NULL, NULL };
	unsigned long count;
	int status;
	pid_t pid;

	if (argc == 2 && !strcmp(argv[1], "busy"))
		be_busy();
	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "child"))
		return leave_memory(strtoul(argv[2], NULL, 10));
	for (count = strtoul(argv[1], NULL, 10); count; count--) {
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child_argv, environ))
			return 1;
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
