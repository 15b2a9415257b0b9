/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/catalog.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/text.h"
#include "event/cpu_type.h"
#include "event/internal/evdir.h"
#include "event/internal/evfile.h"
#include "event/internal/evlist.h"
#include "event/evpfm.h"
#include "event/evsys.h"

#include <ctype.h>
#include <errno.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>

/* Masks that are read on demand, the only part of a catalogue that changes. */
struct late {
	pthread_mutex_t lock;
	struct arena arena;
};

struct catalog {
	const struct cpu_type *type;
	char *root; /* of the machine whose kernel's events are included, or NULL */
	struct evfile files;
	struct evlist pfm;  /* from libpfm4 */
	struct evlist list; /* from all sources */
	struct late *late;
	const char *stand_in; /* type whose files are a fallback; NULL: they are its own */
	bool users;	      /* the files are the user's */
	struct error problem;
	char *gap;	      /* what is missing, or NULL */
	struct catalog *next; /* the catalogue loaded before this one */
};

/* The clock needs no counter and is always available. */
static const struct catalog_event timer_event = {
	.name = "TIMER",
	.description = "The clock, idle time left out",
	.kind = CATALOG_TIMER,
	.perf_type = PERF_TYPE_SOFTWARE,
	.perf_config = PERF_COUNT_SW_CPU_CLOCK,
};

/* Fallbacks for CPU types without files of their own; the first row whose prefix matches is
 * used. */
static const struct {
	const char *start, *key;
} common[] = {
	{ "x86-64/zen", "x86-64/zen" },
	{ "x86-64/", "x86-64/generic" },
	{ "i386/p", "generic" },
	{ "i386/athlon", "generic" },
	{ "i386/", "i386/arch_perfmon" },
	{ "arm/armv8", "arm/armv8-pmuv3-common" },
	{ "", "generic" },
};

static bool key_starts(const struct cpu_type *type, const char *start)
{
	return !strncmp(type->key, start, strlen(start));
}

/* Returns the architectural events that this CPU lacks, by their filter: numbers (Intel SDM, CPUID
 * leaf 0AH: EBX has a bit for each, of which EAX 31:24 are valid). */
static uint32_t unavailable_events(const struct cpu_type *type _unused_)
{
	uint32_t missing = 0;
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	if (!strcmp(type->key, "i386/arch_perfmon") && type == cpu_type_detect("", false) &&
	    __get_cpuid(0xa, &a, &b, &c, &d)) {
		unsigned int valid = a >> 24;

		missing = valid < 32 ? b | ~0U << valid : b;
	}
#else
#endif
	return missing;
}

/* Reads the files of the CPU type or its fallback. */
static int read_type(struct catalog *c, struct evdir *dirs)
{
	size_t i = 0;
	int r = evfile_read(&c->files, c->type->key, evdir_source, dirs, &c->problem);

	if (r != -ENOENT)
		return r;
	while (!key_starts(c->type, common[i].start))
		i++;
	c->stand_in = common[i].key;
	return evfile_read(&c->files, c->stand_in, evdir_source, dirs, &c->problem);
}

/* Returns whether a fallback file's event is replaced by libpfm4's, which is more detailed. Cycles
 * are kept: the kernel may be able to count them when the counters are in use, and their minimum
 * count is known. */
static bool gives_way(struct catalog *c, const struct catalog_event *event)
{
	struct catalog_event *known = evlist_find(&c->pfm, event->name);

	if (event->perf_type == PERF_TYPE_HARDWARE &&
	    event->perf_config == PERF_COUNT_HW_CPU_CYCLES)
		return false;
	if (!c->stand_in || !known || event->mask_count)
		return false;
	evpfm_complete(known, &c->pfm.arena);
	return known->mask_count;
}

static void add_all(struct catalog *c)
{
	size_t i;

	for (i = 0; i < c->files.count; i++)
		if (!gives_way(c, &c->files.events[i]))
			evlist_append(&c->list, &c->files.events[i]);
	for (i = 0; i < c->pfm.count; i++)
		(void)evlist_add(&c->list, &c->pfm.events[i]);
}

/* Describes the events listed in place of the type's own. */
static char *describe_gap(const struct catalog *c)
{
	const char *only = strcmp(c->stand_in, "generic") ? "that all such CPUs have"
							  : "that the kernel offers on any CPU";

	return xasprintf("The events of %s itself are not known to this build: only those %s, and "
			 "software events, are listed. The others need description files in "
			 "OPROFILE_EVENTS_DIR (man opevents), or a build with a libpfm4 that knows "
			 "this CPU.",
			 c->type->pretty, only);
}

static int read_files(struct catalog *c, struct evdir *dirs)
{
	_cleanup_free_ char *where = NULL;
	const char *pmu = NULL;
	int r = read_type(c, dirs);

	if (r == 0)
		r = evfile_read(&c->files, "software", evdir_source, dirs, &c->problem);
	if (r == 0) {
		c->users = evdir_is_users(dirs, c->type->key);
		if (!c->users)
			pmu = evpfm_pmu_of(c->type, c->type == cpu_type_detect("", false));
		if (pmu)
			evpfm_read(pmu, &c->pfm);
		else if (c->stand_in && c->type != cpu_type_named("timer"))
			c->gap = describe_gap(c);
		add_all(c);
	}
	if (r != -ENOENT)
		return r;
	where = evdir_text(dirs);
	return error_set(&c->problem, -ENOENT, "no event description files for %s in %s",
			 c->type->key, where);
}

static const char pmu_prefix[] = "pfm/";

/* Loads the events of a type. */
static void load_type(struct catalog *c)
{
	_cleanup_(evdir_done) struct evdir dirs = { 0 };

	if (key_starts(c->type, pmu_prefix)) {
		evpfm_read(c->type->key + strlen(pmu_prefix), &c->list);
		return;
	}
	c->files.unavailable = unavailable_events(c->type);
	evdir_init(&dirs);
	if (read_files(c, &dirs) < 0) {
		evfile_done(&c->files);
		log_warn("%s", c->problem.text);
	}
}

/* Loads the events of a machine: those of its CPU type and of its kernel. */
static void load_machine(struct catalog *c, const struct catalog *of_type)
{
	size_t i;

	c->problem = of_type->problem;
	c->gap = of_type->gap;
	c->users = of_type->users;
	for (i = 0; i < of_type->list.count; i++)
		evlist_append(&c->list, &of_type->list.events[i]);
	if (!c->users)
		evsys_read(c->root, &c->list);
}

static bool is_loaded(const struct catalog *c, const struct cpu_type *type, const char *root)
{
	return c->type == type && !c->root == !root && (!root || !strcmp(c->root, root));
}

/* Returns the catalogue from those in @loaded, or loads it. */
static const struct catalog *find_or_load(struct catalog **loaded, const struct cpu_type *type,
					  const char *root)
{
	struct catalog *c;

	for (c = *loaded; c && !is_loaded(c, type, root); c = c->next)
		;
	if (c)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->type = type;
	c->root = root ? xstrdup(root) : NULL;
	c->late = xcalloc(1, sizeof(*c->late));
	(void)pthread_mutex_init(&c->late->lock, NULL);
	if (root)
		load_machine(c, find_or_load(loaded, type, NULL));
	else
		load_type(c);
	c->next = *loaded;
	*loaded = c;
	return c;
}

/* Returns the catalogue of a type, including the events of the kernel under @root unless that is
 * NULL. */
static const struct catalog *get(const struct cpu_type *type, const char *root)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct catalog *loaded; /* entries are never removed */
	const struct catalog *c;

	(void)pthread_mutex_lock(&lock);
	c = find_or_load(&loaded, type, root);
	(void)pthread_mutex_unlock(&lock);
	return c;
}

/* Returns the event with its masks read. */
static const struct catalog_event *complete(const struct catalog *c, struct catalog_event *event)
{
	(void)pthread_mutex_lock(&c->late->lock);
	evpfm_complete(event, &c->late->arena);
	(void)pthread_mutex_unlock(&c->late->lock);
	return event;
}

const struct catalog *catalog_of(const struct cpu_type *type)
{
	return get(type, NULL);
}

const struct catalog *catalog_machine(const char *root)
{
	return get(cpu_type_detect(root, false), root);
}

const struct cpu_type *catalog_type(const struct catalog *c)
{
	return c->type;
}

/* The CPU type made for a libpfm4 PMU; each is made once. */
struct pmu_type {
	struct cpu_type type;
	struct pmu_type *next;
};

const struct cpu_type *catalog_pmu_type(const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct pmu_type *made; /* entries are never removed */
	struct pmu_type *t;
	struct evpfm_pmu pmu;

	if (!strncmp(name, pmu_prefix, strlen(pmu_prefix)))
		name += strlen(pmu_prefix);
	if (!evpfm_pmu_named(name, &pmu))
		return NULL;
	(void)pthread_mutex_lock(&lock);
	for (t = made; t && strcmp(t->type.key + strlen(pmu_prefix), name) != 0; t = t->next)
		;
	if (!t) {
		t = xcalloc(1, sizeof(*t));
		t->type.id = cpu_type_named("timer")->id;
		t->type.key = xasprintf("%s%s", pmu_prefix, pmu.name);
		t->type.pretty = pmu.description;
		t->next = made;
		made = t;
	}
	(void)pthread_mutex_unlock(&lock);
	return &t->type;
}

static const struct cpu_type *this_cpu;

static void detect_once(void)
{
	this_cpu = cpu_type_detect("", false);
}

const struct catalog *catalog_here(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, detect_once);
	return catalog_of(this_cpu);
}

const char *catalog_problem(const struct catalog *c)
{
	return c->problem.code ? c->problem.text : NULL;
}

const char *catalog_gap(const struct catalog *c)
{
	return c->gap;
}

size_t catalog_size(const struct catalog *c)
{
	return c->list.count + 1;
}

const struct catalog_event *catalog_event_peek(const struct catalog *c, size_t i)
{
	assert(i < catalog_size(c));
	return i < c->list.count ? &c->list.events[i] : &timer_event;
}

const struct catalog_event *catalog_event_at(const struct catalog *c, size_t i)
{
	return i < c->list.count ? complete(c, &c->list.events[i]) : catalog_event_peek(c, i);
}

const struct catalog_event *catalog_event_find(const struct catalog *c, const char *name)
{
	struct catalog_event *found = evlist_find(&c->list, name);

	if (found)
		return complete(c, found);
	return strcmp(name, timer_event.name) != 0 ? NULL : &timer_event;
}

/* Converts a name to the usual spelling, upper case with '_', truncated to 64 letters. */
static void shout(const char *name, char upper[65])
{
	size_t i;

	for (i = 0; i < 64 && name[i]; i++)
		upper[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
	upper[i] = '\0';
}

const struct catalog_event *catalog_event_nearest(const struct catalog *c, const char *name)
{
	const struct catalog_event *nearest = NULL;
	unsigned int distance, least = (unsigned int)strlen(name) / 2 + 1;
	char wanted[65], upper[65];
	size_t i;

	shout(name, wanted);
	for (i = 0; i < catalog_size(c); i++) {
		shout(catalog_event_peek(c, i)->name, upper);
		distance = text_distance(wanted, upper);
		if (distance < least) {
			nearest = catalog_event_peek(c, i);
			least = distance;
		}
	}
	return nearest;
}

size_t catalog_count(void)
{
	return catalog_size(catalog_here());
}

const struct catalog_event *catalog_peek(size_t i)
{
	return catalog_event_peek(catalog_here(), i);
}

const struct catalog_event *catalog_find(const char *name)
{
	return catalog_event_find(catalog_here(), name);
}

bool catalog_is_timer(const char *name)
{
	return !strcmp(name, timer_event.name);
}

const struct catalog_event *catalog_default(const struct cpu_type *type)
{
	/* The defaults of the original oprofile; the first one that the CPU has is used. */
	static const struct {
		const char *cpus, *name;
	} defaults[] = {
		{ "arm/", "CPU_CYCLES" },
		{ "s390/", "CPU_CYCLES" },
		{ "ppc64/", "CYCLES" },
		{ "ppc/7450", "CYCLES" },
		{ "ppc/", "CPU_CLK" },
		{ "alpha/", "CYCLES" },
		{ "tile/", "ONE" },
		{ "mips/loongson2", "CPU_CLK_UNHALTED" },
		{ "mips/r1", "INSTRUCTIONS_GRADUATED" },
		{ "mips/rm", "INSTRUCTIONS_ISSUED" },
		{ "mips/vr", "INSTRUCTIONS_EXECUTED" },
		{ "mips/sb1", "INSN_SURVIVED_STAGE7" },
		{ "mips/24K", "INSTRUCTIONS" },
		{ "mips/34K", "INSTRUCTIONS" },
		{ "mips/74K", "INSTRUCTIONS" },
		{ "mips/1004K", "INSTRUCTIONS" },
		{ "mips/", "CYCLES" },
		{ "i386/p4", "GLOBAL_POWER_EVENTS" },
		{ "i386/p4", "global_power_events" },
		{ "", "CPU_CLK_UNHALTED" },
		{ "", "cpu_clk_unhalted" },
		{ "", "CPU_CYCLES" },
		{ "", "TIMER" },
	};
	const struct catalog *c = catalog_of(type);
	const struct catalog_event *found = NULL;
	size_t i;

	for (i = 0; !found; i++)
		if (key_starts(type, defaults[i].cpus))
			found = catalog_event_find(c, defaults[i].name);
	return found;
}
