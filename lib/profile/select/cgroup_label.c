/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/cgroup_label.h"

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "sfile/session_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Digits of ids as tools show them; those of a pod's id up to the first dash. */
enum { ID_SHOWN = 12, POD_SHOWN = 8 };

/* A part of a path is a prefix, an id and perhaps ".scope". The first that fits counts. */
static const struct {
	const char *prefix, *kind;
} runtimes[] = {
	{ "docker-", "docker" },
	{ "libpod-conmon-", "podman-monitor" },
	{ "libpod-", "podman" },
	{ "cri-containerd-", "containerd" },
	{ "crio-conmon-", "crio-monitor" },
	{ "crio-", "crio" },
	{ "nerdctl-", "nerdctl" },
	{ "", "container" },
};

/* A part of a path is a prefix, a name and perhaps ".scope". */
static const struct {
	const char *prefix, *kind;
} machines[] = { { "machine-", "machine" }, { "lxc.payload.", "lxc" } };

/* A part of a path, not terminated. */
struct part {
	const char *text;
	size_t length;
};

static bool starts_with(const struct part *part, const char *prefix)
{
	size_t length = strlen(prefix);

	return part->length > length && !strncmp(part->text, prefix, length);
}

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* Adds the name or the id of a container of @kind; in a pod, to that of the pod. */
static void add_id(struct strbuf *out, const char *kind, const char *id, const char *name,
		   bool in_pod)
{
	if (in_pod && name)
		strbuf_clear(out);
	if (!in_pod)
		strbuf_addf(out, "%s:", kind);
	else
		strbuf_adds(out, name ? "pod:" : "/");
	if (name)
		strbuf_adds(out, name);
	else
		strbuf_add(out, id, ID_SHOWN);
}

/* Adds "KIND:NAME", or the id, if the part, below one called @parent, is that of a container. */
static bool add_container(struct strbuf *out, const struct session_names *names,
			  const struct part *part, const struct part *parent, bool in_pod)
{
	bool of_docker = parent->length == 6 && !strncmp(parent->text, "docker", 6);

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		const char *prefix = runtimes[i].prefix, *id = part->text + strlen(prefix);

		if (!starts_with(part, prefix) || hex_digits(id) != SESSION_NAMES_ID)
			continue;
		add_id(out, !*prefix && of_docker ? "docker" : runtimes[i].kind, id,
		       session_names_container(names, id), in_pod);
		return true;
	}
	return false;
}

/* Adds "pod:ID" if the part is that of a pod: "pod" and a UUID, after a dash or at the start. */
static bool add_pod(struct strbuf *out, const struct part *part)
{
	const char *end = part->text + part->length;

	for (const char *at = part->text; at + strlen("pod") + POD_SHOWN < end; at++)
		if (!strncmp(at, "pod", 3) && hex_digits(at + 3) == POD_SHOWN &&
		    strchr("-_", at[3 + POD_SHOWN]) && (at == part->text || at[-1] == '-')) {
			strbuf_addf(out, "pod:%.*s", POD_SHOWN, at + 3);
			return true;
		}
	return false;
}

/* Adds "KIND:NAME" if the part is that of a machine; "\x2d" in names is systemd's form of "-". */
static bool add_machine(struct strbuf *out, const struct part *part)
{
	static const char escape[] = "\\x2d", scope[] = ".scope";
	size_t length = part->length;

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (!starts_with(part, machines[i].prefix))
			continue;
		if (length > strlen(scope) &&
		    !strncmp(part->text + length - strlen(scope), scope, strlen(scope)))
			length -= strlen(scope);
		strbuf_addf(out, "%s:", machines[i].kind);
		for (size_t at = strlen(machines[i].prefix); at < length; at++)
			if (length - at >= strlen(escape) &&
			    !strncmp(part->text + at, escape, strlen(escape))) {
				strbuf_adds(out, "-");
				at += strlen(escape) - 1;
			} else {
				strbuf_add(out, part->text + at, 1);
			}
		return true;
	}
	return false;
}

char *cgroup_label(const struct session_names *names, const char *path)
{
	_cleanup_(strbuf_done) struct strbuf label = STRBUF_INIT;
	struct part parent = { "", 0 };
	bool in_pod = false, whole = false;
	const char *rest = path;

	while (!whole && *rest) {
		struct part part = { rest + (*rest == '/'), 0 };

		part.length = strcspn(part.text, "/");
		rest = part.text + part.length;
		whole = add_container(&label, names, &part, &parent, in_pod) ||
			(!in_pod && add_machine(&label, &part));
		in_pod = in_pod || (!whole && add_pod(&label, &part));
		parent = part;
	}
	/* podman runs a container in a cgroup of this name below that of the container. */
	if (whole && strcmp(rest, "/container") != 0)
		strbuf_adds(&label, rest);
	return label.length ? strbuf_take(&label) : NULL;
}

char *cgroup_short_name(const struct session_names *names, const char *path)
{
	char *label = cgroup_label(names, path);

	return label ?: xstrdup(*path_base(path) ? path_base(path) : path);
}

const char **cgroup_names(const struct session_names *names, const char *const *paths, size_t count,
			  struct intern *texts)
{
	const char **ret = xcalloc(count + 1, sizeof(*ret));
	struct map by_name = MAP_INIT; /* the first path of a name; @ret: several have it */
	size_t i;

	for (i = 0; i < count; i++) {
		const char *path = paths[i] ?: "all";
		_cleanup_free_ char *name = NULL;
		const void *first;

		if (i && !strcmp(paths[i - 1] ?: "all", path)) {
			ret[i] = ret[i - 1];
			continue;
		}
		name = cgroup_short_name(names, path);
		ret[i] = intern(texts, name);
		first = map_get(&by_name, (uintptr_t)ret[i]);
		if (!first || (first != ret && strcmp(first, path) != 0))
			(void)map_set(&by_name, (uintptr_t)ret[i],
				      first ? (void *)ret : (void *)path);
	}
	for (i = 0; i < count; i++)
		if (map_get(&by_name, (uintptr_t)ret[i]) == ret)
			ret[i] = intern(texts, paths[i] ?: "all");
	map_done(&by_name);
	return ret;
}
