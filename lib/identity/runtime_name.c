/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/runtime_name.h"

#include "base/json_strings.h"
#include "base/mem.h"
#include "file/path.h"
#include "sfile/session_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- Kubernetes --- */

/* Returns the name in that of a log, POD_NAMESPACE_CONTAINER-ID.log; NULL if it is not one of the
 * container. No part has "_" in it. */
static char *name_of_log(const char *log, const char *id)
{
	size_t length = strlen(log), tail = 1 + SESSION_NAMES_ID + strlen(".log");
	_cleanup_free_ char *pod = NULL;
	char *space, *container;

	if (length <= tail || log[length - tail] != '-' ||
	    memcmp(log + length - tail + 1, id, SESSION_NAMES_ID) != 0 ||
	    strcmp(log + length - strlen(".log"), ".log") != 0)
		return NULL;
	pod = xstrndup(log, length - tail);
	space = strchr(pod, '_');
	container = space ? strchr(space + 1, '_') : NULL;
	if (!container)
		return NULL;
	*space = *container = '\0';
	return xasprintf("%s/%s/%s", space + 1, pod, container + 1);
}

static char *find_in_logs(const char *root, const char *id)
{
	_cleanup_free_ char *path = path_under(root, "/var/log/containers");
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *logs = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	char *name = NULL;

	while (logs && !name && (e = readdir(logs)))
		name = name_of_log(e->d_name, id);
	if (logs)
		(void)closedir(logs);
	else if (fd >= 0)
		(void)close(fd);
	return name;
}

/* --- Docker --- */

static int take_docker_name(const struct json_string *s, void *data)
{
	char **name = data;

	if (s->depth != 1 || strcmp(s->key, "Name") != 0)
		return 0;
	*name = xstrdup(s->value + (*s->value == '/'));
	return 1;
}

static char *find_in_docker(const char *root, const char *id)
{
	_cleanup_free_ char *path = xasprintf("/var/lib/docker/containers/%.*s/config.v2.json",
					      SESSION_NAMES_ID, id),
			    *text = NULL;
	char *name = NULL;
	ssize_t size = path_read(root, path, &text, NULL);

	if (size > 0)
		(void)json_strings(text, (size_t)size, take_docker_name, &name);
	return name;
}

/* --- Podman --- */

struct podman_search {
	const char *id;
	bool is_it; /* what follows is about the container */
	char *name;
};

/* A list of objects, each with its id before its names. */
static int take_podman_name(const struct json_string *s, void *data)
{
	struct podman_search *search = data;

	if (s->depth == 2 && !strcmp(s->key, "id"))
		search->is_it = !strncmp(s->value, search->id, SESSION_NAMES_ID);
	if (!search->is_it || s->depth != 3 || strcmp(s->key, "names") != 0)
		return 0;
	search->name = xstrdup(s->value);
	return 1;
}

static char *find_in_podman(const char *root, const char *id)
{
	static const char *const paths[] = {
		"/var/lib/containers/storage/overlay-containers/containers.json",
		"/var/lib/containers/storage/overlay-containers/volatile-containers.json",
		"/var/lib/containers/storage/vfs-containers/containers.json",
		"/var/lib/containers/storage/vfs-containers/volatile-containers.json",
	};
	struct podman_search search = { .id = id };

	for (size_t i = 0; i < ARRAY_SIZE(paths) && !search.name; i++) {
		_cleanup_free_ char *text = NULL;
		ssize_t size = path_read(root, paths[i], &text, NULL);

		if (size > 0)
			(void)json_strings(text, (size_t)size, take_podman_name, &search);
	}
	return search.name;
}

char *runtime_name(const char *root, const char *id)
{
	char *name = find_in_logs(root, id) ?: find_in_docker(root, id) ?: find_in_podman(root, id);

	if (name && *name)
		return name;
	free(name);
	return NULL;
}
