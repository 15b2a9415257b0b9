/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_code.h"

#include "base/mem.h"
#include "unwind/internal/cfi.h"
#include "unwind/internal/cfi_program.h"
#include "unwind/internal/unwind_rows.h"

#include <stdlib.h>

enum {
	/* Where the code is linked: so far up that a relative address can be below it. */
	CODE_ADDRESS = 1 << 30,
	FDES_MAX = 1024,
};

struct fdes {
	struct cfi_fde all[FDES_MAX];
	size_t count;
};

static int by_start(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Lists the FDEs that describe a part of the code, sorted. Most compilers write one for each piece;
 * wherever that is linked, it describes the code from its start. */
static void list_fdes(struct cfi *cfi, uint64_t size, struct fdes *ret)
{
	const uint64_t begin = CODE_ADDRESS, end = begin + size;
	size_t offset, next, total = 0;
	struct cfi_fde fde, only;

	for (offset = 0; offset < cfi->bytes.left; offset = next) {
		if (cfi_read(cfi, offset, &fde, &next) != 1)
			continue;
		if (total++ == 0)
			only = fde;
		if (fde.start >= begin && fde.start < end && ret->count < FDES_MAX)
			ret->all[ret->count++] = fde;
	}
	if (total == 1 && !ret->count) {
		only.end = begin + (only.end - only.start);
		only.start = begin;
		ret->all[ret->count++] = only;
	}
	qsort(ret->all, ret->count, sizeof(*ret->all), by_start);
}

/* Writes the rows of all FDEs. If one is damaged, its code has no rows. */
static void write_rows(const struct fdes *f, const struct unwind_cfi *cfi, struct unwind_rows *w)
{
	static const struct unwind_rule none = { .cfa = UNWIND_CFA_NONE };
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < f->count; i++) {
		const struct cfi_fde *fde = &f->all[i];
		struct unwind_rows_mark mark;

		unwind_rows_limit(w, cfi->size);
		if (fde->start - CODE_ADDRESS > end)
			unwind_rows_put_rule(w, end, &none);
		end = MIN(fde->end - CODE_ADDRESS, cfi->size);
		if (i + 1 < f->count)
			end = MIN(end, f->all[i + 1].start - CODE_ADDRESS);
		unwind_rows_limit(w, end);
		mark = unwind_rows_mark(w);
		if (cfi_program_run(fde, cfi->machine, w) < 0)
			unwind_rows_rewind(w, &mark);
	}
	unwind_rows_limit(w, cfi->size);
	unwind_rows_put_rule(w, end, &none);
}

/* Copies the rows, each with its rule. Returns their number. */
static size_t copy_rows(const struct unwind_rows *w, size_t count, const struct unwind_rules *rules,
			struct unwind_code_row *ret)
{
	const struct unwind_rule *all = unwind_rules_all(rules, &(size_t){ 0 });
	size_t i, page = 0, n = 0;

	for (i = 0; i < count; i++) {
		while (i >= w->pages[page + 1])
			page++;
		/* A page starts with the row before. */
		if (i && i == w->pages[page] && w->rows[i].rule == w->rows[i - 1].rule)
			continue;
		ret[n++] = (struct unwind_code_row){
			(uint32_t)(page << UNWIND_PAGE_SHIFT | w->rows[i].pc),
			all[w->rows[i].rule],
		};
	}
	return n;
}

size_t unwind_code_read(const struct unwind_cfi *cfi, struct unwind_code_row **ret)
{
	struct cfi in = { .bytes = cfi->bytes,
			  .address = CODE_ADDRESS + ((cfi->size + 7) & ~7ULL),
			  .machine = cfi->machine };
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = NULL;
	_cleanup_free_ struct fdes *fdes = NULL;
	struct unwind_rows rows;
	size_t count, n = 0;

	if (!cfi->size || cfi->size > UNWIND_CODE_MAX || cfi->bytes.left > UNWIND_CODE_CFI_MAX)
		return 0;
	fdes = xcalloc(1, sizeof(*fdes));
	list_fdes(&in, cfi->size, fdes);
	rules = unwind_rules_new();
	unwind_rows_init(&rows, rules, CODE_ADDRESS,
			 (size_t)((cfi->size + 0xffff) >> UNWIND_PAGE_SHIFT), 16);
	write_rows(fdes, cfi, &rows);
	count = unwind_rows_finish(&rows);
	if (fdes->count && count <= UNWIND_CODE_ROWS_MAX) {
		*ret = xcalloc(count, sizeof(**ret));
		n = copy_rows(&rows, count, rules, *ret);
	}
	free(rows.rows);
	free(rows.pages);
	cfi_done(&in);
	return n;
}
