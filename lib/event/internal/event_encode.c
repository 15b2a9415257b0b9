/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/event_encode.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "event/evpfm.h"

#include <linux/perf_event.h>
#include <string.h>

void event_fill(struct event *event, const struct catalog_event *info)
{
	*event = (struct event){
		.count = info->count,
		.code = info->code,
		.unit_mask = info->default_mask,
		.kernel = true,
		.user = true,
		.is_timer = info->kind == CATALOG_TIMER,
		.perf_type = info->perf_type,
		.perf_config = info->perf_config,
		.feature = info->feature,
	};
	assert(strlen(info->name) < sizeof(event->name));
	strcpy(event->name, info->name);
}

/* Returns the names of the masks that make up @number; the caller frees it. */
static char *names_of_mask(const struct catalog_event *info, uint32_t number)
{
	struct strbuf names = STRBUF_INIT;
	size_t i;

	for (i = 0; i < info->mask_count; i++)
		if (catalog_mask_number(&info->masks[i]) == number)
			return xstrdup(info->masks[i].name);
	for (i = 0; i < info->mask_count && info->bitmask; i++) {
		if (!(info->masks[i].value & number) ||
		    __builtin_popcount(info->masks[i].value) != 1)
			continue;
		strbuf_addf(&names, "%s%s", names.length ? "+" : "", info->masks[i].name);
		number &= ~info->masks[i].value;
	}
	return strbuf_take(&names);
}

/* perf_event_attr.precise_ip: requests no skid; the kernel may refuse. */
enum { PRECISE_NO_SKID = 2 };

/* Makes the event select register's value. On AMD the upper bits of the code are at 35:32; a mask
 * with extra bits already has all of them in place. */
static void encode_register(const struct catalog_event *info, const struct cpu_type *type,
			    struct event *event)
{
	const bool amd = !strncmp(type->key, "x86-64/", strlen("x86-64/"));
	uint64_t mask = event->unit_mask;
	size_t i;

	if (amd)
		event->perf_config = (info->perf_config & 0xff) | (info->perf_config & 0xf00) << 24;
	for (i = 0; i < info->mask_count; i++) {
		if (info->masks[i].extra && catalog_mask_number(&info->masks[i]) == mask) {
			event->perf_config |= mask & ~(uint64_t)CATALOG_MASK_PRECISE;
			event->precise = mask & CATALOG_MASK_PRECISE ? PRECISE_NO_SKID : 0;
			return;
		}
	}
	event->perf_config |= mask << 8;
}

int event_encode(const struct catalog_event *info, const struct cpu_type *type, struct event *event,
		 struct error *err)
{
	_cleanup_free_ char *names = NULL;
	int r = 0;

	event->perf_config = info->perf_config;
	if (info->pfm) {
		names = *event->masks ? xstrdup(event->masks)
				      : names_of_mask(info, event->unit_mask);
		r = evpfm_encode(info, names, event, err);
	} else if (info->perf_type == PERF_TYPE_RAW) {
		encode_register(info, type, event);
	}
	event->precise = MAX(event->precise, event->precise_by);
	return r;
}
