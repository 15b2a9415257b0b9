/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/kernel_events.h"

#include "base/mem.h"
#include "file/path.h"
#include "identity/cookie.h"
#include "perf/perf_record.h"

#include <string.h>
#include <sys/stat.h>

bool kernel_events_modules_changed(const char *root, uint64_t *count)
{
	_cleanup_free_ char *path = path_under(root, "/sys/module");
	uint64_t before = *count;
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	*count = st.st_nlink;
	return before && before != *count;
}

enum kernel_event kernel_events_read(const struct perf_record *r, struct cookie_table *cookies,
				     struct kernel_code *ret)
{
	if (r->type == PERF_RECORD_LOST)
		return KERNEL_EVENT_LOOK;
	if (r->type != PERF_RECORD_KSYMBOL)
		return KERNEL_EVENT_NONE;
	if (r->code.type != PERF_RECORD_KSYMBOL_TYPE_BPF &&
	    r->code.type != PERF_RECORD_KSYMBOL_TYPE_OOL)
		return KERNEL_EVENT_LOOK;
	/* Samples of code that is gone may still come, until other code takes its place. */
	if (r->code.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER || !*r->code.name)
		return KERNEL_EVENT_NONE;
	*ret = (struct kernel_code){ r->time_ns, r->code.start, r->code.length,
				     cookie_code(cookies, r->code.name) };
	return KERNEL_EVENT_CODE;
}

/* Drops the codes that were taken. */
static void close_up(struct kernel_events *e)
{
	e->count -= e->taken;
	memmove(e->codes, e->codes + e->taken, e->count * sizeof(*e->codes));
	e->taken = 0;
}

void kernel_events_add(struct kernel_events *e, const struct kernel_code *code)
{
	size_t i;

	if (e->taken)
		close_up(e);
	array_grow(&e->codes, e->count + 1, &e->room);
	for (i = e->count++; i && e->codes[i - 1].at_ns > code->at_ns; i--)
		e->codes[i] = e->codes[i - 1];
	e->codes[i] = *code;
}

uint32_t kernel_events_epoch(const struct kernel_events *e, uint64_t at_ns)
{
	return (uint32_t)(FIRST_NOT(i, e->taken, e->count, e->codes[i].at_ns <= at_ns) - e->taken);
}

bool kernel_events_take(struct kernel_events *e, uint64_t until_ns, struct kernel_code *ret)
{
	if (e->taken == e->count || e->codes[e->taken].at_ns > until_ns)
		return false;
	*ret = e->codes[e->taken++];
	return true;
}

void kernel_events_done(struct kernel_events *e)
{
	free(e->codes);
	*e = (struct kernel_events){ 0 };
}
