/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists and checks the events of this or any other CPU. */
#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"
#include "event/evpfm.h"
#include "tools/ophelp/ophelp_check.h"
#include "tools/ophelp/ophelp_list.h"
#include "tools/common/screen.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool get_cpu_type, get_default, list_types, ignore_count, xml, json;
static const char *cpu_name, *root = "", *check_list, *mask_event, *extra_event, *word;
static uint64_t callgraph;
static struct screen screen;

static const struct opt opts[] = {
	{ 'c', "cpu-type", OPT_STRING, &cpu_name, "NAME|NUMBER",
	  "use CPUs of this type (default: this machine's; all: every PMU that libpfm4 knows)" },
	{ 0, "root", OPT_STRING, &root, "DIR",
	  "use the machine whose /proc and /sys are copied below DIR" },
	{ 0, "list-cpu-types", OPT_FLAG, &list_types, NULL, "print the names of all CPU types" },
	{ 'r', "get-cpu-type", OPT_FLAG, &get_cpu_type, NULL, "print the name of the CPU type" },
	{ 'd', "get-default-event", OPT_FLAG, &get_default, NULL, "print the default event" },
	{ 'e', "check-events", OPT_STRING, &check_list, "EVENT,...",
	  "check each NAME:count:unitmask:kernel:user, and print the counters they would use" },
	{ 'i', "ignore-count", OPT_FLAG, &ignore_count, NULL,
	  "with --check-events, do not check the counts" },
	{ 'u', "unit-mask", OPT_STRING, &mask_event, "EVENT",
	  "print the event's default unit mask" },
	{ 'E', "extra-mask", OPT_STRING, &extra_event, "EVENT",
	  "print the extra bits that NAME:count:unitmask sets beyond the unit mask" },
	{ 0, "callgraph", OPT_U64, &callgraph, "DEPTH", "accepted for compatibility; no effect" },
	{ 0, "search", OPT_STRING, &word, "WORD",
	  "list only events with WORD in their name, description or unit masks" },
	{ 'X', "xml", OPT_FLAG, &xml, NULL, "print the list as XML" },
	{ 0, "json", OPT_FLAG, &json, NULL, "print the list as JSON" },
	SCREEN_PAGER_OPTION(screen),
	TOOL_VERBOSE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "ophelp",
	.usage = "[OPTION]... [EVENT]",
	.summary = "List the events of a CPU, or print the code of EVENT.",
	.epilog = "Events of this machine are also its kernel's tracepoints (GROUP:NAME; as root, "
		  "--search=WORD finds them) and probes: kprobe:FUNCTION, kretprobe:FUNCTION, "
		  "uprobe:FILE:FUNCTION, uretprobe:FILE:FUNCTION, usdt:FILE:PROVIDER:NAME; see "
		  "operf(1).",
	.opts = opts,
};

/* Finds a type by its key, its number, or libpfm4's name of a PMU. */
static const struct cpu_type *type_named(const char *name)
{
	const struct cpu_type *type = cpu_type_named(name);
	uint64_t id;

	if (!type && parse_u64(name, 0, UINT32_MAX, &id) == 0)
		type = cpu_type_by_id((uint32_t)id);
	return type ?: catalog_pmu_type(name);
}

/* Edit distance of @name from a type's key, or from the part of the key after the architecture. */
static unsigned int type_distance(const char *name, const char *key)
{
	const char *slash = strchr(key, '/');
	unsigned int whole = text_distance(name, key);

	return slash ? MIN(whole, text_distance(name, slash + 1)) : whole;
}

static int unknown_type(const char *name, struct error *err)
{
	const struct cpu_type *type;
	const char *nearest = NULL;
	unsigned int least = UINT32_MAX, distance;
	struct evpfm_pmu pmu;
	size_t i;

	for (i = 0; (type = cpu_type_at(i)); i++) {
		distance = type_distance(name, type->key);
		if (distance < least) {
			least = distance;
			nearest = type->key;
		}
	}
	for (i = 0; evpfm_pmu_at(i, &pmu); i++) {
		distance = text_distance(name, pmu.name);
		if (distance < least) {
			least = distance;
			nearest = pmu.name;
		}
	}
	if (least <= strlen(name) / 2)
		return error_set(err, -EINVAL, "no CPU type '%s'; did you mean %s?", name, nearest);
	return error_set(err, -EINVAL, "no CPU type '%s'; run ophelp --list-cpu-types for a list",
			 name);
}

/* Parses a specification into @event, and finds the description of the event. */
static int find_info(const struct ophelp_place *place, const char *spec, struct event *event,
		     const struct catalog_event **ret, struct error *err)
{
	int r = ophelp_parse(place, spec, event, err);

	if (r < 0)
		return r;
	*ret = catalog_event_find(ophelp_catalog(place), event->name);
	return *ret ? 0
		    : error_set(err, -ENOENT, "event %s is raw and has no description",
				event->name);
}

/* The same for a name, which may also be that of an event derived by a feature. */
static int find_named(const struct ophelp_place *place, const char *name,
		      const struct catalog_event **ret, struct error *err)
{
	struct event event;

	*ret = catalog_event_find(ophelp_catalog(place), name);
	return *ret ? 0 : find_info(place, name, &event, ret, err);
}

static int print_code(const struct ophelp_place *place, const char *name, struct error *err)
{
	const struct catalog_event *info;
	int r = find_named(place, name, &info, err);

	if (r == 0)
		printf("0x%02" PRIx32 "\n", info->code);
	return r;
}

static int print_unit_mask(const struct ophelp_place *place, struct error *err)
{
	const struct catalog_event *info;
	int r = find_named(place, mask_event, &info, err);

	if (r == 0)
		printf("0x%02" PRIx32 "\n", info->default_mask);
	return r;
}

static int print_extra_mask(const struct ophelp_place *place, struct error *err)
{
	const struct catalog_event *info;
	struct event event;
	uint32_t extra = 0;
	size_t i;
	int r = find_info(place, extra_event, &event, &info, err);

	if (r < 0)
		return r;
	for (i = 0; i < info->mask_count; i++)
		if (catalog_mask_number(&info->masks[i]) == event.unit_mask)
			extra = info->masks[i].extra;
	printf("0x%" PRIx32 "\n", extra);
	return 0;
}

static int print_default(const struct ophelp_place *place, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	struct event event;
	int r = ophelp_parse(place, "default", &event, err);

	if (r < 0)
		return r;
	text = event_text_on(place->type, &event);
	printf("%s\n", text);
	return 0;
}

static int print_check(const struct ophelp_place *place, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	int r = ophelp_check(place, check_list, ignore_count, &out, err);

	(void)fputs(strbuf_text(&out), stdout);
	return r;
}

static void print_types(void)
{
	const struct cpu_type *type;
	struct evpfm_pmu pmu;
	size_t i;

	for (i = 0; (type = cpu_type_at(i)); i++)
		printf("%-28s %s\n", type->key, type->pretty);
	for (i = 0; evpfm_pmu_at(i, &pmu); i++)
		printf("pfm/%-24s %s\n", pmu.name, pmu.description);
}

static struct ophelp_output output(void)
{
	return (struct ophelp_output){ .word = word,
				       .format = xml	? OPHELP_XML
						 : json ? OPHELP_JSON
							: OPHELP_TEXT,
				       .width = screen.width,
				       .out = stdout };
}

/* Prints the events of every PMU that libpfm4 knows, skipping PMUs without events. */
static int print_all(struct error *err)
{
	const struct ophelp_output to = output();
	const struct catalog *c;
	struct evpfm_pmu pmu;
	size_t i, count = 0;

	for (i = 0; evpfm_pmu_at(i, &pmu); i++) {
		c = catalog_of(catalog_pmu_type(pmu.name));
		if (ophelp_any(c, word))
			count += ophelp_list(c, NULL, &to, NULL);
	}
	if (!i)
		return error_set(err, -ENOENT,
				 "no PMU to list: oprofile was built without libpfm4");
	return count ? 0 : error_set(err, -ENOENT, "no event contains '%s'", word ?: "");
}

static int print_list(const struct ophelp_place *place, struct error *err)
{
	struct error why = ERROR_INIT;
	const struct ophelp_output to = output();
	size_t count = ophelp_list(ophelp_catalog(place), place->root, &to, &why);

	/* The problem was a warning when the events were read. */
	if (catalog_problem(ophelp_catalog(place)))
		return error_set(err, -EBADMSG, "%s: no events except the clock", place->type->key);
	return count ? 0
		     : error_set(err, -ENOENT, "no event contains '%s'%s%s", word ?: "",
				 why.code ? "; " : "", why.code ? why.text : "");
}

static bool is_all(const char *name)
{
	return name && !strcmp(name, "all");
}

static int run(const struct ophelp_place *place, const char *operand, struct error *err)
{
	if (get_cpu_type)
		return printf("%s\n", place->type->key) < 0 ? error_errno(err, -errno, "output")
							    : 0;
	if (get_default)
		return print_default(place, err);
	if (check_list)
		return print_check(place, err);
	if (mask_event)
		return print_unit_mask(place, err);
	if (extra_event)
		return print_extra_mask(place, err);
	return operand ? print_code(place, operand, err) : print_list(place, err);
}

static int find_place(struct ophelp_place *ret, struct error *err)
{
	if (cpu_name)
		*ret = (struct ophelp_place){ type_named(cpu_name), NULL };
	else
		*ret = (struct ophelp_place){ cpu_type_detect(root, false), root };
	return ret->type ? 0 : unknown_type(cpu_name, err);
}

static int act(const char *operand, struct error *err)
{
	struct ophelp_place place;
	int r;

	if (list_types) {
		print_types();
		return 0;
	}
	if (is_all(cpu_name))
		return print_all(err);
	r = find_place(&place, err);
	return r < 0 ? r : run(&place, operand, err);
}

int main(int argc, char **argv)
{
	int operands = tool_options(&cmdline, argc, argv), r;
	struct error err = ERROR_INIT;
	int ways = get_cpu_type + get_default + list_types + (check_list != NULL) +
		   (mask_event != NULL) + (extra_event != NULL) + (operands < argc);
	bool listing = xml || json || word;

	if (ways + listing > 1 || argc - operands > 1)
		return tool_usage("more than one action given");
	if (cpu_name && *root)
		return tool_usage("--cpu-type and --root cannot be combined");
	if (is_all(cpu_name) && ways)
		return tool_usage("--cpu-type=all can only be listed and searched");
	if (is_all(cpu_name) && xml)
		return tool_usage("--xml and --cpu-type=all cannot be combined");
	if (xml && json)
		return tool_usage("--xml and --json cannot be combined");
	screen_open(&screen, stdout);
	r = act(argv[operands], &err);
	if (r < 0)
		return tool_fail(&err);
	return tool_finish(0);
}
