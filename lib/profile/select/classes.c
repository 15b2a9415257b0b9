/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/classes.h"

#include "base/intern.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/select/cgroup_label.h"
#include "profile/select/gather.h"
#include "sfile/session_names.h"
#include "sfile/sname_event.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned int bits;
} merges[] = {
	{ "cgroup", CLASSES_MERGE_CGROUP },
	{ "comm", CLASSES_MERGE_COMM },
	{ "cpu", CLASSES_MERGE_CPU },
	{ "tid", CLASSES_MERGE_TID },
	{ "tgid", CLASSES_MERGE_TGID | CLASSES_MERGE_TID },
	{ "unitmask", CLASSES_MERGE_UNIT_MASK },
	{ "lib", CLASSES_MERGE_LIB },
	{ "runtime", CLASSES_MERGE_RUNTIME },
	{ "all", CLASSES_MERGE_ALL },
};

static int compare_int(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_event(const struct class *a, const struct class *b)
{
	int r = a->event == b->event ? 0 : strcmp(a->event, b->event);

	r = r ? r : compare_int(a->count, b->count);
	return r ? r : compare_int(a->unit_mask, b->unit_mask);
}

static int compare_host(const struct class *a, const struct class *b)
{
	return strcmp(a->host ?: "", b->host ?: "");
}

static int compare_cgroup(const struct class *a, const struct class *b)
{
	return strcmp(a->task.cgroup ?: "", b->task.cgroup ?: "");
}

static int compare_comm(const struct class *a, const struct class *b)
{
	return strcmp(a->task.comm ?: "", b->task.comm ?: "");
}

static int compare_tgid(const struct class *a, const struct class *b)
{
	return compare_int(a->task.tgid, b->task.tgid);
}

static int compare_tid(const struct class *a, const struct class *b)
{
	return compare_int(a->task.tid, b->task.tid);
}

static int compare_cpu(const struct class *a, const struct class *b)
{
	return compare_int(a->task.cpu, b->task.cpu);
}

/* An axis along which classes differ, in the words of a specification: its tag, the placeholder of
 * its values in help, the option that merges it (NULL: none), the value of a class. */
struct difference {
	const char *tag, *placeholder, *merge;
	char *(*value)(const struct class *c);
};

static char *value_event(const struct class *c)
{
	return sname_event_text(c->event);
}

static char *value_count(const struct class *c)
{
	return xasprintf("%" PRIu32, (uint32_t)c->count);
}

static char *value_unit_mask(const struct class *c)
{
	return xasprintf("%#" PRIx32, (uint32_t)c->unit_mask);
}

/* A name that a user may have chosen, with control characters made visible. */
static char *visible_copy(const char *name)
{
	struct strbuf text = STRBUF_INIT;

	text_visible(&text, name);
	return strbuf_take(&text);
}

static char *value_host(const struct class *c)
{
	return visible_copy(c->host ?: "unknown");
}

static char *value_cgroup(const struct class *c)
{
	return visible_copy(c->task.cgroup ?: "all");
}

static char *value_comm(const struct class *c)
{
	return visible_copy(c->task.comm ?: "all");
}

static char *value_tgid(const struct class *c)
{
	return xasprintf("%" PRId64, c->task.tgid);
}

static char *value_tid(const struct class *c)
{
	return xasprintf("%" PRId64, c->task.tid);
}

static char *value_cpu(const struct class *c)
{
	return xasprintf("%" PRId64, c->task.cpu);
}

static const struct {
	int (*compare)(const struct class *a, const struct class *b);
	struct difference difference;
} axes[] = {
	[AXIS_NONE] = { NULL, { "", "", NULL, NULL } },
	[AXIS_EVENT] = { compare_event, { "event", "NAME", NULL, value_event } },
	[AXIS_HOST] = { compare_host, { "host", "NAME", NULL, value_host } },
	[AXIS_CGROUP] = { compare_cgroup, { "cgroup", "PATH", "cgroup", value_cgroup } },
	[AXIS_COMM] = { compare_comm, { "comm", "NAME", "comm", value_comm } },
	[AXIS_TGID] = { compare_tgid, { "tgid", "N", "tgid", value_tgid } },
	[AXIS_TID] = { compare_tid, { "tid", "N", "tid", value_tid } },
	[AXIS_CPU] = { compare_cpu, { "cpu", "N", "cpu", value_cpu } },
};
static_assert(ARRAY_SIZE(axes) == AXIS_COUNT_, "a row for each axis");

static int compare_classes(const void *a, const void *b)
{
	int r = 0;
	size_t i;

	for (i = AXIS_NONE + 1; r == 0 && i < AXIS_COUNT_; i++)
		r = axes[i].compare(a, b);
	return r;
}

struct merge_parse {
	unsigned int bits;
	struct error *err;
};

static int merge_bit(const char *part, void *data)
{
	struct merge_parse *parse = data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(merges); i++) {
		if (!strcmp(part, merges[i].name)) {
			parse->bits |= merges[i].bits;
			return 0;
		}
	}
	return error_set(parse->err, -EINVAL,
			 "--merge: '%s' is not one of cgroup, comm, cpu, tid, tgid, unitmask, lib, "
			 "runtime, all",
			 part);
}

int classes_merge_parse(const char *text, struct error *err)
{
	struct merge_parse parse = { 0, err };
	int r = parse_list(text, ',', merge_bit, &parse);

	return r < 0 ? r : (int)parse.bits;
}

/* The template of a file, without what is merged. */
static struct class template_of(const struct gather *g, const struct gather_file *f,
				unsigned int merge)
{
	return (struct class){
		.event = f->event,
		.host = merge & CLASSES_BY_HOST ? g->sessions[f->session].host : NULL,
		.count = f->count,
		.unit_mask = merge & CLASSES_MERGE_UNIT_MASK ? SNAME_ALL : f->unit_mask,
		.task = { .tgid = merge & CLASSES_MERGE_TGID ? SNAME_ALL : f->task.tgid,
			  .tid = merge & CLASSES_MERGE_TID ? SNAME_ALL : f->task.tid,
			  .cpu = merge & CLASSES_MERGE_CPU ? SNAME_ALL : f->task.cpu,
			  .cgroup = merge & CLASSES_MERGE_CGROUP ? NULL : f->task.cgroup,
			  .comm = merge & CLASSES_MERGE_COMM ? NULL : f->task.comm },
	};
}

static bool varies(const struct classes *c, enum class_axis axis)
{
	size_t i;

	for (i = 1; i < c->count; i++)
		if (axes[axis].compare(&c->classes[0], &c->classes[i]))
			return true;
	return false;
}

/* Returns whether each process has only one thread here, so that the process alone distinguishes
 * them. */
static bool tid_follows_tgid(const struct classes *c)
{
	size_t i;

	for (i = 1; i < c->count; i++)
		if (!compare_tgid(&c->classes[i - 1], &c->classes[i]) &&
		    compare_tid(&c->classes[i - 1], &c->classes[i]))
			return false;
	return true;
}

/* What the cgroup of each class is called, as cgroup_names(). */
static const char **name_cgroups(const struct classes *c, const struct session_names *names,
				 struct intern *texts)
{
	_cleanup_free_ const char **paths = xcalloc(c->count + 1, sizeof(*paths));
	size_t i;

	for (i = 0; i < c->count; i++)
		paths[i] = c->classes[i].task.cgroup;
	return cgroup_names(names, paths, c->count, texts);
}

/* Adds the value of a class on an axis, as in a specification. */
static void add_value(struct strbuf *out, enum class_axis axis, const struct class *class,
		      const char *cgroup)
{
	_cleanup_free_ char *value =
		axis == AXIS_CGROUP ? visible_copy(cgroup) : axes[axis].difference.value(class);

	strbuf_addf(out, "%s:%s", axes[axis].difference.tag, value);
}

/* With a single event, its counts or unit masks differ. */
static const struct difference *difference_on(const struct classes *c, enum class_axis axis)
{
	static const struct difference count = { "count", "N", NULL, value_count };
	static const struct difference mask = { "unit-mask", "N", "unitmask", value_unit_mask };
	bool counts = false;
	size_t i;

	if (axis != AXIS_EVENT)
		return &axes[axis].difference;
	for (i = 1; i < c->count; i++) {
		if (strcmp(c->classes[0].event, c->classes[i].event))
			return &axes[axis].difference;
		counts |= c->classes[0].count != c->classes[i].count;
	}
	return counts ? &count : &mask;
}

/* "cpu (0, 1)" */
static void add_difference(struct strbuf *out, const struct classes *c, const struct difference *d)
{
	enum { VALUES_MAX = 8 };
	char *values[VALUES_MAX];
	size_t i, j, n = 0;

	strbuf_addf(out, "%s (", d->tag);
	for (i = 0; i < c->count && n < VALUES_MAX; i++) {
		char *value = d->value(&c->classes[i]);

		for (j = 0; j < n && strcmp(values[j], value);)
			j++;
		if (j < n) {
			free(value);
			continue;
		}
		strbuf_addf(out, "%s%s", n ? ", " : "", value);
		values[n++] = value;
	}
	strbuf_adds(out, n == VALUES_MAX ? ", ...)" : ")");
	for (i = 0; i < n; i++)
		free(values[i]);
}

static void add_remedy(struct strbuf *out, const struct difference *d)
{
	strbuf_addf(out, "%s:%s", d->tag, d->placeholder);
	if (d->merge)
		strbuf_addf(out, " or --merge=%s", d->merge);
}

static int say_conflict(const struct classes *c, enum class_axis a, enum class_axis b,
			struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const struct difference *first = difference_on(c, a), *second = difference_on(c, b);

	strbuf_adds(&text, "the samples differ both in ");
	add_difference(&text, c, first);
	strbuf_adds(&text, " and in ");
	add_difference(&text, c, second);
	strbuf_adds(&text, ", but a report has columns for only one of them; use ");
	add_remedy(&text, first);
	strbuf_adds(&text, ", or ");
	add_remedy(&text, second);
	return error_set(err, -EINVAL, "%s", strbuf_text(&text));
}

static int find_axis(struct classes *c, bool many, struct error *err)
{
	enum class_axis axis;

	c->axis = AXIS_NONE;
	for (axis = AXIS_NONE + 1; axis < AXIS_COUNT_; axis++) {
		if (!varies(c, axis))
			continue;
		if (c->axis == AXIS_TGID && axis == AXIS_TID && tid_follows_tgid(c))
			continue;
		if (c->axis != AXIS_NONE && !many)
			return say_conflict(c, c->axis, axis, err);
		if (c->axis == AXIS_NONE)
			c->axis = axis;
		c->axes |= 1U << axis;
	}
	return 0;
}

/* The event's name, and what distinguishes columns of one event; with a single event, only the
 * latter. */
static char *event_name(const struct classes *c, const struct class *class)
{
	bool event = c->count == 1, count = false, mask = false;
	struct strbuf name = STRBUF_INIT;
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct class *other = &c->classes[i];
		bool same = !strcmp(other->event, class->event);

		event |= !same;
		count |= same && other->count != class->count;
		mask |= same && other->unit_mask != class->unit_mask;
	}
	if (event)
		strbuf_adds(&name, class->event_text);
	if (count)
		strbuf_addf(&name, "%s%" PRId64, event ? ":" : "count:", class->count);
	if (mask)
		strbuf_addf(&name, "%s%#" PRIx32,
			    name.length ? ":" : "unit-mask:", (uint32_t) class->unit_mask);
	return strbuf_take(&name);
}

static char *class_name(const struct classes *c, const struct class *class, const char *cgroup)
{
	struct strbuf name = STRBUF_INIT;
	enum class_axis axis;

	if (c->axis == AXIS_NONE || c->axis == AXIS_EVENT) {
		_cleanup_free_ char *event = event_name(c, class);

		strbuf_adds(&name, event);
	}
	for (axis = AXIS_EVENT + 1; axis < AXIS_COUNT_; axis++) {
		if (!(c->axes >> axis & 1))
			continue;
		strbuf_adds(&name, name.length ? "," : "");
		add_value(&name, axis, class, cgroup);
	}
	return strbuf_take(&name);
}

static void name_classes(struct classes *c, const struct session_names *names)
{
	struct intern texts = INTERN_INIT;
	_cleanup_free_ const char **cgroups = name_cgroups(c, names, &texts);
	struct class *class;

	for (class = c->classes; class < c->classes + c->count; class ++) {
		_cleanup_free_ char *event = sname_event_text(class->event);

		class->event_text = intern(&c->texts, event);
		class->name = class_name(c, class, cgroups[class - c->classes]);
		class->comm = session_names_thread(names, class->task.tgid, class->task.tid);
	}
	intern_done(&texts);
}

/* The templates of all files, sorted, each once; most are that of the file before. */
static void collect_templates(const struct gather *g, unsigned int merge, struct classes *c)
{
	size_t i, n = 0;

	for (i = 0; i < g->file_count; i++) {
		array_grow(&c->classes, n + 1, &c->room);
		c->classes[n] = template_of(g, &g->files[i], merge);
		n += !n || compare_classes(&c->classes[n - 1], &c->classes[n]);
	}
	qsort(c->classes, n, sizeof(*c->classes), compare_classes);
	for (i = 0; i < n; i++)
		if (!c->count || compare_classes(&c->classes[c->count - 1], &c->classes[i]))
			c->classes[c->count++] = c->classes[i];
}

/* Makes a class for each step of time of each class, next to each other. */
static void divide_time(struct classes *c, uint32_t steps)
{
	struct class *divided = xcalloc(c->count * steps, sizeof(*divided));
	size_t i;

	for (i = 0; i < c->count * steps; i++) {
		divided[i] = c->classes[i / steps];
		if (i % steps)
			divided[i].name = xstrdup(divided[i].name);
	}
	free(c->classes);
	c->classes = divided;
	c->count *= steps;
	c->steps = steps;
}

int classes_arrange(const struct gather *g, unsigned int merge, struct classes *ret,
		    struct error *err)
{
	struct classes c = { 0 };
	size_t i;
	int r;

	collect_templates(g, merge, &c);
	r = find_axis(&c, merge & CLASSES_MANY_AXES, err);
	if (r < 0) {
		classes_done(&c);
		return r;
	}
	name_classes(&c, g->session_names);
	c.of_file = xcalloc(g->file_count + 1, sizeof(*c.of_file));
	for (i = 0; i < g->file_count; i++) {
		struct class want = template_of(g, &g->files[i], merge);
		const struct class *found =
			bsearch(&want, c.classes, c.count, sizeof(*c.classes), compare_classes);

		c.of_file[i] = (uint32_t)(found - c.classes) * g->slots + g->files[i].slot;
	}
	divide_time(&c, g->slots);
	*ret = c;
	return 0;
}

void classes_join_blocks(struct classes *c)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		if (i % c->steps)
			free(c->classes[i].name);
		else
			c->classes[i / c->steps] = c->classes[i];
	}
	c->count /= c->steps;
	c->steps = 1;
}

bool class_same_event(const struct class *a, const struct class *b)
{
	return compare_event(a, b) == 0;
}

void classes_done(struct classes *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->classes[i].name);
	intern_done(&c->texts);
	free(c->classes);
	free(c->of_file);
	*c = (struct classes){ 0 };
}
