/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/store/descriptor_limit.h"

#include "base/macro.h"

#include <fcntl.h>
#include <sys/resource.h>

/* Descriptors reserved for other uses. */
enum { RESERVE = 256 };

/* Returns a third of the number of descriptors below @limit that are free: the threads and files
 * that come later need the rest. */
static size_t third_of_the_free(rlim_t limit)
{
	size_t count = 0;

	for (int fd = 0; fd < (int)limit; fd++)
		count += fcntl(fd, F_GETFD) < 0;
	return count / 3;
}

size_t descriptor_limit_share(size_t least, size_t most)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return least;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
		(void)getrlimit(RLIMIT_NOFILE, &limit); /* the limit, whether raised or not */
	}
	if (limit.rlim_cur < 2 * RESERVE)
		return MAX(third_of_the_free(limit.rlim_cur), least);
	return MIN((size_t)limit.rlim_cur - RESERVE, most);
}
