/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/setup.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "file/procfs.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum field_kind { FIELD_TEXT, FIELD_NUMBER };

/* The plain fields. Events, which can be several, and the MHz are handled separately. */
static const struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;
} fields[] = {
	{ "driver", FIELD_TEXT, offsetof(struct setup, driver) },
	{ "cpu-type", FIELD_TEXT, offsetof(struct setup, cpu_type) },
	{ "separate", FIELD_TEXT, offsetof(struct setup, separate) },
	{ "cpu-model", FIELD_TEXT, offsetof(struct setup, cpu_model) },
	{ "rights", FIELD_TEXT, offsetof(struct setup, rights) },
	{ "cpus", FIELD_NUMBER, offsetof(struct setup, cpus) },
	{ "kernel", FIELD_TEXT, offsetof(struct setup, kernel) },
	{ "boot-id", FIELD_TEXT, offsetof(struct setup, boot_id) },
	{ "hostname", FIELD_TEXT, offsetof(struct setup, hostname) },
	{ "wander", FIELD_NUMBER, offsetof(struct setup, wander) },
	{ "started", FIELD_NUMBER, offsetof(struct setup, started) },
	{ "began", FIELD_NUMBER, offsetof(struct setup, began) },
	{ "ended", FIELD_NUMBER, offsetof(struct setup, ended) },
	{ "command", FIELD_TEXT, offsetof(struct setup, command) },
};

static char **text_of(struct setup *s, const struct field *field)
{
	return (char **)((char *)s + field->offset);
}

static uint64_t *number_of(struct setup *s, const struct field *field)
{
	return (uint64_t *)((char *)s + field->offset);
}

void setup_add_event(struct setup *s, const char *name, uint64_t count, uint64_t unit_mask,
		     uint64_t rate_hz)
{
	s->events = xreallocarray(s->events, s->event_count + 1, sizeof(*s->events));
	s->events[s->event_count++] =
		(struct setup_event){ xstrdup(name), count, unit_mask, rate_hz };
}

/* Returns the first line of a small file, or NULL; caller frees. */
static char *first_line(const char *root, const char *path)
{
	char *text = NULL;

	if (path_read(root, path, &text, NULL) < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

void setup_describe_machine(struct setup *s, const char *root)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	s->kernel = first_line(root, "/proc/sys/kernel/osrelease");
	s->boot_id = first_line(root, "/proc/sys/kernel/random/boot_id");
	s->hostname = first_line(root, "/proc/sys/kernel/hostname");
	s->cpus = cpus > 0 ? (uint64_t)cpus : 0;
	s->cpu_model = procfs_cpu_model(root);
	s->cpu_mhz = procfs_cpu_mhz(root);
	s->started = (uint64_t)time(NULL);
}

int setup_write(const char *samples, const struct setup *s, struct error *err)
{
	_cleanup_free_ char *path = path_join(samples, "setup");
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct setup *plain = (struct setup *)s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *text =
			fields[i].kind == FIELD_TEXT ? *text_of(plain, &fields[i]) : NULL;

		if (text)
			strbuf_addf(&b, "%s: %.*s\n", fields[i].key, (int)strcspn(text, "\n"),
				    text);
		else if (fields[i].kind == FIELD_NUMBER && *number_of(plain, &fields[i]))
			strbuf_addf(&b, "%s: %llu\n", fields[i].key,
				    (unsigned long long)*number_of(plain, &fields[i]));
	}
	if (s->cpu_mhz > 0)
		strbuf_addf(&b, "cpu-mhz: %.3f\n", s->cpu_mhz);
	for (i = 0; i < s->event_count; i++)
		strbuf_addf(&b, "event: %s %llu %llu %llu\n", s->events[i].name,
			    (unsigned long long)s->events[i].count,
			    (unsigned long long)s->events[i].unit_mask,
			    (unsigned long long)s->events[i].rate_hz);
	return path_write(path, strbuf_text(&b), 0644, err);
}

/* Parses "NAME count unitmask rate" and adds the event. Returns 0 or -EBADMSG. */
static int read_event(struct setup *s, const char *value)
{
	const char *at = value + strcspn(value, " ");
	_cleanup_free_ char *name = xstrndup(value, (size_t)(at - value));
	uint64_t numbers[3];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (*at++ != ' ' || parse_dec(&at, &numbers[i]) < 0)
			return -EBADMSG;
	if (*at || !*name)
		return -EBADMSG;
	setup_add_event(s, name, numbers[0], numbers[1], numbers[2]);
	return 0;
}

/* Returns the number at the start of @value, or 0 if there is none. */
static double read_mhz(const char *value)
{
	double mhz;

	return parse_decimal(&value, &mhz) == 0 ? mhz : 0;
}

/* Parses one line; unknown lines are ignored. */
static int read_line(const char *line, void *data)
{
	struct setup *s = data;
	const char *colon = strstr(line, ": ");
	size_t length, i;

	if (!colon)
		return 0;
	length = (size_t)(colon - line);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strlen(fields[i].key) != length || strncmp(fields[i].key, line, length))
			continue;
		if (fields[i].kind == FIELD_NUMBER) {
			(void)parse_u64(colon + 2, 0, UINT64_MAX, number_of(s, &fields[i]));
			return 0;
		}
		free(*text_of(s, &fields[i]));
		*text_of(s, &fields[i]) = xstrdup(colon + 2);
		return 0;
	}
	if (!strncmp(line, "event: ", 7))
		(void)read_event(s, colon + 2); /* a damaged line leaves the event unknown */
	else if (!strncmp(line, "cpu-mhz: ", 9))
		s->cpu_mhz = read_mhz(colon + 2);
	return 0;
}

int setup_read(const char *samples, struct setup *ret, struct error *err)
{
	_cleanup_free_ char *path = path_join(samples, "setup");
	_cleanup_free_ char *text = NULL;
	struct error why = ERROR_INIT;
	ssize_t r = path_read(NULL, path, &text, &why);

	if (r < 0 && r != -ENOENT && !err)
		log_warn("%s; how it was sampled is unknown", why.text);
	if (r < 0)
		return error_set(err, (int)r, "%s", why.text);
	*ret = (struct setup){ 0 };
	return parse_list(text, '\n', read_line, ret);
}

int setup_end(const char *samples, struct error *err)
{
	struct setup s = { 0 };
	int r = setup_read(samples, &s, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	s.ended = (uint64_t)time(NULL);
	r = setup_write(samples, &s, err);
	setup_done(&s);
	return r;
}

bool setup_is_missing(int at, const char *samples)
{
	_cleanup_free_ char *path = path_join(samples, "setup");

	return faccessat(at, path, F_OK, 0) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

void setup_done(struct setup *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].kind == FIELD_TEXT)
			free(*text_of(s, &fields[i]));
	for (i = 0; i < s->event_count; i++)
		free(s->events[i].name);
	free(s->events);
	*s = (struct setup){ 0 };
}
