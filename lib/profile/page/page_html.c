/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/page.h"

#include "base/json.h"
#include "base/macro.h"
#include "base/mem.h"
#include "profile/print/gzip.h"
#include "profile/print/report.h"
#include "web/web_page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Where the data go, in the page, then those of the profile to compare with, those of other events,
 * and the sources. */
static const char *const places[] = { "@DATA@", "@SECOND@", "@EVENTS@", "@SOURCES@" };

/* What data and sources have of a file. */
static const size_t bytes_for_all = PAGE_BYTES_MAX - WEB_PAGE_LENGTH;

/* Sources are never compressed to less than one of so many bytes. */
enum { PACKED_TO = 20 };

/* A gzip header and trailer, for inflateInit2(). */
enum { GZIP_WINDOW = 15 + 16 };

/* Unpacks the page that is part of the program; caller frees. */
static char *unpack_page(void)
{
	char *text = xmalloc(WEB_PAGE_LENGTH + 1);
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)web_page_gz,
		       .avail_in = sizeof(web_page_gz),
		       .next_out = (unsigned char *)text,
		       .avail_out = WEB_PAGE_LENGTH };

	/* Nothing else can be wrong. */
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END)
		mem_exhausted();
	(void)inflateEnd(&z);
	text[WEB_PAGE_LENGTH] = '\0';
	return text;
}

size_t page_packed(const void **ret)
{
	*ret = web_served_gz;
	return sizeof(web_served_gz);
}

const char *page_policy(void)
{
	return WEB_PAGE_POLICY "; frame-ancestors 'none'";
}

static void print_base64(const unsigned char *data, size_t size, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i;

	for (i = 0; i < size; i += 3) {
		uint32_t bits = (uint32_t)data[i] << 16;

		bits |= i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0;
		bits |= i + 2 < size ? (uint32_t)data[i + 2] : 0;
		(void)putc(digits[bits >> 18], out);
		(void)putc(digits[bits >> 12 & 63], out);
		(void)putc(i + 1 < size ? digits[bits >> 6 & 63] : '=', out);
		(void)putc(i + 2 < size ? digits[bits & 63] : '=', out);
	}
}

/* How many bytes, at most, become @room bytes as base64. */
static size_t before_base64(size_t room)
{
	return room / 4 * 3;
}

/* Packs the data, with at most so much of them; caller frees. If they do not fit into @room bytes,
 * the end is missing. */
static char *pack_data(struct page *p, struct page_most most, size_t room, size_t *ret_size)
{
	_cleanup_free_ char *data = NULL;
	char *packed = NULL;
	size_t size = 0;
	FILE *memory = xmemstream(&data, &size);

	page_print(p, most, memory);
	xmemstream_close(memory, &data);
	memory = xmemstream(&packed, ret_size);
	gzip_print(data, size, before_base64(room), print_base64, memory);
	xmemstream_close(memory, &packed);
	return packed;
}

/* How many nodes and functions there are if not all fit, before the others of them go. */
enum { NODES_MANY = PAGE_NODES_MAX / 16, FUNCTIONS_MANY = 1000 };

/* About how many bytes a function takes, with its names and places, and a rare one of many. */
enum { FUNCTION_USUAL = 16, FUNCTION_RARE = 8 };

/* Data that are packed until they fit. */
struct fitting {
	struct page *page;
	struct page_most most;
	size_t functions;  /* of the profile */
	size_t room, size; /* bytes; ->size: of ->packed */
	char *packed;
};

static void pack(struct fitting *f)
{
	free(f->packed);
	f->packed = pack_data(f->page, f->most, f->room, &f->size);
}

/* Leaves out nodes, half of them at a time, as long as there are more than @least. */
static void leave_out_nodes(struct fitting *f, size_t least)
{
	while (f->size > f->room && f->most.nodes > least) {
		size_t shown = MIN(f->most.nodes, page_nodes(f->page));

		f->most.nodes = MAX(shown / 2, (size_t)1);
		pack(f);
	}
}

/* How many functions may fit, between @fits, of which each took so many bytes, and @too_many. */
static size_t guess_functions(const struct fitting *f, size_t fits, size_t each, size_t too_many)
{
	const size_t more = (f->room - f->size) / 32 * 31 / each + 1;

	return fits + MIN(more, (too_many - fits) / 2);
}

/* Takes more functions than those that were packed, as long as many more may fit. It is not known
 * by how much the data are too large, so it begins with few. */
static void add_functions(struct fitting *f, size_t too_many)
{
	size_t each = f->most.functions > FUNCTIONS_MANY ? FUNCTION_RARE : FUNCTION_USUAL;

	while (f->room - f->size > f->room / 16 &&
	       too_many - f->most.functions > too_many / 16 + 1) {
		struct fitting next = *f;

		next.packed = NULL;
		next.most.functions = guess_functions(f, f->most.functions, each, too_many);
		pack(&next);
		if (next.size > f->room) {
			too_many = next.most.functions;
			free(next.packed);
			continue;
		}
		if (next.size > f->size)
			each = (next.size - f->size) / (next.most.functions - f->most.functions) +
			       1;
		free(f->packed);
		*f = next;
	}
}

/* Leaves out functions, but not the first @least: about as few as possible. */
static void leave_out_functions(struct fitting *f, size_t least)
{
	size_t too_many = f->functions;

	if (f->size > f->room && f->most.functions > least) {
		too_many = f->most.functions;
		f->most.functions = least;
		pack(f);
	}
	if (f->size <= f->room && f->most.functions < too_many)
		add_functions(f, too_many);
}

/* Begins with so many nodes, and all functions; of more than can fit, with half of those that
 * usually do. */
static void begin(struct fitting *f, const struct report *r, size_t nodes)
{
	f->functions = r->container->count;
	f->most = (struct page_most){ nodes, f->functions };
	if (f->functions > f->room / FUNCTION_RARE)
		f->most.functions = f->room / FUNCTION_USUAL / 2;
	f->page = page_begin(r, nodes);
	pack(f);
}

/* Whether there are more nodes than a page can have: then when the samples of so many were taken is
 * only read if fewer fit, and these have not too many counts in time already. */
static bool is_large(const struct report *r)
{
	return r->view->chains && r->chains->tree.count > PAGE_NODES_MAX;
}

/* Packs the data, as much of them as fits into @room bytes; caller frees. Of many nodes, the
 * smallest go first; then functions, as long as there are many. */
static char *pack_fitting_data(const struct report *r, size_t room, size_t *ret_size)
{
	struct fitting f = { .room = room };

	begin(&f, r, is_large(r) ? NODES_MANY : PAGE_NODES_MAX);
	if (f.most.nodes == NODES_MANY && f.most.functions == f.functions && f.size <= f.room &&
	    !page_is_crowded(f.page)) {
		page_end(f.page);
		begin(&f, r, PAGE_NODES_MAX);
	}
	leave_out_nodes(&f, NODES_MANY);
	leave_out_functions(&f, FUNCTIONS_MANY);
	leave_out_nodes(&f, 1);
	leave_out_functions(&f, 0);
	if (f.size > f.room) { /* nothing fits */
		f.room = SIZE_MAX;
		pack(&f);
	}
	page_end(f.page);
	*ret_size = f.size;
	return f.packed;
}

/* --- sources --- */

/* Prints the sources of the first @count functions, and how many there were. */
static void print_sources(const struct report *r, size_t count, FILE *out)
{
	size_t i;

	(void)fprintf(out, "{\"wanted\":%zu,\"functions\":[", r->source_count);
	for (i = 0; i < count; i++) {
		struct json j = JSON_INIT(out);

		(void)fputs(i ? ",\n[" : "\n[", out);
		json_bytes(&j, NULL, r->sources[i].key);
		(void)fprintf(out, ",%s]", r->sources[i].json);
	}
	(void)fputs("]}", out);
}

/* The sources of as many functions as fit into @room bytes, packed; caller frees. */
static char *pack_sources(const struct report *r, size_t room)
{
	size_t count = 0, raw = 0;

	while (count < r->source_count && raw / PACKED_TO <= room)
		raw += strlen(r->sources[count++].json);
	for (;; count -= (count + 3) / 4) {
		_cleanup_free_ char *text = NULL, *packed = NULL;
		size_t text_size = 0, size = 0;
		FILE *memory = xmemstream(&text, &text_size);

		print_sources(r, count, memory);
		xmemstream_close(memory, &text);
		memory = xmemstream(&packed, &size);
		gzip_print(text, text_size, SIZE_MAX, print_base64, memory);
		xmemstream_close(memory, &packed);
		if (size <= room || !count)
			return STEAL(packed);
	}
}

void page_second(const struct report *r, FILE *out)
{
	_cleanup_free_ char *data = NULL;
	size_t size = 0;

	data = pack_fitting_data(
		r, (bytes_for_all - PAGE_SOURCE_BYTES) / 2 / MAX(r->view->seconds, (size_t)1),
		&size);
	(void)fwrite(data, 1, size, out);
}

void page_html(const struct report *r, FILE *out)
{
	const char *second = r->view->second ?: "", *events = r->view->other_events ?: "";
	const size_t others = strlen(second) + strlen(events);
	const size_t room = bytes_for_all - MIN(others, bytes_for_all);
	_cleanup_free_ char *page = unpack_page(), *data = NULL, *sources = NULL;
	const char *parts[ARRAY_SIZE(places)];
	char *at = page;
	size_t size = 0, i;

	sources = pack_sources(r, MIN((size_t)PAGE_SOURCE_BYTES, room));
	data = pack_fitting_data(r, room - MIN(strlen(sources), room), &size);
	free(sources);
	sources = pack_sources(r, size < room ? room - size : 0);
	parts[0] = data;
	parts[1] = second;
	parts[2] = events;
	parts[3] = sources;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		char *place = strstr(at, places[i]);

		(void)fwrite(at, 1, (size_t)(place - at), out);
		(void)fputs(parts[i], out);
		at = place + strlen(places[i]);
	}
	(void)fputs(at, out);
}
