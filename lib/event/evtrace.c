/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/evtrace.h"

#include "base/mem.h"
#include "base/text.h"
#include "event/event_types.h"
#include "event/evprobe.h"
#include "event/evsys.h"
#include "file/path.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* Where tracefs may be mounted. */
static const char *const places[] = { "/sys/kernel/tracing/events",
				      "/sys/kernel/debug/tracing/events" };

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

/* Lists the directories below a path, sorted; returns their number, or -errno. */
static int list_below(const char *path, struct dirent ***ret)
{
	int count = scandir(path, ret, is_shown, alphasort);

	return count < 0 ? -errno : count;
}

static void free_names(struct dirent **names, int count)
{
	int i;

	for (i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* The directory of the groups, or of the group called @group; the caller frees. NULL: there is
 * none, for the reason in @ret. */
static char *directory_of(const char *root, const char *group, int *ret)
{
	size_t i;

	*ret = -ENOENT;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		char *path = xasprintf("%s%s%s%s", root, places[i], group ? "/" : "", group ?: "");

		if (access(path, R_OK | X_OK) == 0)
			return path;
		if (errno != ENOENT)
			*ret = -errno;
		free(path);
	}
	return NULL;
}

/* Whether the name can be a part of a path below a group. */
static bool is_plain(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-")];
}

bool evtrace_has_group(const char *root, const char *name)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (is_plain(name))
		path = directory_of(root, name, &r);
	return path;
}

/* Whether GROUP~NAME, as in names of sample files, is an event of a PMU rather than a tracepoint:
 * a few, such as msr, have the same name as a group of these. */
static bool is_of_pmu(const char *root, const char *group, const char *name)
{
	_cleanup_(evsys_pmu_done) struct evsys_pmu pmu = { 0 };
	_cleanup_free_ char *both = xasprintf("%s/%.*s", group, (int)strcspn(name, ":/~"), name);
	_cleanup_free_ char *path = NULL;
	int r;

	path = directory_of(root, both, &r);
	return !path && evsys_pmu(root, group, &pmu, NULL) == 0;
}

char *evtrace_join(const char *root, const char *spec)
{
	static const char word[] = "tracepoint:";
	const char *at = strncmp(spec, word, sizeof(word) - 1) ? spec : spec + sizeof(word) - 1;
	size_t length = strcspn(at, ":/~");
	_cleanup_free_ char *group = xstrndup(at, length);
	const char *name = at + length + 1;
	bool probe = evprobe_in_kernel(group), known = probe || evtrace_has_group(root, group);

	if (at[length] == '~')
		return known && (probe || !is_of_pmu(root, group, name)) ? xstrdup(at) : NULL;
	if (at[length] == ':' && probe && (isalpha((unsigned char)*name) || *name == '_'))
		return xasprintf("%s~%s", group, name);
	if (at[length] != ':' || !isalpha((unsigned char)*name) ||
	    strspn(name, "ukp") == strcspn(name, ":") || (!known && !islower((unsigned char)*at)))
		return NULL;
	return xasprintf("%s~%s", group, name);
}

/* Explains why tracepoints cannot be read. */
static int no_tracefs(int code, struct error *err)
{
	if (code == -ENOENT)
		return error_set(err, code,
				 "the kernel's tracepoints are not visible; mount -t tracefs "
				 "tracefs /sys/kernel/tracing");
	return error_errno(err, code, "only root may use the kernel's tracepoints: %s", places[0]);
}

struct nearest {
	const char *group, *wanted;
	unsigned int distance;
	char *name;
};

static void compare(const char *group, const char *name, void *data)
{
	struct nearest *n = data;
	_cleanup_free_ char *full = xasprintf("%s:%s", group, name);
	unsigned int distance = text_distance(n->wanted, full);

	if (distance >= n->distance)
		return;
	n->distance = distance;
	free(n->name);
	n->name = STEAL(full);
}

static int unknown(const char *root, const char *group, const char *name, struct error *err)
{
	_cleanup_free_ char *wanted = xasprintf("%s:%s", group, name);
	struct nearest n = { .wanted = wanted, .distance = (unsigned int)strlen(wanted) / 2 };
	int r = evtrace_each(root, compare, &n, err);

	if (r < 0)
		return r;
	if (n.name)
		r = error_set(err, -ENOENT, "no tracepoint %s; did you mean %s?", wanted, n.name);
	else
		r = error_set(err, -ENOENT,
			      "no tracepoint %s; ophelp --search=%s lists matching ones", wanted,
			      group);
	free(n.name);
	return r;
}

int evtrace_find(const char *root, const char *group, const char *name, uint64_t *ret_id,
		 struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places) && is_plain(group) && is_plain(name); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s/%s/id", places[i], group, name);

		if (path_read_u64(root, path, ret_id) == 0)
			return 0;
	}
	return unknown(root, group, name, err);
}

int evtrace_encode(const char *root, const char *group, const char *name, struct event *event,
		   struct error *err)
{
	if (evprobe_in_kernel(group))
		return evprobe_encode_kernel(root, group, name, event, err);
	event->perf_type = PERF_TYPE_TRACEPOINT;
	return evtrace_find(root, group, name, &event->perf_config, err);
}

int evtrace_each(const char *root, void (*each)(const char *group, const char *name, void *data),
		 void *data, struct error *err)
{
	struct dirent **groups, **names;
	int r, count, i, inner, j;
	_cleanup_free_ char *path = directory_of(root, NULL, &r);

	if (!path)
		return no_tracefs(r, err);
	count = list_below(path, &groups);
	if (count < 0)
		return no_tracefs(count, err);
	for (i = 0; i < count; i++) {
		_cleanup_free_ char *group = xasprintf("%s/%s", path, groups[i]->d_name);

		inner = list_below(group, &names);
		for (j = 0; j < inner; j++)
			each(groups[i]->d_name, names[j]->d_name, data);
		if (inner >= 0)
			free_names(names, inner);
	}
	free_names(groups, count);
	return 0;
}
