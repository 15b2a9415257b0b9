/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/unwind_errand.h"

#include "base/mem.h"
#include "identity/opener.h"
#include "parser/parser_pages.h"

void unwind_errand_free(struct unwind_errand *e)
{
	if (!e)
		return;
	free(e->image.path);
	free(e->bytes);
	free(e);
}

static void drop(struct errand *e)
{
	unwind_errand_free((struct unwind_errand *)e);
}

static void run(struct errand *errand)
{
	struct unwind_errand *e = (struct unwind_errand *)errand;

	if (e->cookie)
		e->code = opener_table_bytes(e->opener, &e->image, &e->where, &e->bytes, &e->size);
	else
		e->code = opener_code(e->opener, &e->where, e->bytes);
}

static struct unwind_errand *make(struct opener *o)
{
	struct unwind_errand *e = xcalloc(1, sizeof(*e));

	e->errand = (struct errand){ .run = run, .drop = drop };
	e->opener = o;
	return e;
}

struct errand *unwind_errand_table(struct opener *o, const struct cookie_image *image,
				   const struct cookie_mapped *where)
{
	struct unwind_errand *e = make(o);

	e->cookie = image->cookie;
	e->image = *image;
	e->image.path = xstrdup(image->path);
	e->image.host = NULL;
	e->where = *where;
	e->where.root = "";
	return &e->errand;
}

struct errand *unwind_errand_code(struct opener *o, uint32_t tgid, uint64_t page)
{
	struct unwind_errand *e = make(o);

	e->where = (struct cookie_mapped){ .root = "", .tgid = tgid, .start = page };
	e->bytes = xmalloc(PARSER_PAGE_BYTES);
	return &e->errand;
}
