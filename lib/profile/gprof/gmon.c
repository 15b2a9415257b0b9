/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/gprof/gmon.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>

/*
 * The file (integers in the program's byte order, P: its word):
 *
 *	header		"gmon", u32 version 1, 12 zero bytes
 *	histogram	u8 0, P low, P high, u32 bins, u32 samples per second, char unit[15],
 *			char abbreviation, then bins times u16
 *	arc		u8 1, P from, P self, u32 count
 *
 * in any order and number. All histograms must have one scale, and ranges that are equal or apart.
 */
enum {
	TAG_HISTOGRAM = 0,
	TAG_ARC = 1,
	BIN_BYTES = 2,
	BIN_MAX = UINT16_MAX,
	RANGES = 512, /* approximate limit, because gprof searches them one by one */
	GAP_MIN = 512 /* bins without samples allowed inside a range */
};

void gmon_add_samples(struct gmon *g, uint64_t address, uint64_t low, uint64_t high, uint64_t count)
{
	uint64_t first = low / BIN_BYTES, end = high / BIN_BYTES, index = address / BIN_BYTES;

	/* gprof rounds the addresses of symbols down to whole bins. */
	if (index >= end && end > first)
		index = end - 1;
	array_grow(&g->bins, g->bin_count + 1, &g->bin_room);
	g->bins[g->bin_count++] = (struct gmon_bin){ index, count };
}

void gmon_add_arc(struct gmon *g, uint64_t from, uint64_t self, uint64_t count)
{
	array_grow(&g->arcs, g->arc_count + 1, &g->arc_room);
	g->arcs[g->arc_count++] = (struct gmon_arc){ from, self, count };
}

void gmon_done(struct gmon *g)
{
	free(g->bins);
	free(g->arcs);
	*g = (struct gmon){ 0 };
}

bool gmon_name_is_known(const char *name, const char *next)
{
	static const char *const clones[] = { ".clone.", ".constprop." };
	size_t i;

	if (strchr(name, '$'))
		return false;
	if (strchr(name, '.') && (!next || strpbrk(next, ".$")))
		return false;
	while ((name = strchr(name, '.'))) {
		bool digit = false;

		for (i = 0; i < ARRAY_SIZE(clones); i++)
			if (!strncmp(name, clones[i], strlen(clones[i])) && name[strlen(clones[i])])
				name += strlen(clones[i]) - 1;
		for (name++; *name && !(digit && *name == '.'); name++) {
			if (!isdigit((unsigned char)*name))
				return false;
			digit = true;
		}
	}
	return true;
}

/* --- sorting and adding up --- */

static int compare_bins(const void *pa, const void *pb)
{
	const struct gmon_bin *a = pa, *b = pb;

	return (a->index > b->index) - (a->index < b->index);
}

static int compare_arcs(const void *pa, const void *pb)
{
	const struct gmon_arc *a = pa, *b = pb;

	if (a->from != b->from)
		return (a->from > b->from) - (a->from < b->from);
	return (a->self > b->self) - (a->self < b->self);
}

static void settle(struct gmon *g)
{
	size_t i, n = 0;

	if (g->bin_count)
		qsort(g->bins, g->bin_count, sizeof(*g->bins), compare_bins);
	for (i = 0; i < g->bin_count; i++) {
		if (n && g->bins[n - 1].index == g->bins[i].index)
			g->bins[n - 1].count += g->bins[i].count;
		else
			g->bins[n++] = g->bins[i];
	}
	g->bin_count = n;
	if (g->arc_count)
		qsort(g->arcs, g->arc_count, sizeof(*g->arcs), compare_arcs);
	for (i = 0, n = 0; i < g->arc_count; i++) {
		if (n && compare_arcs(&g->arcs[n - 1], &g->arcs[i]) == 0)
			g->arcs[n - 1].count += g->arcs[i].count;
		else
			g->arcs[n++] = g->arcs[i];
	}
	g->arc_count = n;
}

/* --- writing --- */

static void put(const struct gmon *g, FILE *out, uint64_t value, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		(void)putc((int)(value >> 8 * (g->big_endian ? size - 1 - i : i) & 0xff), out);
}

static void put_address(const struct gmon *g, FILE *out, uint64_t value)
{
	put(g, out, value, g->is_64 ? 8 : 4);
}

/* Writes the header of a histogram of the bins from @first up to @end (exclusive). */
static void put_range(const struct gmon *g, FILE *out, uint64_t first, uint64_t end)
{
	static const char unit[15] = "samples";

	put(g, out, TAG_HISTOGRAM, 1);
	put_address(g, out, first * BIN_BYTES);
	put_address(g, out, end * BIN_BYTES);
	put(g, out, end - first, 4);
	put(g, out, 1, 4); /* one sample per unit */
	(void)fwrite(unit, 1, sizeof(unit), out);
	(void)putc('1', out); /* the unit that gprof prints: "1/call" */
}

/* Writes a bin whose count does not fit: as many histograms as necessary. */
static void put_hot(struct gmon *g, FILE *out, const struct gmon_bin *bin)
{
	uint64_t left = bin->count;
	unsigned int i;

	for (i = 0; left && i < GMON_REPEATS_MAX; i++) {
		uint64_t part = MIN(left, (uint64_t)BIN_MAX);

		put_range(g, out, bin->index, bin->index + 1);
		put(g, out, part, 2);
		left -= part;
	}
	g->capped += left;
}

/* The largest gap between bins of one range. */
static uint64_t gap_of(const struct gmon *g)
{
	uint64_t span = g->bins[g->bin_count - 1].index - g->bins[0].index;

	return MAX((uint64_t)GAP_MIN, span / RANGES);
}

/* Writes a histogram of the neighbouring bins from index @i on that are not hot; returns the index
 * after the last. */
static size_t put_bins(const struct gmon *g, FILE *out, size_t i, uint64_t gap)
{
	uint64_t at = g->bins[i].index;
	size_t end = i + 1;

	while (end < g->bin_count && g->bins[end].count <= BIN_MAX &&
	       g->bins[end].index - g->bins[end - 1].index <= gap)
		end++;
	put_range(g, out, at, g->bins[end - 1].index + 1);
	for (; i < end; i++, at++) {
		for (; at < g->bins[i].index; at++)
			put(g, out, 0, 2);
		put(g, out, g->bins[i].count, 2);
	}
	return end;
}

static void put_arcs(const struct gmon *g, FILE *out)
{
	size_t i;

	for (i = 0; i < g->arc_count; i++) {
		put(g, out, TAG_ARC, 1);
		put_address(g, out, g->arcs[i].from);
		put_address(g, out, g->arcs[i].self);
		put(g, out, MIN(g->arcs[i].count, (uint64_t)UINT32_MAX), 4);
	}
}

void gmon_write(struct gmon *g, FILE *out)
{
	static const char spare[12];
	size_t i = 0;

	settle(g);
	g->capped = 0;
	(void)fwrite("gmon", 1, 4, out);
	put(g, out, 1, 4);
	(void)fwrite(spare, 1, sizeof(spare), out);
	while (i < g->bin_count) {
		if (g->bins[i].count > BIN_MAX)
			put_hot(g, out, &g->bins[i++]);
		else
			i = put_bins(g, out, i, gap_of(g));
	}
	put_arcs(g, out);
}
