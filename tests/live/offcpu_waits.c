/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "offcpu_waits MS": waits for MS milliseconds for each reason in a function of its name: in
 * for_lock() for a mutex, in for_shared() for a semaphore of several processes, in for_io() for
 * bytes of a pipe, in for_sleep() for time, in for_fault() for a page, in for_idle() for a
 * descriptor. A thread called "the waker" ends all but the sleep. Prints "OFFCPU_NAME US" for each:
 * what passed. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef FUNCTION
#define FUNCTION __attribute__((noinline, optnone))
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t shared;
static int ends[2], faults;
static char *page;
static long page_bytes;
static struct timespec nap;

static int64_t now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

FUNCTION static void for_lock(void)
{
	check(pthread_mutex_lock(&mutex) == 0, "lock");
	check(pthread_mutex_unlock(&mutex) == 0, "unlock");
}

FUNCTION static void for_shared(void)
{
	check(sem_wait(&shared) == 0, "sem_wait");
}

FUNCTION static void for_io(void)
{
	char byte;

	check(read(ends[0], &byte, 1) == 1, "read");
}

FUNCTION static void for_sleep(void)
{
	check(nanosleep(&nap, NULL) == 0, "nanosleep");
}

FUNCTION static void for_fault(void)
{
	*(volatile char *)page = 1;
}

FUNCTION static void for_idle(void)
{
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };

	check(poll(&fd, 1, -1) == 1, "poll");
}

/* A page that is there only when another thread provides it. */
static void prepare_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	page_bytes = sysconf(_SC_PAGESIZE);
	page = mmap(NULL, (size_t)page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	check(faults >= 0 && page != MAP_FAILED, "userfaultfd");
	all.range.start = (uintptr_t)page;
	all.range.len = (uint64_t)page_bytes;
	check(ioctl(faults, UFFDIO_API, &api) == 0, "UFFDIO_API");
	check(ioctl(faults, UFFDIO_REGISTER, &all) == 0, "UFFDIO_REGISTER");
}

static void give_page(void)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)page, (uint64_t)page_bytes } };

	check(ioctl(faults, UFFDIO_ZEROPAGE, &zero) == 0, "UFFDIO_ZEROPAGE");
}

/* Naps once the main thread waits: on a busy machine, it may come to that much later. */
static void let_wait(void)
{
	const struct timespec moment = { 0, 1000000 };
	char state;
	FILE *f;

	do {
		(void)nanosleep(&moment, NULL);
		state = '?';
		f = fopen("/proc/self/stat", "re"); /* of the main thread */
		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		check(f && fclose(f) == 0, "/proc/self/stat");
	} while (state != 'S' && state != 'D');
	(void)nanosleep(&nap, NULL);
}

/* Ends each wait after a nap. */
static void *helper(void *barrier)
{
	(void)prctl(PR_SET_NAME, "the waker");
	(void)pthread_mutex_lock(&mutex);
	(void)pthread_barrier_wait(barrier);
	let_wait();
	(void)pthread_mutex_unlock(&mutex);
	(void)pthread_barrier_wait(barrier);
	let_wait();
	check(sem_post(&shared) == 0, "sem_post");
	(void)pthread_barrier_wait(barrier);
	let_wait();
	check(write(ends[1], "", 1) == 1, "write");
	(void)pthread_barrier_wait(barrier);
	let_wait();
	give_page();
	(void)pthread_barrier_wait(barrier);
	let_wait();
	check(write(ends[1], "", 1) == 1, "write");
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*wait)(void);
		int helped;
	} waits[] = {
		{ "OFFCPU_LOCK", for_lock, 1 }, { "OFFCPU_SHARED", for_shared, 1 },
		{ "OFFCPU_IO", for_io, 1 },	{ "OFFCPU_FAULT", for_fault, 1 },
		{ "OFFCPU_IDLE", for_idle, 1 }, { "OFFCPU_SLEEP", for_sleep, 0 },
	};
	int64_t ms = argc == 2 ? atoi(argv[1]) : 0, began;
	pthread_barrier_t barrier;
	pthread_t thread;
	size_t i;

	nap = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	prepare_page();
	check(pipe(ends) == 0, "pipe");
	check(sem_init(&shared, 1, 0) == 0, "sem_init");
	check(pthread_barrier_init(&barrier, NULL, 2) == 0, "barrier");
	check(pthread_create(&thread, NULL, helper, &barrier) == 0, "thread");
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (waits[i].helped)
			(void)pthread_barrier_wait(&barrier);
		began = now_us();
		waits[i].wait();
		printf("%s %lld\n", waits[i].name, (long long)(now_us() - began));
	}
	return pthread_join(thread, NULL);
}
