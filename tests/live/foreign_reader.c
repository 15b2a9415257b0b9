/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader of the event buffer like the daemon of OProfile 0.9. It is written only from the
 * description of the format (oprofile-buffer(5), oprofilefs(5)) and uses nothing of this tree. It
 * interprets each read by itself, and fails on anything that the description does not contain. It
 * reads until sampling has ended and the buffer is empty, then prints
 * "image<TAB>counter<TAB>samples"; of call chains it counts the first sample. Samples in anonymous
 * memory are placed by their address in the process's maps: image "anon", or "unplaced"; or "gone"
 * if the process has ended.
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

enum { IMAGES_MAX = 20000, REGIONS_MAX = 200000, COUNTERS_MAX = 8, QUIET_MS = 1000 };

enum kind { FILE_IMAGE, KERNEL, ANON, UNPLACED, GONE };

struct image {
	uint64_t cookie; /* FILE_IMAGE */
	enum kind kind;
	uint64_t samples[COUNTERS_MAX];
};

/* Anonymous memory of a process. */
struct region {
	uint64_t tgid, start, end;
};

static struct image images[IMAGES_MAX], applications[IMAGES_MAX];
static size_t image_count, application_count;
static struct region regions[REGIONS_MAX];
static size_t region_count;
static unsigned long reads, frames, without_application;

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

static bool is_known(uint64_t tgid, uint64_t pc)
{
	for (size_t i = region_count; i--;)
		if (regions[i].tgid == tgid && regions[i].start <= pc && pc < regions[i].end)
			return true;
	return false;
}

/* Notes the anonymous memory of a process. Returns whether it has any memory, thus lives. */
static bool read_maps(uint64_t tgid)
{
	char path[64], line[4400];
	unsigned long long start, end, inode;
	bool lives = false;
	FILE *maps;

	(void)snprintf(path, sizeof(path), "/proc/%llu/maps", (unsigned long long)tgid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		lives = true;
		if (sscanf(line, "%llx-%llx %*s %*x %*s %llu", &start, &end, &inode) != 3 || inode)
			continue;
		if (region_count == REGIONS_MAX)
			die("too many regions", region_count);
		regions[region_count++] = (struct region){ tgid, start, end };
	}
	if (maps)
		(void)fclose(maps);
	return lives;
}

static enum kind place(uint64_t tgid, uint64_t pc)
{
	bool lives = is_known(tgid, pc) || read_maps(tgid);

	return is_known(tgid, pc) ? ANON : lives ? UNPLACED : GONE;
}

/* The entry of an image in a list; made if it is new. */
static struct image *find(struct image *list, size_t *length, enum kind kind, uint64_t cookie)
{
	size_t i = 0;

	while (i < *length && (list[i].kind != kind || list[i].cookie != cookie))
		i++;
	if (i == IMAGES_MAX)
		die("too many images", i);
	if (i == *length)
		list[(*length)++] = (struct image){ .kind = kind, .cookie = cookie };
	return &list[i];
}

/* What one read begins with. */
struct state {
	bool know_cpu, know_task, know_mode, know_cookie, kernel;
	enum { NO_TRACE, TRACE_STARTS, IN_TRACE } trace;
	uint64_t cookie, tgid;
};

static void count(const struct state *s, uint64_t pc, uint64_t counter)
{
	enum kind kind = s->kernel ? KERNEL : s->cookie ? FILE_IMAGE : place(s->tgid, pc);

	if (counter >= COUNTERS_MAX)
		die("counter", counter);
	find(images, &image_count, kind, kind == FILE_IMAGE ? s->cookie : 0)->samples[counter]++;
}

static void take_task(const uint64_t *w, struct state *s)
{
	s->know_task = true;
	s->tgid = w[6];
	if (w[3])
		(void)find(applications, &application_count, FILE_IMAGE, w[3]);
	else
		without_application++;
	/* Between the begin of a chain and its first sample it is the task of that chain. */
	if (s->trace == IN_TRACE)
		s->trace = NO_TRACE;
}

static size_t decode_code(const uint64_t *w, size_t left, struct state *s)
{
	if (left < 2)
		die("a code cut short", left);
	switch (w[1]) {
	case 1:
		if (left < 7 || w[4] != UINT64_MAX || w[5] != 7)
			die("a task without a thread group", left);
		take_task(w, s);
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
			count(&s, w[0], w[1]);
		if (s.trace == TRACE_STARTS)
			s.trace = IN_TRACE;
		n = 2;
	}
}

/* Reads the path of an image; fails if there is none. */
static void read_path(const char *mount, const struct image *image, char *name, size_t room)
{
	char path[4096];
	int fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/cookies/%llu", mount,
		       (unsigned long long)image->cookie);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, name, room - 1);
	if (n <= 0)
		die("cookie without a path", image->cookie);
	name[n - (name[n - 1] == '\n')] = '\0';
	(void)close(fd);
	if (*name != '/' && strcmp(name, "[vdso]") != 0)
		die("no path of a file", image->cookie);
}

static void print_image(const char *mount, const struct image *image)
{
	static const char *const names[] = { "", "kernel", "anon", "unplaced", "gone" };
	char name[4096];

	(void)snprintf(name, sizeof(name), "%s", names[image->kind]);
	if (image->kind == FILE_IMAGE)
		read_path(mount, image, name, sizeof(name));
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
	for (size_t i = 0; i < application_count; i++)
		read_path(argv[1], &applications[i], path, sizeof(path));
	(void)fprintf(stderr, "%lu reads, %lu frames, %lu times no application\n", reads, frames,
		      without_application);
	return 0;
}
