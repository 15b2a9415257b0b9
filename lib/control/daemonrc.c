/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/daemonrc.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

enum { LINE_MAX_BYTES = 8192 };

enum key_kind {
	KEY_TEXT,   /* char * */
	KEY_SWITCH, /* bool, 0 or 1 */
	KEY_NUMBER, /* uint64_t */
	KEY_NOTED,  /* of the original, follows from the rest: read and dropped */
};

static const struct key {
	const char *name;
	enum key_kind kind;
	size_t offset; /* in struct daemonrc */
} keys[] = {
	{ "SESSION_DIR", KEY_TEXT, offsetof(struct daemonrc, session_dir) },
	{ "NR_CHOSEN", KEY_NOTED, 0 },
	{ "SEPARATE_LIB", KEY_SWITCH, offsetof(struct daemonrc, separate_lib) },
	{ "SEPARATE_KERNEL", KEY_SWITCH, offsetof(struct daemonrc, separate_kernel) },
	{ "SEPARATE_THREAD", KEY_SWITCH, offsetof(struct daemonrc, separate_thread) },
	{ "SEPARATE_CPU", KEY_SWITCH, offsetof(struct daemonrc, separate_cpu) },
	{ "SEPARATE_CGROUP", KEY_SWITCH, offsetof(struct daemonrc, separate_cgroup) },
	{ "CALLGRAPH", KEY_NUMBER, offsetof(struct daemonrc, callgraph) },
	{ "CALLGRAPH_MODE", KEY_TEXT, offsetof(struct daemonrc, callgraph_mode) },
	{ "UNWIND_MEMORY", KEY_TEXT, offsetof(struct daemonrc, unwind_memory) },
	{ "VMLINUX", KEY_TEXT, offsetof(struct daemonrc, vmlinux) },
	{ "KERNEL_RANGE", KEY_TEXT, offsetof(struct daemonrc, kernel_range) },
	{ "IMAGE_FILTER", KEY_TEXT, offsetof(struct daemonrc, image_filter) },
	{ "BUF_SIZE", KEY_NUMBER, offsetof(struct daemonrc, buffer_size) },
	{ "BUF_WATERSHED", KEY_NUMBER, offsetof(struct daemonrc, buffer_watershed) },
	{ "CPU_BUF_SIZE", KEY_NUMBER, offsetof(struct daemonrc, cpu_buffer_size) },
	{ "DRIVER", KEY_TEXT, offsetof(struct daemonrc, driver) },
	{ "RATE", KEY_NUMBER, offsetof(struct daemonrc, rate) },
	{ "BUDGET", KEY_TEXT, offsetof(struct daemonrc, budget) },
	{ "MAX_MEMORY", KEY_TEXT, offsetof(struct daemonrc, max_memory) },
	{ "MAX_DISK", KEY_TEXT, offsetof(struct daemonrc, max_disk) },
	{ "KEEP_FREE", KEY_TEXT, offsetof(struct daemonrc, keep_free) },
	{ "MAX_FILES", KEY_TEXT, offsetof(struct daemonrc, max_files) },
	{ "VERBOSE", KEY_TEXT, offsetof(struct daemonrc, verbose) },
	{ "EXT_FEATURE", KEY_TEXT, offsetof(struct daemonrc, ext_feature) },
	{ "SOCKET_GROUP", KEY_TEXT, offsetof(struct daemonrc, socket_group) },
	{ "SESSION_MODE", KEY_TEXT, offsetof(struct daemonrc, session_mode) },
	{ "USER", KEY_TEXT, offsetof(struct daemonrc, user) },
};

static const char events_prefix[] = "CHOSEN_EVENTS_";

static void list_add(struct daemonrc_list *list, const char *text)
{
	array_grow(&list->items, list->count + 1, &list->room);
	list->items[list->count++] = xstrdup(text);
}

static void list_done(struct daemonrc_list *list)
{
	while (list->count)
		free(list->items[--list->count]);
	free(list->items);
	*list = (struct daemonrc_list){ 0 };
}

static void *field(const struct daemonrc *rc, const struct key *key)
{
	return (char *)rc + key->offset;
}

void daemonrc_done(struct daemonrc *rc)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].kind == KEY_TEXT)
			free(*(char **)field(rc, &keys[i]));
	list_done(&rc->events);
	list_done(&rc->unknown);
	*rc = DAEMONRC_INIT;
}

/* The home of the effective user as the password file has it: sudo may have left $HOME another's.
 * Caller frees; NULL for a user without one. */
static char *home(void)
{
	const struct passwd *user = getpwuid(geteuid());

	return user && user->pw_dir && path_is_absolute(user->pw_dir) ? xstrdup(user->pw_dir)
								      : NULL;
}

char *daemonrc_path(const char *given, bool write)
{
	static const char system_path[] = "/etc/oprofile/daemonrc";
	const char *environment = getenv("OPROFILE_DAEMONRC");
	_cleanup_free_ char *dir = NULL, *own = NULL;

	if (given || (environment && *environment))
		return path_absolute(given ? given : environment);
	dir = home();
	own = dir ? path_join(dir, ".oprofile/daemonrc") : NULL;
	if (own && (access(own, F_OK) == 0 || (write && geteuid() != 0)))
		return STEAL(own);
	return xstrdup(system_path);
}

static const struct key *find_key(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

/* Whether @value survives as the rest of a line. */
static bool fits_a_line(const char *value)
{
	const unsigned char *at = (const unsigned char *)value;

	if (strlen(value) > LINE_MAX_BYTES - 64)
		return false;
	for (; *at; at++)
		if (*at < ' ' || *at == 0x7f)
			return false;
	return true;
}

int daemonrc_add_event(struct daemonrc *rc, const char *event, struct error *err)
{
	if (rc->events.count == DAEMONRC_EVENTS_MAX)
		return error_set(err, -EINVAL, "more than %d events", DAEMONRC_EVENTS_MAX);
	if (!*event || !fits_a_line(event))
		return error_set(err, -EINVAL, "an event is empty or has control characters in it");
	list_add(&rc->events, event);
	return 0;
}

void daemonrc_clear_events(struct daemonrc *rc)
{
	list_done(&rc->events);
}

/* CHOSEN_EVENTS_n: they count in the order of the file, n need not be without gaps. */
static int set_event(struct daemonrc *rc, const char *number, const char *value, struct error *err)
{
	uint64_t n;

	if (parse_u64(number, 0, UINT32_MAX, &n) < 0)
		return error_set(err, -EINVAL, "%s%s: no number behind the last '_'", events_prefix,
				 number);
	return *value ? daemonrc_add_event(rc, value, err) : 0;
}

static int set_number(const struct key *key, const char *value, uint64_t max, uint64_t *ret,
		      struct error *err)
{
	uint64_t number = 0;

	if (*value && parse_u64(value, 0, max, &number) < 0)
		return error_set(err, -EINVAL, "%s: '%s' is not %s", key->name, value,
				 max == 1 ? "0 or 1" : "a number in range");
	*ret = number;
	return 0;
}

int daemonrc_set(struct daemonrc *rc, const char *name, const char *value, struct error *err)
{
	const struct key *key = find_key(name);
	uint64_t number = 0;
	int r;

	if (!strncmp(name, events_prefix, strlen(events_prefix)))
		return set_event(rc, name + strlen(events_prefix), value, err);
	if (!key)
		return error_set(err, -ENOENT, "unknown key %s", name);
	switch (key->kind) {
	case KEY_TEXT:
		if (!fits_a_line(value))
			return error_set(err, -EINVAL,
					 "%s: too long, or has control characters in it", name);
		free(*(char **)field(rc, key));
		*(char **)field(rc, key) = *value ? xstrdup(value) : NULL;
		return 0;
	case KEY_SWITCH:
		r = set_number(key, value, 1, &number, err);
		if (r == 0)
			*(bool *)field(rc, key) = number;
		return r;
	case KEY_NUMBER:
		return set_number(key, value, UINT32_MAX, field(rc, key), err);
	case KEY_NOTED:
		break;
	}
	return 0;
}

static void keep_unknown(struct daemonrc *rc, const char *path, size_t number, const char *line,
			 const char *key)
{
	log_warn("%s:%zu: unknown key %s is left alone", path, number, key);
	if (rc->unknown.count < DAEMONRC_UNKNOWN_MAX)
		list_add(&rc->unknown, line);
}

static int parse_line(const char *path, size_t number, const char *line, struct daemonrc *rc,
		      struct error *err)
{
	const char *equals = strchr(line, '=');
	_cleanup_free_ char *key = NULL;
	int r;

	if (!line[strspn(line, " \t\r")] || line[strspn(line, " \t")] == '#')
		return 0;
	if (!equals || equals == line)
		return error_set(err, -EINVAL, "%s:%zu: not of the form KEY=VALUE", path, number);
	key = xstrndup(line, (size_t)(equals - line));
	if (!fits_a_line(line) || key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")])
		return error_set(err, -EINVAL, "%s:%zu: not of the form KEY=VALUE", path, number);
	r = daemonrc_set(rc, key, equals + 1, err);
	if (r == -ENOENT) {
		keep_unknown(rc, path, number, line, key);
		return 0;
	}
	if (r < 0)
		(void)error_prefix(err, "%s:%zu", path, number);
	return r;
}

int daemonrc_parse(const char *path, const char *text, size_t size, struct daemonrc *ret,
		   struct error *err)
{
	_cleanup_(daemonrc_done) struct daemonrc rc = DAEMONRC_INIT;
	const char *end = text + size, *newline;
	size_t number = 0;
	int r;

	for (; text < end; text = newline + 1) {
		_cleanup_free_ char *line = NULL;

		number++;
		newline = memchr(text, '\n', (size_t)(end - text)) ?: end;
		if (newline - text > LINE_MAX_BYTES)
			return error_set(err, -EINVAL, "%s:%zu: longer than %d bytes", path, number,
					 LINE_MAX_BYTES);
		if (memchr(text, '\0', (size_t)(newline - text)))
			return error_set(err, -EINVAL, "%s:%zu: not a text file", path, number);
		line = xstrndup(text, (size_t)(newline - text));
		r = parse_line(path, number, line, &rc, err);
		if (r < 0)
			return r;
	}
	*ret = rc;
	rc = DAEMONRC_INIT;
	return 0;
}

int daemonrc_read(const char *path, struct daemonrc *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	ssize_t size = path_read(NULL, path, &text, err);

	if (size < 0)
		return (int)size;
	return daemonrc_parse(path, text, (size_t)size, ret, err);
}

char *daemonrc_events(const struct daemonrc *rc)
{
	struct strbuf out = STRBUF_INIT;
	size_t i;

	for (i = 0; i < rc->events.count; i++)
		strbuf_addf(&out, "%s%s", i ? "," : "", rc->events.items[i]);
	return rc->events.count ? strbuf_take(&out) : NULL;
}

char *daemonrc_separate(const struct daemonrc *rc)
{
	struct strbuf out = STRBUF_INIT;
	const struct {
		bool on;
		const char *name;
	} rows[] = {
		{ rc->separate_lib && !rc->separate_kernel, "library" },
		{ rc->separate_kernel, "kernel" },
		{ rc->separate_thread, "thread" },
		{ rc->separate_cpu, "cpu" },
		{ rc->separate_cgroup, "cgroup" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].on)
			strbuf_addf(&out, "%s%s", out.length ? "," : "", rows[i].name);
	return out.length ? strbuf_take(&out) : xstrdup("none");
}

/* A hexadecimal number with or without 0x. */
static int take_hex(const char **at, uint64_t *ret)
{
	if ((*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		*at += 2;
	return parse_hex(at, ret);
}

int daemonrc_mode(const struct daemonrc *rc, mode_t *ret, struct error *err)
{
	const char *text = rc->session_mode ?: "750";
	unsigned int mode;
	int end = 0;

	if (sscanf(text, "%4o%n", &mode, &end) != 1 || text[end] || mode & ~07755u ||
	    (mode & 0700) != 0700)
		return error_set(
			err, -EINVAL,
			"SESSION_MODE: '%s' is no mode for a session directory, such as 750 or 755",
			text);
	*ret = (mode_t)mode;
	return 0;
}

int daemonrc_kernel_range(const struct daemonrc *rc, uint64_t *ret_start, uint64_t *ret_end,
			  struct error *err)
{
	const char *at = rc->kernel_range;
	uint64_t start = 0, end = 0;

	if (at && (take_hex(&at, &start) < 0 || *at++ != ',' || take_hex(&at, &end) < 0 || *at ||
		   start >= end))
		return error_set(err, -EINVAL,
				 "kernel range '%s' is not START,END in hexadecimal digits",
				 rc->kernel_range);
	*ret_start = start;
	*ret_end = end;
	return 0;
}

static void print_key(const struct daemonrc *rc, const struct key *key, struct strbuf *out)
{
	const char *text;

	switch (key->kind) {
	case KEY_TEXT:
		text = *(char **)field(rc, key);
		if (text)
			strbuf_addf(out, "%s=%s\n", key->name, text);
		break;
	case KEY_SWITCH:
		strbuf_addf(out, "%s=%d\n", key->name, *(bool *)field(rc, key));
		break;
	case KEY_NUMBER:
		strbuf_addf(out, "%s=%llu\n", key->name,
			    (unsigned long long)*(uint64_t *)field(rc, key));
		break;
	case KEY_NOTED:
		break;
	}
}

void daemonrc_print(const struct daemonrc *rc, struct strbuf *out)
{
	size_t i;

	for (i = 0; i < rc->events.count; i++)
		strbuf_addf(out, "%s%zu=%s\n", events_prefix, i, rc->events.items[i]);
	strbuf_addf(out, "NR_CHOSEN=%zu\n", rc->events.count);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		print_key(rc, &keys[i], out);
	for (i = 0; i < rc->unknown.count; i++)
		strbuf_addf(out, "%s\n", rc->unknown.items[i]);
}

int daemonrc_write(const char *path, const struct daemonrc *rc, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	bool at_home = strstr(path, "/.oprofile/");
	int r;

	daemonrc_print(rc, &out);
	r = path_make_parents(path, at_home ? 0700 : 0755, err);
	if (r < 0)
		return r;
	return path_write(path, strbuf_text(&out), at_home ? 0600 : 0644, err);
}
