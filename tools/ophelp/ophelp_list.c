/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/ophelp/ophelp_list.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "event/evtrace.h"

#include <inttypes.h>
#include <string.h>

enum { EVENT_INDENT = 8, MASK_INDENT = 16 };

static bool has(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

static bool matches(const struct catalog_event *e, const char *word)
{
	size_t i;

	if (!word || has(e->name, word) || has(e->description, word))
		return true;
	for (i = 0; i < e->mask_count; i++)
		if (has(e->masks[i].name, word) || has(e->masks[i].description, word))
			return true;
	return false;
}

/* Adds what counts the event: "0,1", "all", "kernel". */
static void add_counters(struct strbuf *out, const struct catalog_event *e)
{
	unsigned int i;

	if (e->kind == CATALOG_SOFTWARE || e->kind == CATALOG_TIMER) {
		strbuf_adds(out, "kernel");
		return;
	}
	if (e->kind == CATALOG_FEATURE) {
		strbuf_adds(out, e->feature);
		return;
	}
	if (e->pmu) {
		strbuf_addf(out, "%s%s", e->pmu, e->outside_cores ? ", of a socket" : "");
		return;
	}
	if (e->counters == UINT64_MAX) {
		strbuf_adds(out, "all");
		return;
	}
	for (i = 0; i < 64; i++) {
		if (!(e->counters >> i & 1))
			continue;
		strbuf_adds(out, e->counters & ((1ULL << i) - 1) ? "," : "");
		strbuf_addu(out, i);
	}
}

/* Adds the default mask: its name if it has one, otherwise its number. */
static void add_default(struct strbuf *out, const struct catalog_event *e)
{
	size_t i;

	for (i = 0; i < e->mask_count; i++)
		if (e->masks[i].name && catalog_mask_number(&e->masks[i]) == e->default_mask) {
			strbuf_adds(out, e->masks[i].name);
			return;
		}
	strbuf_adds(out, "0x");
	strbuf_addx(out, e->default_mask, 2);
}

/* Text output. It can be 10 MB (all PMUs of libpfm4), so it is built without format strings. */
struct page {
	struct strbuf out, line;
	unsigned int width;
};

static void page_done(struct page *p)
{
	strbuf_done(&p->out);
	strbuf_done(&p->line);
}

static void text_mask(struct page *p, const struct catalog_mask *mask)
{
	strbuf_clear(&p->line);
	strbuf_adds(&p->line, "0x");
	strbuf_addx(&p->line, mask->value, 2);
	strbuf_adds(&p->line, ": ");
	if (mask->name) {
		strbuf_adds(&p->line, "(name=");
		strbuf_adds(&p->line, mask->name);
		strbuf_adds(&p->line, ") ");
	}
	strbuf_adds(&p->line, mask->description);
	strbuf_fill(&p->out, ' ', EVENT_INDENT);
	text_wrap(&p->out, strbuf_text(&p->line), MASK_INDENT, p->width);
}

static void text_event(struct page *p, const struct catalog_event *e, FILE *stream)
{
	size_t i;

	strbuf_clear(&p->out);
	strbuf_clear(&p->line);
	strbuf_adds(&p->out, e->name);
	strbuf_adds(&p->out, ": (counter: ");
	add_counters(&p->out, e);
	strbuf_adds(&p->out, ")\n");
	strbuf_fill(&p->out, ' ', EVENT_INDENT);
	strbuf_adds(&p->line, e->description);
	if (e->minimum) {
		strbuf_adds(&p->line, " (min count: ");
		strbuf_addu(&p->line, e->minimum);
		strbuf_adds(&p->line, ")");
	}
	text_wrap(&p->out, strbuf_text(&p->line), EVENT_INDENT, p->width);
	if (e->mask_count) {
		strbuf_fill(&p->out, ' ', EVENT_INDENT);
		strbuf_adds(&p->out, "Unit masks (default ");
		add_default(&p->out, e);
		strbuf_adds(&p->out, e->bitmask ? ", may be combined)\n" : ")\n");
		strbuf_fill(&p->out, ' ', EVENT_INDENT);
		strbuf_adds(&p->out, "----------\n");
	}
	for (i = 0; i < e->mask_count; i++)
		text_mask(p, &e->masks[i]);
	(void)fwrite(strbuf_text(&p->out), 1, p->out.length, stream);
}

static void put_escaped(const char *text, FILE *out)
{
	static const struct {
		char c;
		const char *entity;
	} entities[] = {
		{ '&', "&amp;" },
		{ '<', "&lt;" },
		{ '>', "&gt;" },
		{ '"', "&quot;" },
	};
	size_t i;

	for (; *text; text++) {
		for (i = 0; i < ARRAY_SIZE(entities) && entities[i].c != *text;)
			i++;
		if (i < ARRAY_SIZE(entities))
			(void)fputs(entities[i].entity, out);
		else
			(void)fputc(*text, out);
	}
}

static void xml_attribute(const char *name, const char *value, FILE *out)
{
	(void)fprintf(out, " %s=\"", name);
	put_escaped(value, out);
	(void)fputc('"', out);
}

static void xml_number(const char *name, uint64_t value, FILE *out)
{
	(void)fprintf(out, " %s=\"%" PRIu64 "\"", name, value);
}

/* Returns the default mask's value, without further bits. */
static uint32_t default_value(const struct catalog_event *e)
{
	size_t i;

	for (i = 0; i < e->mask_count; i++)
		if (catalog_mask_number(&e->masks[i]) == e->default_mask)
			return e->masks[i].value;
	return e->default_mask;
}

static void xml_masks(const struct catalog_event *e, FILE *out)
{
	size_t i;

	(void)fputs("    <unit_masks", out);
	xml_number("default", default_value(e), out);
	xml_attribute("category", e->bitmask ? "bitmask" : "exclusive", out);
	(void)fputs(">\n", out);
	for (i = 0; i < e->mask_count; i++) {
		(void)fputs("      <unit_mask", out);
		if (e->masks[i].name)
			xml_attribute("name", e->masks[i].name, out);
		xml_number("mask", e->masks[i].value, out);
		xml_attribute("desc", e->masks[i].description, out);
		(void)fputs("/>\n", out);
	}
	(void)fputs("    </unit_masks>\n", out);
}

/* Returns the numbers of an event's counters as OProfile 1.x writes them: 32 bits, 0 for an event
 * that is not counted by the CPU. */
static uint32_t counter_mask(const struct catalog_event *e)
{
	return e->kind == CATALOG_COUNTER && !e->pmu ? (uint32_t)e->counters : 0;
}

/* Prints an event with the elements and attributes of OProfile 1.x (ophelp.xsd). */
static void xml_event(const struct catalog_event *e, FILE *out)
{
	(void)fputs("  <event", out);
	xml_attribute("event_name", e->name, out);
	xml_attribute("desc", e->description, out);
	xml_number("counter_mask", counter_mask(e), out);
	if (e->feature)
		xml_attribute("ext", e->feature, out);
	xml_number("min_count", e->minimum, out);
	(void)fputs(e->mask_count ? ">\n" : "/>\n", out);
	if (!e->mask_count)
		return;
	xml_masks(e, out);
	(void)fputs("  </event>\n", out);
}

static void json_mask(struct json *j, const struct catalog_mask *mask)
{
	json_open(j, NULL, '{');
	json_hex(j, "mask", mask->value);
	if (mask->name)
		json_string(j, "name", mask->name);
	if (mask->extra)
		json_hex(j, "extra", mask->extra);
	json_string(j, "description", mask->description);
	json_close(j, '}');
}

static void json_event(struct json *j, const struct catalog_event *e)
{
	_cleanup_(strbuf_done) struct strbuf counters = STRBUF_INIT, usual = STRBUF_INIT;
	size_t i;

	add_counters(&counters, e);
	add_default(&usual, e);
	json_line(j);
	json_open(j, NULL, '{');
	json_string(j, "name", e->name);
	json_string(j, "description", e->description);
	json_hex(j, "code", e->code);
	json_string(j, "counters", strbuf_text(&counters));
	json_u64(j, "minimum", e->minimum);
	json_u64(j, "count", e->count);
	json_string(j, "default_mask", strbuf_text(&usual));
	json_string(j, "mask_type", e->bitmask ? "bitmask" : e->masks ? "exclusive" : "none");
	json_open(j, "masks", '[');
	for (i = 0; i < e->mask_count; i++)
		json_mask(j, &e->masks[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static void begin_text(const char *title, const char *gap, unsigned int width, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s\n", title);
	if (gap)
		text_wrap(&text, gap, 0, width);
	(void)fprintf(out, "%s\n", strbuf_text(&text));
}

static void begin_xml(const char *title, const char *gap, FILE *out)
{
	(void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<help_events schemaversion=\"2.0\">\n  <header",
		    out);
	xml_attribute("title", title, out);
	if (gap)
		xml_attribute("doc", gap, out);
	(void)fputs("/>\n", out);
}

static void begin_json(const struct cpu_type *type, const char *gap, struct json *j)
{
	json_open(j, NULL, '{');
	json_string(j, "cpu_type", type->key);
	json_string(j, "title", type->pretty);
	if (gap)
		json_string(j, "note", gap);
	json_open(j, "events", '[');
}

static void end(enum ophelp_format format, struct json *j, FILE *out)
{
	if (format == OPHELP_XML)
		(void)fputs("</help_events>\n", out);
	if (format != OPHELP_JSON)
		return;
	json_close(j, ']');
	json_close(j, '}');
	(void)fputc('\n', out);
}

bool ophelp_any(const struct catalog *c, const char *word)
{
	size_t i;

	for (i = 0; i < catalog_size(c); i++)
		if (catalog_event_peek(c, i)->kind != CATALOG_TIMER &&
		    (!word || matches(catalog_event_at(c, i), word)))
			return true;
	return false;
}

/* A list that is being printed. */
struct listing {
	const char *word; /* that an event must have; NULL: any */
	enum ophelp_format format;
	FILE *out;
	struct page page;
	struct json json;
	size_t count;
};

static void listing_done(struct listing *l)
{
	page_done(&l->page);
}

static void list_event(struct listing *l, const struct catalog_event *e)
{
	if (!matches(e, l->word))
		return;
	l->count++;
	switch (l->format) {
	case OPHELP_TEXT:
		text_event(&l->page, e, l->out);
		break;
	case OPHELP_XML:
		xml_event(e, l->out);
		break;
	case OPHELP_JSON:
		json_event(&l->json, e);
		break;
	case OPHELP_FORMAT_COUNT_:
		break;
	}
}

static void list_tracepoint(const char *group, const char *name, void *data)
{
	_cleanup_free_ char *full = xasprintf("%s:%s", group, name);

	list_event(data, &(struct catalog_event){ .name = full,
						  .description = "A tracepoint of the kernel",
						  .kind = CATALOG_COUNTER,
						  .pmu = "tracepoint",
						  .minimum = 1,
						  .count = 1 });
}

size_t ophelp_list(const struct catalog *c, const char *root, const struct ophelp_output *to,
		   struct error *why)
{
	const struct cpu_type *type = catalog_type(c);
	_cleanup_free_ char *title = xasprintf(
		"oprofile: available events for CPU type \"%s\" (%s)", type->pretty, type->key);
	_cleanup_(listing_done) struct listing l = { .word = to->word,
						     .format = to->format,
						     .out = to->out,
						     .page = { .width = to->width },
						     .json = JSON_INIT(to->out) };
	size_t i;

	if (to->format == OPHELP_TEXT)
		begin_text(title, catalog_gap(c), to->width, to->out);
	else if (to->format == OPHELP_XML)
		begin_xml(title, catalog_gap(c), to->out);
	else
		begin_json(type, catalog_gap(c), &l.json);
	for (i = 0; i < catalog_size(c); i++)
		list_event(&l, catalog_event_at(c, i));
	/* There are thousands, too many for the whole list. */
	if (root && to->word)
		(void)evtrace_each(root, list_tracepoint, &l, why);
	end(to->format, &l.json, to->out);
	return l.count;
}
