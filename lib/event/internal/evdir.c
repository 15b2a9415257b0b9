/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evdir.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Adds @path, which it takes. */
static void add(struct evdir *dirs, char *path)
{
	assert(dirs->count < EVDIR_MAX);
	dirs->paths[dirs->count++] = path;
}

/* Adds the first existing one of the directories relative to this executable. */
static void add_near_executable(struct evdir *dirs)
{
	static const char *const places[] = { "../share/oprofile", "../events", "../../events" };
	char exe[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	struct stat st;
	size_t i;

	if (length <= 0)
		return;
	exe[length] = '\0';
	*(char *)path_base(exe) = '\0';
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_free_ char *path = path_join(exe, places[i]);
		_cleanup_free_ char *known = path_join(path, "generic/events");

		if (stat(known, &st) == 0) {
			add(dirs, xrealpath(path) ?: STEAL(path));
			return;
		}
	}
}

void evdir_init(struct evdir *dirs)
{
	const char *from_env = getenv("OPROFILE_EVENTS_DIR"), *home = getenv("HOME");

	*dirs = (struct evdir){ 0 };
	if (from_env && *from_env)
		add(dirs, xstrdup(from_env));
	if (home && path_is_absolute(home))
		add(dirs, path_join(home, ".oprofile/events"));
	add(dirs, xstrdup("/etc/oprofile/events"));
	dirs->users = dirs->count;
	add_near_executable(dirs);
	add(dirs, xstrdup(OPROFILE_EVENTS_INSTALLED));
}

void evdir_done(struct evdir *dirs)
{
	size_t i;

	for (i = 0; i < dirs->count; i++)
		free(dirs->paths[i]);
	*dirs = (struct evdir){ 0 };
}

/* Returns whether @key names a directory below the search path, without "..". */
static bool key_is_below(const char *key)
{
	return *key && *key != '.' && *key != '/' && !strstr(key, "/.") && !strstr(key, "//");
}

/* Returns the index of the first directory, starting at @from, that has events of @key. */
static size_t find_directory(const struct evdir *dirs, const char *key, size_t from)
{
	struct stat st;
	size_t i;

	for (i = from; i < dirs->count; i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s/events", dirs->paths[i], key);

		if (stat(path, &st) == 0)
			break;
	}
	return i;
}

int evdir_source(void *data, const char *key, const char *name, size_t from,
		 struct evfile_text *ret, struct error *err)
{
	const struct evdir *dirs = data;
	size_t directory = find_directory(dirs, key, from);
	_cleanup_free_ char *path = NULL, *text = NULL;
	struct error why = ERROR_INIT;
	ssize_t length;

	if (!key_is_below(key) || directory >= dirs->count)
		return -ENOENT;
	path = xasprintf("%s/%s/%s", dirs->paths[directory], key, name);
	length = path_read(NULL, path, &text, &why);
	if (length == -ENOENT)
		return -ENOENT;
	if (length < 0)
		return error_set(err, (int)length, "%s", why.text);
	*ret = (struct evfile_text){ STEAL(text), STEAL(path), directory };
	return 0;
}

bool evdir_is_users(const struct evdir *dirs, const char *key)
{
	return find_directory(dirs, key, 0) < dirs->users;
}

char *evdir_text(const struct evdir *dirs)
{
	struct strbuf text = STRBUF_INIT;
	size_t i;

	for (i = 0; i < dirs->count; i++)
		strbuf_addf(&text, "%s%s", i ? ", " : "", dirs->paths[i]);
	return strbuf_take(&text);
}
