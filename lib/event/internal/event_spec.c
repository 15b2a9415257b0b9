/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/event.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "event/catalog.h"
#include "event/cpu_type.h"
#include "event/evderived.h"
#include "event/internal/event_encode.h"
#include "event/internal/event_mask.h"
#include "event/internal/evname.h"
#include "event/evprobe.h"
#include "event/evsys.h"
#include "event/evtrace.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

/* The sample file's header has 32 bits for the count, and the file's name prints it signed. */
static const uint64_t count_max = INT32_MAX;

/* Maximum number of names listed in a message. */
enum { LISTED_MAX = 20 };

/* The parts of a specification, by position. */
enum part {
	PART_NAME,
	PART_COUNT,
	PART_MASK,
	PART_KERNEL,
	PART_USER,
	PART_HYPERVISOR,
	PART_LETTERS,
	PART_COUNT_
};

struct parts {
	const char *spec; /* the whole specification, for messages */
	char *at[PART_COUNT_];
	size_t count;
	bool user_only, kernel_only; /* by letters; numbers override them */
	struct error *err;
};

static void parts_done(struct parts *parts)
{
	size_t i;

	for (i = 0; i < parts->count; i++)
		free(parts->at[i]);
}

/* Splits a specification whose name has @length letters. */
static int split(struct parts *parts, size_t length)
{
	const char *at = parts->spec;

	for (;;) {
		if (parts->count == PART_COUNT_)
			return error_set(parts->err, -EINVAL,
					 "event '%s': too many colons; the form is "
					 "NAME:count:unitmask:kernel:user:hypervisor:p",
					 parts->spec);
		parts->at[parts->count++] = xstrndup(at, length);
		if (!at[length])
			return 0;
		at += length + 1;
		length = event_part_length(at, ":");
	}
}

/* Reads a number if the part is present; leaves @ret unchanged if it is missing or empty. */
static int parts_number(const struct parts *parts, enum part part, const char *what, uint64_t max,
			uint64_t *ret)
{
	if (parts->count <= part || !*parts->at[part])
		return 0;
	if (parse_u64(parts->at[part], 0, max, ret) < 0)
		return error_set(parts->err, -EINVAL,
				 "event '%s': %s '%s' is not a number from 0 to %" PRIu64,
				 parts->spec, what, parts->at[part], max);
	return 0;
}

/* The CPU type and machine whose events are searched. */
struct place {
	const struct cpu_type *type;
	const char *root; /* of the machine whose kernel's events are included, or NULL */
};

static int unknown_name(const struct place *place, const char *name, struct error *err)
{
	const struct catalog *c =
		place->root ? catalog_machine(place->root) : catalog_of(place->type);
	const char *problem = catalog_problem(c), *feature = evderived_feature(name);
	const struct catalog_event *nearest = catalog_event_nearest(c, name);
	_cleanup_(strbuf_done) struct strbuf known = STRBUF_INIT;
	size_t i;

	if (problem)
		return error_set(err, -EINVAL, "event %s: %s", name, problem);
	if (feature && evderived_check(place->root, name, feature, err) < 0)
		return -EINVAL;
	if (nearest)
		return error_set(err, -EINVAL, "Invalid event %s; did you mean %s?", name,
				 nearest->name);
	if (catalog_size(c) > LISTED_MAX)
		return error_set(err, -EINVAL,
				 "Invalid event %s; run ophelp to list the %zu available events",
				 name, catalog_size(c));
	for (i = 0; i < catalog_size(c); i++)
		strbuf_addf(&known, "%s%s", i ? ", " : "", catalog_event_peek(c, i)->name);
	return error_set(err, -EINVAL, "Invalid event %s; available: %s", name,
			 strbuf_text(&known));
}

/* Sets the count, or the clock's rate. */
static int set_count(const struct parts *parts, const struct catalog_event *info, uint64_t count,
		     struct event *event)
{
	*(event->is_timer ? &event->rate_hz : &event->count) = count;
	if (!event->is_timer && event->count < info->minimum)
		return error_set(parts->err, -EINVAL,
				 "Count %" PRIu64 " for event %s is below the minimum %" PRIu64,
				 event->count, *event->name ? event->name : parts->spec,
				 info->minimum);
	return 0;
}

static int read_count(const struct parts *parts, const struct catalog_event *info,
		      struct event *event)
{
	uint64_t count = event->is_timer ? event->rate_hz : event->count;
	uint64_t max = event->is_timer ? EVENT_TIMER_MAX_HZ : count_max;

	if (parts_number(parts, PART_COUNT, event->is_timer ? "rate" : "count", max, &count) < 0)
		return -EINVAL;
	return set_count(parts, info, count, event);
}

static int read_mask(const struct parts *parts, const struct catalog_event *info,
		     struct event *event)
{
	uint64_t mask;
	int r;

	if (parts->count <= PART_MASK || !*parts->at[PART_MASK])
		return 0;
	r = event_mask_named(info, parts->at[PART_MASK], event, parts->err);
	if (r)
		return MIN(r, 0);
	if (parse_u64(parts->at[PART_MASK], 0, UINT32_MAX, &mask) < 0)
		return event_mask_unknown(info, parts->at[PART_MASK], parts->err);
	return event_mask_set(info, mask, event, parts->err);
}

/* Reads and removes a last part of letters as in perf(1), unless it is a mask of that name: "u" and
 * "k" for user space or the kernel alone, a "p" for each degree of precision. */
static int read_letters(struct parts *parts, const struct catalog_event *info, struct event *event)
{
	size_t last = parts->count - 1;
	const char *text = parts->at[last], *at;
	size_t length = strspn(text, "ukp"), precise = 0;

	for (at = text; *at; at++)
		precise += *at == 'p';
	if (last == PART_LETTERS && (!length || text[length] || precise > 3))
		return error_set(parts->err, -EINVAL,
				 "event '%s': '%s' is not made of u, k and up to three p",
				 parts->spec, text);
	if (!last || !length || text[length] || precise > 3 ||
	    (last == PART_MASK && catalog_mask_named(info, text)))
		return 0;
	if (precise && info->kind != CATALOG_COUNTER)
		return error_set(parts->err, -EINVAL,
				 "event %s is not counted by a hardware counter, so it cannot be "
				 "sampled precisely",
				 info->name);
	if (precise)
		event->precise = event->precise_by = (uint8_t)precise;
	parts->user_only = strchr(text, 'u') && !strchr(text, 'k');
	parts->kernel_only = strchr(text, 'k') && !strchr(text, 'u');
	free(parts->at[--parts->count]);
	return 0;
}

static int set_where(const struct parts *parts, bool kernel, bool user, struct event *event)
{
	event->kernel = kernel;
	event->user = user;
	if (kernel || user)
		return 0;
	return error_set(parts->err, -EINVAL, "event '%s' excludes both the kernel and user space",
			 parts->spec);
}

static int read_where(const struct parts *parts, struct event *event)
{
	uint64_t kernel = !parts->user_only, user = !parts->kernel_only, hypervisor = 1;

	if (parts_number(parts, PART_KERNEL, "kernel", 1, &kernel) < 0 ||
	    parts_number(parts, PART_USER, "user", 1, &user) < 0 ||
	    parts_number(parts, PART_HYPERVISOR, "hypervisor", 1, &hypervisor) < 0)
		return -EINVAL;
	event->no_hypervisor = kernel && !hypervisor;
	return set_where(parts, kernel, user, event);
}

/* Makes the event for "r1c2", a hexadecimal value of the event select register, as in perf(1). */
static const struct catalog_event *raw_event(const char *name, struct catalog_event *raw)
{
	const char *digits = name + 1;
	uint64_t config;

	if (*name != 'r' || parse_hex(&digits, &config) < 0 || *digits)
		return NULL;
	*raw = (struct catalog_event){ .name = name,
				       .kind = CATALOG_COUNTER,
				       .code = (uint32_t)(config & INT32_MAX),
				       .minimum = EVENT_RAW_MINIMUM,
				       .count = EVENT_RAW_COUNT,
				       .perf_type = PERF_TYPE_RAW,
				       .perf_config = config };
	return raw;
}

/* Reads the parts after the name. */
static int read_rest(struct parts *parts, const struct catalog_event *info, struct event *event)
{
	if (read_letters(parts, info, event) < 0 || read_count(parts, info, event) < 0 ||
	    read_mask(parts, info, event) < 0 || read_where(parts, event) < 0)
		return -EINVAL;
	return 0;
}

static int parse_own(const struct place *place, struct parts *parts, struct event *event)
{
	const char *name = parts->at[PART_NAME];
	const struct catalog_event *info;
	struct catalog_event raw;
	struct evname found = { 0 };

	if (!strcmp(name, "default"))
		found.event = catalog_default(place->type);
	else
		(void)evname_find(catalog_of(place->type), name, &found);
	info = found.event ?: raw_event(name, &raw);
	if (!info)
		return unknown_name(place, name, parts->err);
	event_fill(event, info);
	if (found.mask && event_mask_named(info, found.mask->name, event, parts->err) < 0)
		return -EINVAL;
	if (read_rest(parts, info, event) < 0)
		return -EINVAL;
	if (info->feature)
		return evderived_check(place->root, info->name, info->feature, parts->err);
	return info == &raw ? 0 : event_encode(info, place->type, event, parts->err);
}

/* Splits "cpu/event=0x3c,umask=1/" or "cpu~event=0x3c+umask=1" into PMU and terms. Returns the
 * length of the "pp" after the last slash, which is removed. The caller frees both strings. */
static size_t split_pmu(const char *name, char **ret_pmu, char **ret_terms)
{
	size_t length = strcspn(name, "/~"), precise = 0;
	char *terms = xstrdup(name + length + 1), *at = strrchr(terms, '/');

	if (name[length] == '/' && at) {
		precise = strspn(at + 1, "p");
		if (!at[1 + precise] && precise <= 3)
			*at = '\0';
		else
			precise = 0;
	}
	for (at = terms; name[length] == '~' && *at; at++)
		if (*at == '+')
			*at = ',';
	*ret_pmu = xstrndup(name, length);
	*ret_terms = terms;
	return precise;
}

/* Sets the name used in sample files, which must not contain slashes, commas or dots. */
static int name_pmu_event(const struct parts *parts, const char *pmu, const char *terms,
			  struct event *event)
{
	_cleanup_free_ char *name = xasprintf("%s~%s", pmu, terms);
	char *at;

	for (at = name; *at; at++)
		if (*at == ',')
			*at = '+';
	if (strlen(name) >= sizeof(event->name) || strlen(pmu) >= sizeof(event->pmu))
		return error_set(parts->err, -EINVAL, "event '%s' has more than %zu letters",
				 parts->spec, sizeof(event->name) - 1);
	if (name[strcspn(name, "./ :")] || !*terms)
		return error_set(parts->err, -EINVAL,
				 "event '%s': not of the form PMU/TERM=NUMBER,TERM,.../ without "
				 "dots and blanks",
				 parts->spec);
	strcpy(event->name, name);
	strcpy(event->pmu, pmu);
	return 0;
}

void event_bind(struct event *event, const struct evsys_pmu *pmu)
{
	if (event->perf_type == PERF_TYPE_RAW)
		event->perf_type = pmu->type;
	else
		event->perf_config |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
}

/* Returns the CPU's event that @terms names if the PMU is one type of the CPU's cores, else
 * NULL. */
static const struct catalog_event *core_event(const struct place *place,
					      const struct evsys_pmu *pmu, const char *terms)
{
	const struct catalog_event *e =
		pmu->cpus ? catalog_event_find(catalog_of(place->type), terms) : NULL;

	return e && e->kind == CATALOG_COUNTER ? e : NULL;
}

/* Describes an event by its terms alone. */
static const struct catalog_event unknown = {
	.name = "", .kind = CATALOG_COUNTER, .minimum = EVENT_RAW_MINIMUM, .count = EVENT_RAW_COUNT
};

static int check_precise(const struct parts *parts, const struct evsys_pmu *pmu,
			 const struct event *event)
{
	if (event->precise_by <= pmu->max_precise)
		return 0;
	return error_set(parts->err, -EINVAL,
			 "event '%s': PMU %s supports precision up to %" PRIu64, parts->spec,
			 pmu->name, pmu->max_precise);
}

static int encode_pmu(const struct place *place, struct parts *parts, const struct evsys_pmu *pmu,
		      const char *terms, struct event *event)
{
	const struct catalog_event *core = core_event(place, pmu, terms);
	uint8_t precise = event->precise_by;

	event_fill(event, core ?: &unknown);
	event->precise = event->precise_by = precise;
	if (read_rest(parts, core ?: &unknown, event) < 0 || check_precise(parts, pmu, event) < 0)
		return -EINVAL;
	event->outside_cores = pmu->cpumask != NULL;
	if (!core) {
		event->code = 0;
		return evsys_encode(place->root, pmu, terms, event, parts->err);
	}
	if (event_encode(core, place->type, event, parts->err) < 0)
		return -EINVAL;
	event_bind(event, pmu);
	return 0;
}

static int parse_pmu(const struct place *place, struct parts *parts, struct event *event)
{
	_cleanup_(evsys_pmu_done) struct evsys_pmu pmu = { 0 };
	_cleanup_free_ char *name = NULL, *terms = NULL;

	*event = (struct event){ 0 };
	event->precise_by = (uint8_t)split_pmu(parts->at[PART_NAME], &name, &terms);
	if (!place->root)
		return error_set(parts->err, -EINVAL,
				 "event '%s': the kernel's PMUs are only known for this machine",
				 parts->spec);
	if (evsys_pmu(place->root, name, &pmu, parts->err) < 0 ||
	    encode_pmu(place, parts, &pmu, terms, event) < 0)
		return -EINVAL;
	return name_pmu_event(parts, name, terms, event);
}

/* Describes a tracepoint or a probe: each time that it is reached is a sample. */
static const struct catalog_event reached = { "", .kind = CATALOG_SOFTWARE, .minimum = 1,
					      .count = 1 };

static int check_place(const struct parts *parts, bool counts, const char *what, const char *chosen)
{
	return counts ? 0
		      : error_set(parts->err, -EINVAL, "event '%s': a %s; only %s was chosen",
				  parts->spec, what, chosen);
}

/* Parses "GROUP~NAME:count...". */
static int parse_tracepoint(const struct place *place, struct parts *parts, struct event *event)
{
	_cleanup_free_ char *group = NULL, *name = NULL;

	(void)split_pmu(parts->at[PART_NAME], &group, &name);
	event_fill(event, &reached);
	if (read_rest(parts, &reached, event) < 0 ||
	    evtrace_encode(place->root, group, name, event, parts->err) < 0 ||
	    name_pmu_event(parts, group, name, event) < 0)
		return -EINVAL;
	strcpy(event->pmu, *event->probed ? "kprobe" : "tracepoint");
	return check_place(parts, event->kernel, "tracepoint is in the kernel", "user space");
}

/* Parses "uprobe:FILE:FUNCTION:count..." and probes like it. */
static int parse_probe(const struct place *place, struct parts *parts, struct event *event)
{
	event_fill(event, &reached);
	if (read_rest(parts, &reached, event) < 0 ||
	    evprobe_encode_file(place->root, parts->at[PART_NAME], event, parts->err) < 0)
		return -EINVAL;
	return check_place(parts, event->user, "probe is in user space", "the kernel");
}

static int parse(const struct place *place, const char *spec, struct event *ret, struct error *err)
{
	size_t probe = place->root ? evprobe_length(spec) : 0;
	_cleanup_free_ char *trace =
		probe || !place->root ? NULL : event_as_tracepoint(place->root, spec);
	_cleanup_(parts_done) struct parts parts = { .spec = trace ?: spec, .err = err };
	struct event event;
	const char *name;
	int r;

	if (!*spec)
		return error_set(err, -EINVAL, "an event has no name");
	if (split(&parts, probe ?: event_part_length(parts.spec, ":")) < 0)
		return -EINVAL;
	name = parts.at[PART_NAME];
	if (probe)
		r = parse_probe(place, &parts, &event);
	else if (trace)
		r = parse_tracepoint(place, &parts, &event);
	else if (name[strcspn(name, "/~")])
		r = parse_pmu(place, &parts, &event);
	else
		r = parse_own(place, &parts, &event);
	if (r == 0)
		*ret = event;
	return r;
}

int event_make(const struct catalog_event *info, const struct event_terms *terms, struct event *ret,
	       struct error *err)
{
	const struct parts parts = { .spec = info->name, .err = err };
	uint64_t max;
	struct event event;
	int r;

	event_fill(&event, info);
	max = event.is_timer ? EVENT_TIMER_MAX_HZ : count_max;
	if (terms->count > max)
		return error_set(err, -EINVAL, "event %s: count %" PRIu64 " is above %" PRIu64,
				 info->name, terms->count, max);
	if (set_count(&parts, info, terms->count, &event) < 0 ||
	    event_mask_set(info, terms->unit_mask, &event, err) < 0 ||
	    set_where(&parts, terms->kernel, terms->user, &event) < 0)
		return -EINVAL;
	r = event_encode(info, cpu_type_detect("", false), &event, err);
	if (r == 0)
		*ret = event;
	return r;
}

int event_of_pmu(const char *root, const char *pmu, const char *terms, uint64_t count,
		 struct event *ret, struct error *err)
{
	const struct parts parts = { .spec = terms, .err = err };
	_cleanup_(evsys_pmu_done) struct evsys_pmu found = { 0 };
	struct event event;

	event_fill(&event, &unknown);
	if (evsys_pmu(root, pmu, &found, err) < 0 ||
	    set_count(&parts, &unknown, count, &event) < 0 ||
	    evsys_encode(root, &found, terms, &event, err) < 0 ||
	    name_pmu_event(&parts, pmu, terms, &event) < 0)
		return -EINVAL;
	event.outside_cores = found.cpumask != NULL;
	*ret = event;
	return 0;
}

int event_parse_on(const struct cpu_type *type, const char *spec, struct event *ret,
		   struct error *err)
{
	return parse(&(struct place){ type, NULL }, spec, ret, err);
}

int event_parse_at(const char *root, const char *spec, struct event *ret, struct error *err)
{
	return parse(&(struct place){ cpu_type_detect(root, false), root }, spec, ret, err);
}

int event_parse(const char *spec, struct event *ret, struct error *err)
{
	return event_parse_at("", spec, ret, err);
}
