/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/session_upkeep.h"

#include "base/strbuf.h"
#include "history/upkeep.h"
#include "collect/internal/cut_functions.h"
#include "collect/internal/old_code.h"
#include "collect/internal/references.h"
#include "sfile/manifest_unused.h"

/* Of tables of functions, before those that were not used for long are cut. */
static const uint64_t TABLES_BYTES = UINT64_C(1) << 20;

/* Of memory, which is limited, for those that are cut at a time. */
static const size_t TABLES_MEMORY = (size_t)32 << 20;

/* Of code made at run time, by processes that have ended. */
static const uint64_t CODE_BYTES = UINT64_C(256) << 20;

static bool is_referred_to(const char *name, void *data)
{
	return references_image(data, name);
}

int session_upkeep(const char *samples, const struct upkeep *how, struct strbuf *log)
{
	const int64_t until_s = (how->now_ms - (int64_t)how->idle_ms) / 1000;
	struct references refs = { 0 };

	int status = history_upkeep(samples, how, log);

	if (!how->idle_ms || how->spares_files)
		return MIN(status, 0);
	/* If some names cannot be read now, the next time will do. */
	if (references_read(samples, &refs) == 0) {
		const struct old_code code = { &refs, until_s, CODE_BYTES };

		(void)manifest_unused_write(samples, is_referred_to, &refs);
		old_code_remove(samples, &code, log);
	}
	references_done(&refs);
	cut_functions(samples, &(struct cut_functions){ until_s, TABLES_BYTES, TABLES_MEMORY });
	return MIN(status, 0);
}
