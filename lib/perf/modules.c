/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/modules.h"

#include "base/path.h"
#include "identity/cookie.h"
#include "perf/perf_record.h"

#include <sys/stat.h>

bool modules_changed(const char *root, uint64_t *count)
{
	_cleanup_free_ char *path = path_under(root, "/sys/module");
	uint64_t before = *count;
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	*count = st.st_nlink;
	return before && before != *count;
}

enum modules_news modules_record(const struct perf_record *r, struct cookie_table *cookies,
				 struct kernel_code *ret)
{
	if (r->type == PERF_RECORD_LOST)
		return MODULES_LOOK;
	if (r->type != PERF_RECORD_KSYMBOL)
		return MODULES_NOTHING;
	if (r->code.type != PERF_RECORD_KSYMBOL_TYPE_BPF &&
	    r->code.type != PERF_RECORD_KSYMBOL_TYPE_OOL)
		return MODULES_LOOK;
	/* What is gone may still have samples, until other code takes its place. */
	if (r->code.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER || !*r->code.name)
		return MODULES_NOTHING;
	*ret = (struct kernel_code){ r->time_ns, r->code.start, r->code.length,
				     cookie_code(cookies, r->code.name) };
	return MODULES_CODE;
}
