/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader of the event buffer like the daemon of OProfile 1.x. It is written only from the
 * description of the format (oprofile-buffer(5), oprofilefs(5)) and uses nothing of this tree. It
 * interprets each read by itself, and fails on anything that the description does not contain. It
 * reads until sampling has ended and the buffer is empty, then prints
 * "image<TAB>counter<TAB>samples"; of call chains it counts the first sample.
 *
 *	foreign_reader MOUNT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IMAGES_MAX = 20000, COUNTERS_MAX = 8, QUIET_MS = 1000 };

struct image {
	uint64_t cookie;
	bool kernel;
	uint64_t samples[COUNTERS_MAX];
};

static struct image images[IMAGES_MAX];
static size_t image_count;
static unsigned long reads, frames;

static void die(const char *what, uint64_t value)
{
	(void)fprintf(stderr, "foreign_reader: %s: %llx\n", what, (unsigned long long)value);
	exit(1);
}

static uint64_t number_in(const char *mount, const char *name)
{
	char path[4096], text[64] = "";
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", mount, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die(name, (uint64_t)errno);
	(void)close(fd);
	return strtoull(text, NULL, 10);
}

static void count(bool kernel, uint64_t cookie, uint64_t counter)
{
	size_t i = 0;

	if (counter >= COUNTERS_MAX)
		die("counter", counter);
	cookie = kernel ? 0 : cookie;
	while (i < image_count && (images[i].kernel != kernel || images[i].cookie != cookie))
		i++;
	if (i == IMAGES_MAX)
		die("too many images", i);
	if (i == image_count) {
		images[i].kernel = kernel;
		images[i].cookie = cookie;
		image_count++;
	}
	images[i].samples[counter]++;
}

/* What one read begins with. */
struct state {
	bool know_cpu, know_task, know_mode, know_cookie, kernel;
	enum { NO_TRACE, TRACE_STARTS, IN_TRACE } trace;
	uint64_t cookie;
};

static size_t decode_code(const uint64_t *w, size_t left, struct state *s)
{
	if (left < 2)
		die("a code cut short", left);
	switch (w[1]) {
	case 1:
		if (left < 7 || w[4] != UINT64_MAX || w[5] != 7)
			die("a task without a thread group", left);
		s->know_task = true;
		s->trace = NO_TRACE;
		return 7;
	case 2:
		s->know_cpu = true;
		s->trace = NO_TRACE;
		return 3;
	case 3:
		s->know_cookie = true;
		s->cookie = left > 2 ? w[2] : 0;
		return 3;
	case 4:
	case 5:
		s->know_mode = true;
		s->kernel = w[1] == 4;
		return 2;
	case 6:
		return 2;
	case 8:
		s->trace = TRACE_STARTS;
		return 2;
	default:
		die("unknown code", w[1]);
	}
	return 0;
}

static void decode(const uint64_t *w, size_t left)
{
	struct state s = { .trace = NO_TRACE };
	size_t n;

	for (; left; w += n, left -= n) {
		if (w[0] == UINT64_MAX) {
			n = decode_code(w, left, &s);
			if (n > left)
				die("words cut short", left);
			continue;
		}
		if (left < 2 || !s.know_cpu || !s.know_task || !s.know_mode ||
		    (!s.kernel && !s.know_cookie))
			die("a sample out of nowhere", left);
		if (s.trace == IN_TRACE)
			frames++;
		else
			count(s.kernel, s.cookie, w[1]);
		if (s.trace == TRACE_STARTS)
			s.trace = IN_TRACE;
		n = 2;
	}
}

static void print_image(const char *mount, const struct image *image)
{
	char path[4096], name[4096] = "kernel";
	int fd;
	ssize_t n;

	if (!image->kernel && image->cookie) {
		(void)snprintf(path, sizeof(path), "%s/cookies/%llu", mount,
			       (unsigned long long)image->cookie);
		fd = open(path, O_RDONLY);
		n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
		if (n <= 0)
			die("cookie without a path", image->cookie);
		name[n - (name[n - 1] == '\n')] = '\0';
		(void)close(fd);
	}
	for (size_t i = 0; i < COUNTERS_MAX; i++)
		if (image->samples[i])
			printf("%s\t%zu\t%llu\n", name, i, (unsigned long long)image->samples[i]);
}

int main(int argc, char **argv)
{
	struct pollfd p = { .events = POLLIN };
	char path[4096];
	uint64_t *words;
	size_t bytes;
	ssize_t n;

	if (argc != 2)
		return 2;
	bytes = (size_t)number_in(argv[1], "buffer_size") * number_in(argv[1], "pointer_size");
	words = malloc(bytes);
	(void)snprintf(path, sizeof(path), "%s/buffer", argv[1]);
	p.fd = open(path, O_RDONLY);
	if (p.fd < 0 || !words)
		die("open", (uint64_t)errno);
	(void)fprintf(stderr, "reading\n");
	for (;;) {
		/* Blocks where something is due, else looks whether the end has come. */
		if (poll(&p, 1, QUIET_MS) == 0) {
			if (number_in(argv[1], "enable") == 0 && poll(&p, 1, QUIET_MS) == 0)
				break;
			continue;
		}
		n = read(p.fd, words, bytes);
		if (n < 0)
			die("read", (uint64_t)errno);
		if (n == 0)
			break;
		if (n % 8)
			die("a word cut short", (uint64_t)n);
		reads++;
		decode(words, (size_t)n / 8);
	}
	for (size_t i = 0; i < image_count; i++)
		print_image(argv[1], &images[i]);
	(void)fprintf(stderr, "%lu reads, %lu frames\n", reads, frames);
	return 0;
}
