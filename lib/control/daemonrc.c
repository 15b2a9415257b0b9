/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/daemonrc.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

enum { LINE_MAX_BYTES = 8192 };

/* The effective user's home from the password database, as $HOME may be another user's after sudo.
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

static void keep_unknown(struct settings *s, const char *line)
{
	struct setting_list *list = &s->unknown;

	if (list->count == SETTINGS_UNKNOWN_MAX)
		return;
	array_grow(&list->items, list->count + 1, &list->room);
	list->items[list->count++] = xstrdup(line);
}

static int parse_line(const char *path, size_t number, const char *line, struct settings *s,
		      struct error *err)
{
	const char *equals = strchr(line, '=');
	_cleanup_free_ char *key = NULL;
	int r;

	if (!line[strspn(line, " \t\r")] || line[strspn(line, " \t")] == '#')
		return 0;
	key = equals ? xstrndup(line, (size_t)(equals - line)) : NULL;
	if (!key || !*key || key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")])
		return error_set(err, -EINVAL, "%s:%zu: not of the form KEY=VALUE", path, number);
	r = settings_set_key(s, key, equals + 1, err);
	if (r == -ENOENT) {
		log_warn("%s:%zu: unknown key %s is ignored, but kept", path, number, key);
		keep_unknown(s, line);
		return 0;
	}
	return r < 0 ? error_prefix(err, "%s:%zu", path, number) : 0;
}

static int parse_bytes(const char *path, size_t number, const char *text, size_t size,
		       struct settings *s, struct error *err)
{
	_cleanup_free_ char *line = NULL;

	if (size > LINE_MAX_BYTES)
		return error_set(err, -EINVAL, "%s:%zu: longer than %d bytes", path, number,
				 LINE_MAX_BYTES);
	if (memchr(text, '\0', size))
		return error_set(err, -EINVAL, "%s:%zu: not a text file", path, number);
	line = xstrndup(text, size);
	return parse_line(path, number, line, s, err);
}

/* Fails at the first bad line, or, if @skip_bad, warns of each and ignores it. */
static int parse(const char *path, const char *text, size_t size, bool skip_bad,
		 struct settings *ret, struct error *err)
{
	_cleanup_(settings_done) struct settings s = settings_default();
	const char *end = text + size, *newline;
	size_t number = 0;

	for (; text < end; text = newline + 1) {
		struct error why = ERROR_INIT;
		int r;

		newline = memchr(text, '\n', (size_t)(end - text)) ?: end;
		r = parse_bytes(path, ++number, text, (size_t)(newline - text), &s, &why);
		if (r < 0 && !skip_bad)
			return error_set(err, r, "%s", why.text);
		if (r < 0)
			log_warn("%s; the line is ignored", why.text);
	}
	settings_done(ret);
	*ret = s;
	s = settings_default();
	return 0;
}

int daemonrc_parse(const char *path, const char *text, size_t size, struct settings *ret,
		   struct error *err)
{
	return parse(path, text, size, false, ret, err);
}

static int read_file(const char *path, bool skip_bad, struct settings *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	ssize_t size = path_read(NULL, path, &text, err);

	return size < 0 ? (int)size : parse(path, text, (size_t)size, skip_bad, ret, err);
}

int daemonrc_read(const char *path, struct settings *ret, struct error *err)
{
	return read_file(path, false, ret, err);
}

int daemonrc_read_usable(const char *path, struct settings *ret, struct error *err)
{
	return read_file(path, true, ret, err);
}

void daemonrc_print(const struct settings *s, struct strbuf *out)
{
	enum setting_id id;
	size_t i;

	for (i = 0; i < s->events.count; i++)
		strbuf_addf(out, "CHOSEN_EVENTS_%zu=%s\n", i, s->events.items[i]);
	strbuf_addf(out, "NR_CHOSEN=%zu\n", s->events.count);
	for (id = 0; id < SETTING_COUNT_; id++) {
		_cleanup_free_ char *text = setting_key(id) ? settings_text(s, id) : NULL;

		if (text)
			strbuf_addf(out, "%s=%s\n", setting_key(id), text);
	}
	for (i = 0; i < s->unknown.count; i++)
		strbuf_addf(out, "%s\n", s->unknown.items[i]);
}

int daemonrc_write(const char *path, const struct settings *s, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	bool at_home = strstr(path, "/.oprofile/");
	int r;

	daemonrc_print(s, &out);
	r = path_make_parents(path, at_home ? 0700 : 0755, err);
	if (r < 0)
		return r;
	return path_write(path, strbuf_text(&out), at_home ? 0600 : 0644, err);
}
