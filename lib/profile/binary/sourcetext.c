/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/sourcetext.h"

#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct sourcetext {
	char *bytes; /* mapped; NULL if the file is empty */
	size_t size;
	size_t *ends; /* behind each line, at its newline or the end of the file */
	size_t count, room;
};

struct sourcetext *sourcetext_open(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_(sourcetext_freep) struct sourcetext *t = NULL;
	struct stat st;
	size_t at = 0;

	if (fd < 0 || fstat(fd, &st) < 0) {
		log_warn("%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode))
		return NULL;
	t = xcalloc(1, sizeof(*t));
	if (st.st_size) {
		void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (bytes == MAP_FAILED) {
			log_warn("cannot map %s: %s", path, strerror(errno));
			return NULL;
		}
		t->bytes = bytes;
		t->size = (size_t)st.st_size;
	}
	while (at < t->size) {
		const char *newline = memchr(t->bytes + at, '\n', t->size - at);
		size_t end = newline ? (size_t)(newline - t->bytes) : t->size;

		array_grow(&t->ends, t->count + 1, &t->room);
		t->ends[t->count++] = end;
		at = end + 1;
	}
	return STEAL(t);
}

void sourcetext_free(struct sourcetext *t)
{
	if (!t)
		return;
	if (t->bytes)
		(void)munmap(t->bytes, t->size);
	free(t->ends);
	free(t);
}

bool sourcetext_line(const struct sourcetext *t, size_t number, const char **ret, size_t *ret_size)
{
	size_t start;

	if (number == 0 || number > t->count)
		return false;
	start = number > 1 ? t->ends[number - 2] + 1 : 0;
	*ret = t->bytes ? t->bytes + start : "";
	*ret_size = t->ends[number - 1] - start;
	return true;
}
