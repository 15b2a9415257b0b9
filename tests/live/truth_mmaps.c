/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known work, while another thread constantly maps, protects and unmaps memory. */
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

TRUTH_CHAIN(chain_a)
TRUTH_CHAIN(chain_b)

static atomic_bool done;

static void *churn(void *data)
{
	enum { PAGES = 16 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	while (!done) {
		char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (p == MAP_FAILED)
			continue;
		(void)mprotect(p + page, page, PROT_READ);
		(void)munmap(p + 4 * page, page);
		(void)munmap(p, PAGES * page);
	}
	(void)close(fd);
	return data;
}

int main(int argc, char **argv)
{
	static const struct truth_part parts[] = { { "truth_mmaps", "chain_a", chain_a, 25 },
						   { "truth_mmaps", "chain_b", chain_b, 75 } };
	pthread_t thread;

	if (pthread_create(&thread, NULL, churn, NULL))
		return 1;
	truth_run(parts, 2, argc > 1 ? strtod(argv[1], NULL) : 1);
	done = true;
	return pthread_join(thread, NULL) != 0;
}
