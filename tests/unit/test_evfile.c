/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evfile.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "event/internal/evdir.h"
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>

/* Two files that stand for all there is. */
struct texts {
	const char *events, *unit_masks;
};

static int from_texts(void *data, const char *key, const char *name, size_t from,
		      struct evfile_text *ret, struct error *err _unused_)
{
	const struct texts *texts = data;
	const char *text = strcmp(name, "events") ? texts->unit_masks : texts->events;

	if (strcmp(key, "cpu") != 0 || from || !text)
		return -ENOENT;
	*ret = (struct evfile_text){ xstrdup(text), xstrdup(name), 0 };
	return 0;
}

static int read_texts(struct evfile *f, const char *events, const char *unit_masks,
		      struct error *err)
{
	struct texts texts = { events, unit_masks };

	return evfile_read(f, "cpu", from_texts, &texts, err);
}

static const struct catalog_event *named(const struct evfile *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (!strcmp(f->events[i].name, name))
			return &f->events[i];
	return NULL;
}

#define MASKS                                                                                      \
	"name:zero type:mandatory default:0x0\n\t0x0 No unit mask\n"                               \
	"name:kinds type:bitmask default:0x3\n\t0x1 one\n\t0x2 two\n"

static void a_line_has_its_tags_in_any_order(void)
{
	_cleanup_(evfile_done) struct evfile f = { 0 };
	struct error err = ERROR_INIT;
	const struct catalog_event *e;

	CHECK_EQ(
		read_texts(&f,
			   "# comment\n\n"
			   "event:0x76 counters:0,2 um:zero minimum:3000 name:CLK : The : clock\n"
			   "  name:MISS minimum:7 um:kinds counters:cpuid event:0x141 :missed  \r\n"
			   "event:1 ext:ibs_op name:DERIVED : of a feature\n"
			   "event:2 perf:sw/4 count:10 minimum:1 name:MOVES : moves",
			   MASKS, &err),
		0);
	if (!CHECK(f.count == 4))
		return;
	e = &f.events[0];
	CHECK_STR(e->name, "CLK");
	CHECK_STR(e->description, "The : clock");
	CHECK_EQ(e->code, 0x76);
	CHECK_EQ(e->counters, 5);
	CHECK_EQ(e->minimum, 3000);
	CHECK_EQ(e->count, 100000);
	CHECK_EQ(e->mask_count, 0);
	CHECK_EQ(e->perf_type, PERF_TYPE_RAW);
	CHECK_EQ(e->perf_config, 0x76);
	e = &f.events[1];
	CHECK_STR(e->description, "missed");
	CHECK(e->counters == UINT64_MAX && e->bitmask && e->mask_count == 2);
	CHECK_EQ(e->default_mask, 3);
	CHECK_EQ(f.events[2].kind, CATALOG_FEATURE);
	CHECK_STR(f.events[2].feature, "ibs_op");
	e = &f.events[3];
	CHECK_EQ(e->kind, CATALOG_SOFTWARE);
	CHECK_EQ(e->count, 10);
	CHECK(e->perf_type == PERF_TYPE_SOFTWARE && e->perf_config == 4);
}

static void keep(enum log_level level _unused_, const char *text, void *data)
{
	strbuf_addf(data, "%s\n", text);
}

/* Each with what the warning says, which starts with file and line. */
static const struct {
	const char *events, *unit_masks, *says;
} mistakes[] = {
	{ "counters:0 name:A : a", NULL, "events:1: an event needs event:" },
	{ "event:1 counters:0 : a", NULL, "events:1: an event needs name:" },
	{ "event:1 event:2 counters:0 name:A : a", NULL, "events:1: tag 'event' is given twice" },
	{ "event:1 counters:0 colour:red name:A : a", NULL, "events:1: unknown tag 'colour'" },
	{ "event:1 counters: name:A : a", NULL, "events:1: tag 'counters' has no value" },
	{ "event:1 counters:0 word name:A : a", NULL, "events:1: 'word' is not tag:value" },
	{ "event:0x100000000 counters:0 name:A : a", NULL,
	  "events:1: event '0x100000000' is larger than 0xffffffff" },
	{ "event:x counters:0 name:A : a", NULL,
	  "events:1: event 'x' is not a hexadecimal number; the line is ignored\n" },
	{ "\nevent:1 counters:0 name:A a", NULL, "events:2: 'a' is not tag:value" },
	{ "event:1 counters:0,64 name:A : a", NULL, "events:1: counter '64' is larger than 63" },
	{ "event:1 counters:0 minimum:-1 name:A : a", NULL, "minimum '-1' is not a number" },
	{ "event:1 counters:0 filter:32 name:A : a", NULL, "filter '32' is larger than 31" },
	{ "event:1 counters:0 name:A.B : a", NULL, "events:1: 'A.B' is not a name" },
	{ "event:1 counters:0 name:A/B : a", NULL, "events:1: 'A/B' is not a name" },
	{ "event:1 counters:0 perf:hw name:A : a", NULL, "perf 'hw' is not TYPE/CONFIG" },
	{ "event:1 counters:0 perf:x/1 name:A : a", NULL, "perf type 'x' is not hw, sw" },
	{ "event:1 counters:0 um:x name:A : a", MASKS, "events:1: no unit mask 'x'" },
	{ "event:1 counters:0 um:zero,kinds name:A : a", MASKS,
	  "unit masks 'zero' and 'kinds' differ in type" },
	{ "event:1 counters:0 um:zero name:A : a", MASKS,
	  "unit_masks:3: no event uses unit mask 'kinds'" },
	{ "include:cpux", NULL, "events:1: cannot include events of cpux: no such file" },
	{ "include:cpu", NULL, "events:1: cannot include events of cpu: no such file" },
	{ "", "0x1 one", "unit_masks:1: '0x1 one' belongs to no unit mask" },
	{ "", "name:a default:0", "unit_masks:1: a unit mask needs name: and type:" },
	{ "", "default:0 name:a", "unit_masks:1: a unit mask needs name: and type:" },
	{ "", "name:a type:zero default:0\n0x0 a", "unit_masks:1: unit mask type 'zero' is not" },
	{ "", "name:a name:b type:mandatory default:0", "tag 'name' is given twice" },
	{ "", "name:a type:mandatory default:0 x:1", "unknown tag 'x:1'" },
	{ "", "name:a type:mandatory default:", "tag 'default:' has no value" },
	{ "", "name:a type:mandatory default:0", "unit_masks:1: unit mask 'a' has no masks" },
	{ "", "name:a type:mandatory default:0\n0 a\n1 b", "mandatory unit mask 'a' has more" },
	{ "", "\nname:a type:exclusive default:4\n0 a\n1 b",
	  "unit_masks:2: default '4' of unit mask 'a' is not one of its masks" },
	{ "", "name:a type:bitmask default:4\n1 a\n2 b", "default '4' of unit mask 'a'" },
	{ "", "name:a type:exclusive default:c\n1 extra: b B", "default 'c' of unit mask 'a'" },
	{ "", "name:a type:exclusive default:1\n\t1 a\nname:a type:exclusive default:1\n\t1 a",
	  "unit_masks:3: unit mask 'a' is defined twice" },
	{ "", "name:a type:bitmask default:1\nzero a", "unit_masks:2: unit mask 'zero' is not a" },
	{ "", "name:a type:bitmask default:1\n1 extra:blue b", "unknown extra 'blue'" },
	{ "", "name:a type:bitmask default:1\n1 extra:cmask=100 b",
	  "'cmask=100' is not a hexadecimal" },
	{ "", "name:a type:bitmask default:1\n1 extra:inv", "a mask with extra: needs a name" },
	{ "", "name:a type:bitmask default:1\n0x100 extra:inv b", "is at most 0xff" },
};

static void mistakes_are_named_with_their_line(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		_cleanup_(evfile_done) struct evfile f = { 0 };
		_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
		struct error err = ERROR_INIT;

		log_to(LOG_LEVEL_WARNING, keep, &said);
		CHECK_EQ(read_texts(&f, mistakes[i].events, mistakes[i].unit_masks, &err), 0);
		log_to(LOG_LEVEL_WARNING, NULL, NULL);
		if (!strstr(strbuf_text(&said), mistakes[i].says)) {
			printf("# '%s' gives '%s'\n", mistakes[i].says, strbuf_text(&said));
			CHECK(!"the message names the mistake");
		}
	}
}

/* Every mistake of a line between two good ones. */
static void a_mistake_costs_its_line(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		_cleanup_free_ char *events =
			xasprintf("event:1 counters:0 um:first name:FIRST : f\n%s\n"
				  "event:2 counters:0 um:last name:LAST : l\n",
				  mistakes[i].events);
		_cleanup_free_ char *masks =
			xasprintf("name:first type:exclusive default:1\n\t1 one\n\t2 two\n%s\n"
				  "name:last type:bitmask default:4\n\t4 four\n",
				  mistakes[i].unit_masks ?: "");
		_cleanup_(evfile_done) struct evfile f = { 0 };
		struct error err = ERROR_INIT;
		const struct catalog_event *e;

		CHECK_EQ(read_texts(&f, events, masks, &err), 0);
		e = named(&f, "FIRST");
		CHECK(e && e->code == 1 && e->mask_count >= 2 && e->default_mask == 1);
		e = named(&f, "LAST");
		CHECK(e && e->code == 2 && e->mask_count == 1 && e->bitmask);
	}
}

static void a_set_with_a_mistake_is_kept(void)
{
	static const char events[] = "event:1 um:a name:A : a\nevent:2 um:b name:B : b\n"
				     "event:3 um:c name:C : c\nevent:4 um:d name:D : d\n";
	static const char masks[] = "name:a type:mandatory default:0\n\t0 a\n\t1 b\n"
				    "name:b type:exclusive default:4\n\t2 a\n\t1 b\n"
				    "name:c type:exclusive default:2\n\tone a\n\t2 b\n"
				    "name:d type:none default:2\n\t1 a\n\t2 b\n";
	_cleanup_(evfile_done) struct evfile f = { 0 };
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
	struct error err = ERROR_INIT;
	const struct catalog_event *e;

	log_to(LOG_LEVEL_WARNING, keep, &said);
	CHECK_EQ(read_texts(&f, events, masks, &err), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	e = named(&f, "A");
	CHECK(e && e->mask_count == 2 && !e->bitmask && e->default_mask == 0);
	e = named(&f, "B");
	CHECK(e && e->mask_count == 2 && e->default_mask == 2);
	e = named(&f, "C");
	CHECK(e && e->mask_count == 1 && e->default_mask == 2);
	CHECK(!named(&f, "D"));
	CHECK_STR(
		strbuf_text(&said),
		"unit_masks:1: mandatory unit mask 'a' has more than one mask; it is read as "
		"exclusive\n"
		"unit_masks:4: default '4' of unit mask 'b' is not one of its masks; its first "
		"mask is the default\n"
		"unit_masks:8: unit mask 'one' is not a number; the line is ignored\n"
		"unit_masks:10: unit mask type 'none' is not mandatory, exclusive or bitmask; the "
		"line is ignored\n"
		"events:4: no unit mask 'd'; the line is ignored\n");
}

static void many_mistakes_are_counted(void)
{
	_cleanup_(evfile_done) struct evfile f = { 0 };
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT, text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	const char *at;
	size_t i, lines = 0;

	for (i = 0; i < 100; i++)
		strbuf_addf(&text, "event:%zx name:WRONG.%zu : a\n", i, i);
	strbuf_adds(&text, "event:7 name:RIGHT : a\n");
	log_to(LOG_LEVEL_WARNING, keep, &said);
	CHECK_EQ(read_texts(&f, strbuf_text(&text), NULL, &err), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	for (at = strbuf_text(&said); (at = strchr(at, '\n')); at++)
		lines++;
	CHECK_EQ(lines, 9);
	CHECK(strstr(strbuf_text(&said), "92 more mistakes in the events and unit masks of cpu\n"));
	CHECK(f.count == 1 && f.events[0].code == 7);
}

/* Constructs of the files of OProfile 0.9 and 1.x, as their reader understood them. */
static void constructs_of_the_originals_files_are_read(void)
{
	static const char events[] =
		"event:0x00 um:zero minimum:500 name:NO_COUNTERS : without counters\n"
		"event:0X0B10 counters:0 um:zero minimum:10000 name:TWICE : on 0\n"
		"event:0X0B11 counters:1 um:zero minimum:10000 name:TWICE : on 1\n"
		"event:0x24 counters:cpuid um:requests minimum:500 name:REQUESTS :\n"
		"event:0x7e counters:0,1 um:core,prefetch,mesi minimum:500 name:MERGED : merged\n"
		"event:0xfffffffe counters:0,1, minimum:500 name:HIGH :glued to the colon\n"
		"event:88 counters:0 um:zero minimum:500 name:BARE\n";
	static const char masks[] =
		"name:zero type:mandatory default:0x0\n\t0x0 No unit mask\n"
		"name:requests type:bitmask default:0x41\n"
		"\t0x41 extra: i_state Misses\n\t0x4F mesi All\n\t0x01 extra: i_state Invalid\n"
		"\t0x02 extra:cmask=1,edge s_state\n"
		"type:bitmask name:core default:0x180\n\t0x180 All cores\n\t0x080 This core\n"
		"name:prefetch type:bitmask default:0x60\n\t0x60 All\n\t0x20 Hardware\n\t0x00 No\n"
		"name:mesi type:bitmask default:0x0f\n\t0x08 M\n\t0x04 E\n\t0x02 S\n\t0x01 I\n";
	_cleanup_(evfile_done) struct evfile f = { 0 };
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
	struct error err = ERROR_INIT;
	const struct catalog_event *e;

	log_to(LOG_LEVEL_WARNING, keep, &said);
	CHECK_EQ(read_texts(&f, events, masks, &err), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK_STR(strbuf_text(&said), "");
	if (!CHECK(f.count == 7))
		return;
	CHECK_EQ(f.events[0].counters, UINT64_MAX);
	CHECK(f.events[1].code == 0xb10 && f.events[1].counters == 1);
	CHECK(f.events[2].code == 0xb11 && f.events[2].counters == 2);
	e = &f.events[3];
	CHECK_STR(e->description, "");
	if (CHECK(e->mask_count == 4)) {
		CHECK(catalog_mask_named(e, "i_state") == &e->masks[0]);
		CHECK_STR(e->masks[2].name, "i_state");
		CHECK(catalog_mask_valid(e, 1));
		CHECK_STR(e->masks[3].description, "s_state");
	}
	CHECK_EQ(f.events[4].default_mask, 0x180 | 0x60 | 0x0f);
	CHECK(f.events[5].code == 0xfffffffe && f.events[5].counters == 3);
	CHECK_STR(f.events[5].description, "glued to the colon");
	CHECK_EQ(f.events[6].code, 0x88);
}

/* They are not silent: who asks for more than warnings reads what is ambiguous. */
static void ambiguous_names_are_noted(void)
{
	_cleanup_(evfile_done) struct evfile f = { 0 };
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
	struct error err = ERROR_INIT;

	log_to(LOG_LEVEL_INFO, keep, &said);
	CHECK_EQ(read_texts(&f, "event:1 um:a name:A : a\nevent:2 um:a name:A : a",
			    "name:a type:bitmask default:1\n1 extra: b\n2 extra: b", &err),
		 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK_STR(strbuf_text(&said),
		  "unit_masks:3: mask name 'b' is given twice in 'a'; the first is used\n"
		  "event A is described twice; the first description is used\n");
}

static void too_many_masks_are_refused(void)
{
	char text[64 + 65 * 16] = "name:a type:bitmask default:0\n";
	size_t i, length = strlen(text);
	_cleanup_(evfile_done) struct evfile f = { 0 };
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
	struct error err = ERROR_INIT;

	for (i = 0; i < 65; i++)
		length += (size_t)sprintf(text + length, "\t%#zx m\n", i);
	log_to(LOG_LEVEL_WARNING, keep, &said);
	CHECK_EQ(read_texts(&f, "event:1 um:a name:A : a", text, &err), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK_STR(strbuf_text(&said),
		  "unit_masks:66: 'a' has more than 64 masks; the line is ignored\n");
	CHECK(f.count == 1 && f.events[0].mask_count == 64);
}

static void filtered_events_are_left_out(void)
{
	_cleanup_(evfile_done) struct evfile f = { .unavailable = 1U << 3 };
	struct error err = ERROR_INIT;

	CHECK_EQ(read_texts(&f,
			    "event:1 counters:0 filter:3 name:A : a\n"
			    "event:2 counters:0 filter:2 name:B : b\n",
			    NULL, &err),
		 0);
	CHECK_EQ(f.count, 1);
	CHECK(named(&f, "B"));
}

/* Two directories of tests/fixtures/events, the user's before the installed one. */
static void fixture_dirs(struct evdir *dirs, bool user)
{
	const char *root = getenv("OP_SOURCE_ROOT");

	*dirs = (struct evdir){ 0 };
	if (user)
		dirs->paths[dirs->count++] =
			xasprintf("%s/tests/fixtures/events/user", root ?: ".");
	dirs->paths[dirs->count++] = xasprintf("%s/tests/fixtures/events/tree", root ?: ".");
}

static void a_tree_of_the_originals_syntax_is_read(void)
{
	_cleanup_(evfile_done) struct evfile f = { 0 };
	_cleanup_(evdir_done) struct evdir dirs;
	struct error err = ERROR_INIT;
	const struct catalog_event *e;

	fixture_dirs(&dirs, false);
	if (!CHECK(evfile_read(&f, "i386/example", evdir_source, &dirs, &err) == 0)) {
		printf("# %s\n", err.text);
		return;
	}
	CHECK_EQ(f.count, 8);
	e = named(&f, "CPU_CLK_UNHALTED");
	CHECK(e && e->masks == NULL && e->counters == 0xf && e->code == 0x3c);
	/* Its own definition goes before that of the included file. */
	e = named(&f, "LLC_MISSES");
	CHECK(e && e->minimum == 7000);
	e = named(&f, "INST_RETIRED");
	CHECK(e && !strcmp(e->description, "from the included file"));
	e = named(&f, "MEM_LOAD");
	if (CHECK(e && e->mask_count == 4)) {
		CHECK_EQ(e->default_mask, 2); /* by name */
		CHECK_STR(e->masks[0].name, "l1_hit");
		CHECK_STR(e->masks[0].description, "hits of the first cache");
		CHECK_EQ(e->masks[2].extra, 1U << 18 | 1U << 23 | 0x1fU << 24);
		CHECK_EQ(catalog_mask_number(&e->masks[2]), e->masks[2].extra | 0x100);
		CHECK_EQ(e->masks[3].extra, 1U << 21 | CATALOG_MASK_PRECISE);
	}
	e = named(&f, "BOTH");
	CHECK(e && e->bitmask && e->mask_count == 4 && e->default_mask == 0x43);
	e = named(&f, "ONE_OF");
	CHECK(e && !e->bitmask && e->mask_count == 3 && e->default_mask == 0x10);
	e = named(&f, "SHARED");
	CHECK(e && e->mask_count == 1 && e->default_mask == 0x4f);
	CHECK(!named(&f, "IN_NO_FILE"));
}

static void a_users_files_go_before_and_may_include_those(void)
{
	_cleanup_(evfile_done) struct evfile f = { 0 };
	_cleanup_(evdir_done) struct evdir dirs;
	struct error err = ERROR_INIT;
	const struct catalog_event *e;

	fixture_dirs(&dirs, true);
	if (!CHECK(evfile_read(&f, "i386/example", evdir_source, &dirs, &err) == 0)) {
		printf("# %s\n", err.text);
		return;
	}
	CHECK_EQ(f.count, 9);
	e = named(&f, "CPU_CLK_UNHALTED");
	CHECK(e && e->minimum == 123);
	CHECK(named(&f, "MINE") && named(&f, "ONE_OF"));
	/* A type that the user has nothing of, and one that nobody has. */
	CHECK_EQ(evfile_read(&f, "plain", evdir_source, &dirs, &err), 0);
	CHECK_EQ(evfile_read(&f, "i386/nothing", evdir_source, &dirs, &err), -ENOENT);
	CHECK_EQ(evfile_read(&f, "../tree/common", evdir_source, &dirs, &err), -ENOENT);
}

static void includes_in_a_circle_end(void)
{
	_cleanup_(evfile_done) struct evfile f = { 0 };
	_cleanup_(evdir_done) struct evdir dirs;
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
	struct error err = ERROR_INIT;

	fixture_dirs(&dirs, false);
	log_to(LOG_LEVEL_WARNING, keep, &said);
	CHECK_EQ(evfile_read(&f, "circle/a", evdir_source, &dirs, &err), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK(strstr(strbuf_text(&said),
		     "circle/a/events:1: includes are nested more than 8 deep"));
}

static void the_first_definition_wins(void)
{
	_cleanup_(evfile_done) struct evfile f = { 0 };
	struct error err = ERROR_INIT;
	const struct catalog_event *e;

	CHECK_EQ(read_texts(&f, "event:1 counters:0 name:A : a", NULL, &err), 0);
	CHECK_EQ(read_texts(&f,
			    "event:2 counters:0 name:A : b\nevent:3 counters:0 um:kinds name:B : b",
			    "name:kinds type:bitmask default:1\n1 one", &err),
		 0);
	CHECK_EQ(f.count, 2);
	e = named(&f, "A");
	CHECK(e && e->code == 1);
	e = named(&f, "B");
	CHECK(e && e->mask_count == 1);
}

TESTS(T(a_line_has_its_tags_in_any_order), T(mistakes_are_named_with_their_line),
      T(a_mistake_costs_its_line), T(a_set_with_a_mistake_is_kept), T(many_mistakes_are_counted),
      T(constructs_of_the_originals_files_are_read), T(ambiguous_names_are_noted),
      T(too_many_masks_are_refused), T(filtered_events_are_left_out),
      T(a_tree_of_the_originals_syntax_is_read), T(a_users_files_go_before_and_may_include_those),
      T(includes_in_a_circle_end), T(the_first_definition_wins))
