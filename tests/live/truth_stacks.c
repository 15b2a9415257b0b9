/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_stacks ROUNDS DEPTH: work at the end of known call chains: below a function that calls
 * itself DEPTH times, in the kernel below a system call, in two threads, and at the same time in a
 * parent and in its child that does not exec. Compiled with and without frame pointers. */
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a call leaves to do, so that it is no jump. */
static volatile uint64_t done;

/* What calls nothing gets a frame from gcc only where it asks for its address. */
#ifdef TRUTH_FRAMES
#define FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))
#else
#define FRAME() ((void)0)
#endif

#define LEAF(name)                                                                                 \
	uint64_t name(uint64_t steps);                                                             \
	__attribute__((noinline)) uint64_t name(uint64_t steps)                                    \
	{                                                                                          \
		uint64_t x = steps;                                                                \
                                                                                                   \
		FRAME();                                                                           \
		while (steps--) {                                                                  \
			x = x * 6364136223846793005 + 1442695040888963407;                         \
			__asm__ volatile("# " #name : "+r"(x));                                    \
		}                                                                                  \
		return x;                                                                          \
	}
LEAF(leaf_deep)
LEAF(leaf_thread)
LEAF(leaf_child)
LEAF(leaf_parent)

__attribute__((noinline)) static void deep(unsigned int depth)
{
	if (depth)
		deep(depth - 1);
	else
		done += leaf_deep(40 * TRUTH_UNIT);
	done++;
}

/* The system call itself: libc's own function for it has no frame pointer. */
__attribute__((noinline)) static void reader(int fd)
{
	static char buffer[1 << 16];

	FRAME();
#ifdef __x86_64__
	long result = 0; /* read(2) */

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(fd), "S"(buffer), "d"(sizeof(buffer))
			 : "rcx", "r11", "memory");
#else
	ssize_t result = read(fd, buffer, sizeof(buffer));
#endif
	done += (uint64_t)result;
}

__attribute__((noinline)) static void read_much(void)
{
	int i, fd = open("/dev/zero", O_RDONLY);

	for (i = 0; i < 2000; i++)
		reader(fd);
	(void)close(fd);
	done++;
}

static void *thread(void *data)
{
	(void)data;
	done += leaf_thread(40 * TRUTH_UNIT);
	return NULL;
}

__attribute__((noinline)) static void threads(void)
{
	pthread_t both[2];
	size_t i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&both[i], NULL, thread, NULL))
			exit(1);
	for (i = 0; i < 2; i++)
		(void)pthread_join(both[i], NULL);
	done++;
}

__attribute__((noinline)) static void child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		done += leaf_child(40 * TRUTH_UNIT);
		_exit(0);
	}
	done += leaf_parent(40 * TRUTH_UNIT);
	(void)waitpid(pid, NULL, 0);
	done++;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;

	if (!rounds)
		return 2;
	while (rounds--) {
		deep((unsigned int)strtoul(argv[2], NULL, 10));
		read_much();
		threads();
		child();
	}
	return 0;
}
