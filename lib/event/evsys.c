/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/evsys.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/path.h"
#include "event/event_types.h"
#include "event/internal/evlist.h"
#include "event/internal/evterm.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char devices[] = "/sys/bus/event_source/devices";

/* Lists a directory of a machine, sorted, without names that start with a dot. Returns their number
 * or -errno; the caller frees the list with free_names(). */
static int list_names(const char *root, const char *directory, struct dirent ***ret)
{
	_cleanup_free_ char *path = path_under(root, directory);
	int count = scandir(path, ret, NULL, alphasort), kept = 0, i;

	for (i = 0; i < count; i++) {
		if ((*ret)[i]->d_name[0] == '.')
			free((*ret)[i]);
		else
			(*ret)[kept++] = (*ret)[i];
	}
	return count < 0 ? -errno : kept;
}

static void free_names(struct dirent **names, int count)
{
	int i;

	for (i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* Returns the first line of a PMU's file, or NULL if the file is missing; the caller frees it. */
static char *read_line(const char *root, const char *pmu, const char *file)
{
	_cleanup_free_ char *path = xasprintf("%s/%s/%s", devices, pmu, file);
	char *text = NULL;

	if (path_read(root, path, &text, NULL) < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static bool read_number(const char *root, const char *pmu, const char *file, uint64_t *ret)
{
	_cleanup_free_ char *path = xasprintf("%s/%s/%s", devices, pmu, file);

	return path_read_u64(root, path, ret) == 0;
}

static bool read_pmu(const char *root, const char *name, struct evsys_pmu *ret)
{
	uint64_t type, precise;

	if (strchr(name, '/') || *name == '.' || !read_number(root, name, "type", &type))
		return false;
	if (!read_number(root, name, "caps/max_precise", &precise))
		precise = UINT64_MAX;
	*ret = (struct evsys_pmu){ .name = xstrdup(name),
				   .type = (uint32_t)type,
				   .cpus = read_line(root, name, "cpus"),
				   .cpumask = read_line(root, name, "cpumask"),
				   .max_precise = precise };
	return true;
}

void evsys_pmu_done(struct evsys_pmu *pmu)
{
	free(pmu->name);
	free(pmu->cpus);
	free(pmu->cpumask);
	*pmu = (struct evsys_pmu){ 0 };
}

/* Calls @each for every PMU, sorted by name, until a call returns non-zero. Returns that value,
 * else 0. */
static int each_pmu(const char *root, int (*each)(const struct evsys_pmu *pmu, void *data),
		    void *data)
{
	struct dirent **names;
	int count = list_names(root, devices, &names), i, r = 0;

	for (i = 0; i < count && r == 0; i++) {
		struct evsys_pmu pmu;

		if (!read_pmu(root, names[i]->d_name, &pmu))
			continue;
		r = each(&pmu, data);
		evsys_pmu_done(&pmu);
	}
	if (count >= 0)
		free_names(names, count);
	return r;
}

/* --- similar names --- */

struct nearest {
	const char *wanted;
	char name[EVTERM_NAME_MAX];
	unsigned int distance;
};

static void consider(struct nearest *n, const char *name)
{
	unsigned int distance = text_distance(n->wanted, name);

	if (distance >= n->distance || strlen(name) >= sizeof(n->name))
		return;
	n->distance = distance;
	strcpy(n->name, name);
}

static void consider_all(struct nearest *n, const char *root, const char *pmu, const char *what)
{
	_cleanup_free_ char *directory = xasprintf("%s/%s/%s", devices, pmu, what);
	struct dirent **names;
	int count = list_names(root, directory, &names), i;

	for (i = 0; i < count; i++)
		consider(n, names[i]->d_name);
	if (count >= 0)
		free_names(names, count);
}

static int consider_pmu(const struct evsys_pmu *pmu, void *data)
{
	consider(data, pmu->name);
	return 0;
}

static struct nearest nearest_to(const char *wanted)
{
	/* At least 3, so that two swapped letters, a distance of 2, are recognized in short
	 * names. */
	return (struct nearest){ .wanted = wanted,
				 .distance = MAX(3U, (unsigned int)strlen(wanted) / 2 + 1) };
}

int evsys_pmu(const char *root, const char *name, struct evsys_pmu *ret, struct error *err)
{
	struct nearest n = nearest_to(name);

	if (read_pmu(root, name, ret))
		return 0;
	(void)each_pmu(root, consider_pmu, &n);
	if (*n.name)
		return error_set(err, -ENOENT, "no PMU '%s'; did you mean %s?", name, n.name);
	return error_set(err, -ENOENT, "no PMU '%s' in %s", name, devices);
}

/* --- cores of several types --- */

struct core_types {
	struct evsys_pmu *pmus;
	size_t count, room;
	const char *root;
};

static int add_core_type(const struct evsys_pmu *pmu, void *data)
{
	struct core_types *list = data;

	if (!pmu->cpus)
		return 0;
	array_grow(&list->pmus, list->count + 1, &list->room);
	list->count += read_pmu(list->root, pmu->name, &list->pmus[list->count]);
	return 0;
}

size_t evsys_core_types(const char *root, struct evsys_pmu **ret)
{
	struct core_types list = { .root = root };
	size_t i;

	(void)each_pmu(root, add_core_type, &list);
	if (list.count > 1) {
		*ret = list.pmus;
		return list.count;
	}
	for (i = 0; i < list.count; i++)
		evsys_pmu_done(&list.pmus[i]);
	free(list.pmus);
	return 0;
}

/* --- programming --- */

struct encoding {
	const char *root;
	const struct evsys_pmu *pmu;
	uint64_t words[EVTERM_WORDS];
	char open[EVTERM_NAME_MAX]; /* a term whose value the user must supply */
	unsigned int aliases;	    /* number of kernel events named */
	struct error *err;
};

/* Makes the format of a whole word, "config" or "config1"; returns false for any other name. */
static bool is_word(const char *name, struct evformat *ret)
{
	_cleanup_free_ char *format = xasprintf("%s:0-63", name);

	return evformat_parse(format, ret) == 0;
}

static int bad_format(const struct encoding *e, const char *name, const char *text)
{
	return error_set(e->err, -EINVAL, "%s/%s/format/%s: '%s' is not a format", devices,
			 e->pmu->name, name, text);
}

/* Stores @term if it has a format. Returns 1, 0 if it has none, or -EINVAL. */
static int put_format(struct encoding *e, const struct evterm *term)
{
	_cleanup_free_ char *file = xasprintf("format/%s", term->name);
	_cleanup_free_ char *text =
		strchr(term->name, '/') ? NULL : read_line(e->root, e->pmu->name, file);
	struct evformat format;

	if (text && evformat_parse(text, &format) < 0)
		return bad_format(e, term->name, text);
	if (!text && !is_word(term->name, &format))
		return 0;
	if (term->open) {
		strcpy(e->open, term->name);
		return 1;
	}
	if (!strcmp(e->open, term->name))
		*e->open = '\0';
	if (evformat_put(&format, term->value, e->words) < 0)
		return error_set(e->err, -EINVAL, "%s=%#" PRIx64 " of PMU %s does not fit into %s",
				 term->name, term->value, e->pmu->name, text);
	return 1;
}

/* Returns the terms of the kernel event that @term names, or NULL if it names none; the caller
 * frees it. */
static char *alias_of(const struct encoding *e, const struct evterm *term)
{
	_cleanup_free_ char *file = xasprintf("events/%s", term->name);

	return term->given || strpbrk(term->name, "/.") ? NULL
							: read_line(e->root, e->pmu->name, file);
}

static int unknown_term(struct encoding *e, const struct evterm *term)
{
	struct nearest n = nearest_to(term->name);

	consider_all(&n, e->root, e->pmu->name, "format");
	if (!term->given)
		consider_all(&n, e->root, e->pmu->name, "events");
	if (*n.name)
		return error_set(e->err, -EINVAL, "PMU %s has no '%s'; did you mean %s?",
				 e->pmu->name, term->name, n.name);
	return error_set(e->err, -EINVAL, "PMU %s has no '%s'", e->pmu->name, term->name);
}

static int put_term(const struct evterm *term, void *data)
{
	int r = put_format(data, term);

	return r < 0 ? r : r == 0 ? unknown_term(data, term) : 0;
}

/* Stores a kernel event's terms. This is done before all other terms, so that these override it
 * wherever they appear in the list. */
static int put_alias(const struct evterm *term, void *data)
{
	struct encoding *e = data;
	_cleanup_free_ char *text = alias_of(e, term);

	if (!text)
		return 0;
	if (e->aliases++)
		return error_set(e->err, -EINVAL, "%s names a second event of PMU %s", term->name,
				 e->pmu->name);
	if (evterm_each(text, put_term, e) < 0)
		return error_set(e->err, -EINVAL, "%s/%s/events/%s: '%s' cannot be programmed",
				 devices, e->pmu->name, term->name, text);
	return 0;
}

static int put_rest(const struct evterm *term, void *data)
{
	_cleanup_free_ char *text = alias_of(data, term);

	return text ? 0 : put_term(term, data);
}

int evsys_encode(const char *root, const struct evsys_pmu *pmu, const char *terms,
		 struct event *event, struct error *err)
{
	struct error reason = ERROR_INIT;
	struct encoding e = { .root = root, .pmu = pmu, .err = &reason };
	int r = evterm_each(terms, put_alias, &e);

	if (r == 0)
		r = evterm_each(terms, put_rest, &e);
	if (r < 0 && !reason.code)
		return error_set(err, -EINVAL,
				 "'%s' is not a list of terms of PMU %s: NAME=NUMBER,NAME,...",
				 terms, pmu->name);
	if (r < 0)
		return error_set(err, -EINVAL, "%s", reason.text);
	if (*e.open)
		return error_set(err, -EINVAL, "PMU %s: %s=NUMBER is required as well", pmu->name,
				 e.open);
	if (e.words[EVTERM_CONFIG3])
		return error_set(err, -EINVAL, "PMU %s: config3 is not supported", pmu->name);
	event->perf_type = pmu->type;
	event->perf_config = e.words[EVTERM_CONFIG];
	event->perf_config1 = e.words[EVTERM_CONFIG1];
	event->perf_config2 = e.words[EVTERM_CONFIG2];
	return 0;
}

/* --- the list --- */

struct listing {
	const char *root;
	struct evlist *list;
};

static void add_event(const struct listing *l, const struct evsys_pmu *pmu, const char *name)
{
	_cleanup_free_ char *file = xasprintf("events/%s", name);
	_cleanup_free_ char *full = xasprintf("%s/%s/", pmu->name, name);
	_cleanup_free_ char *terms = read_line(l->root, pmu->name, file);
	_cleanup_free_ char *text = xasprintf("The kernel's: %s", terms ?: "");
	struct arena *arena = &l->list->arena;

	/* "NAME.scale" and similar files describe how to interpret NAME. */
	if (!terms || strchr(name, '.') || strlen(full) >= EVENT_NAME_MAX)
		return;
	(void)evlist_add(l->list, &(struct catalog_event){ .name = arena_strdup(arena, full),
							   .description = arena_strdup(arena, text),
							   .kind = CATALOG_COUNTER,
							   .pmu = arena_strdup(arena, pmu->name),
							   .outside_cores = pmu->cpumask != NULL,
							   .counters = UINT64_MAX,
							   .minimum = EVENT_RAW_MINIMUM,
							   .count = EVENT_RAW_COUNT,
							   .perf_type = pmu->type });
}

static int add_events(const struct evsys_pmu *pmu, void *data)
{
	const struct listing *l = data;
	_cleanup_free_ char *directory = xasprintf("%s/%s/events", devices, pmu->name);
	struct dirent **names;
	int count = list_names(l->root, directory, &names), i;

	for (i = 0; i < count; i++)
		add_event(l, pmu, names[i]->d_name);
	if (count >= 0)
		free_names(names, count);
	return 0;
}

void evsys_read(const char *root, struct evlist *list)
{
	struct listing l = { root, list };

	(void)each_pmu(root, add_events, &l);
}
