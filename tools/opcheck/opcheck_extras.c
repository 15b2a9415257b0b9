/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "dwarf/kept_lines.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "tools/opcheck/opcheck.h"
#include "chains/chain_history.h"
#include "chains/chain_merge.h"
#include "chains/chain_read.h"
#include "history/history.h"
#include "history/history_check.h"
#include "history/history_kind.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "symbol/function_file.h"
#include "symbol/kallsyms.h"
#include "symbol/symtab.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* Reports what could not be read, if anything. */
static void note_unread(struct check *c, const struct error *err)
{
	if (!err->code)
		return;
	tool_warn("%s", err->text);
	c->sums.trouble++;
}

static void check_manifest(struct check *c)
{
	_cleanup_free_ char *path = path_join(c->samples_dir, "images"), *text = NULL;
	_cleanup_(manifest_closep) struct manifest *m = NULL;
	struct finding f = { .path = path, .action = ACTION_LEFT };
	struct error err = ERROR_INIT;

	if (manifest_open(c->samples_dir, false, &m, &err) < 0) {
		note_unread(c, &err);
		return;
	}
	/* A writer may be in the middle of the last line. */
	if (manifest_damaged(m) <= (c->depth == CHECK_ENDS))
		return;
	text = xasprintf("%zu damaged line%s", manifest_damaged(m),
			 text_plural(manifest_damaged(m)));
	f.text = text;
	if (c->repair && manifest_rewrite(m, &err) == 0)
		f.action = ACTION_REPAIRED;
	else
		f.failed = c->repair ? err.text : NULL;
	finding_report(c, &f);
}

/* Returns "nodes.0 is empty, 1 file cut short"; caller frees. */
static char *describe(const struct chain_damage *d)
{
	struct strbuf b = STRBUF_INIT;

	if (d->nodes)
		strbuf_addf(&b, "%" PRIu64 " node%s with %" PRIu64 " sample%s damaged, ", d->nodes,
			    text_plural(d->nodes), d->samples, text_plural(d->samples));
	if (d->emptied)
		strbuf_addf(&b, "nodes.%" PRIu32 " is empty, ", d->emptied_number);
	if (d->absent)
		strbuf_addf(&b, "%s.%" PRIu32 " is missing, ", d->absent_name, d->absent_number);
	if (d->lost)
		strbuf_addf(&b, "call chains of at least %" PRIu64 " sample%s lost, ", d->lost,
			    text_plural(d->lost));
	if (d->missing)
		strbuf_addf(&b, "%" PRIu64 " file%s cut short, ", d->missing,
			    text_plural(d->missing));
	if (d->bytes)
		strbuf_addf(&b, "%" PRIu64 " byte%s of names unreadable, ", d->bytes,
			    text_plural(d->bytes));
	strbuf_cut(&b, b.length - strlen(", "));
	return strbuf_take(&b);
}

/* Describes damage of the chains. Returns NULL if there is none, or if they cannot be read: then
 * @err says why. Caller frees. */
static char *chain_problem(const struct check *c, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct chain_damage damage;

	if (chain_reader_open(c->samples_dir, NULL, &r, err) < 0)
		return NULL;
	chain_reader_check(r, &damage);
	/* A writer may be adding nodes now. */
	if (!damage.any || (c->depth == CHECK_ENDS && !damage.nodes))
		return NULL;
	return describe(&damage);
}

static void check_chains(struct check *c)
{
	_cleanup_free_ char *path = path_join(c->samples_dir, CHAIN_DIRECTORY);
	struct error err = ERROR_INIT, why = ERROR_INIT;
	_cleanup_free_ char *text = chain_problem(c, &why);
	struct finding f = { .path = path, .action = ACTION_LEFT };

	f.text = text ? text : why.text;
	if (text) {
		if (c->repair && chain_repair(c->samples_dir, &err) == 0)
			f.action = ACTION_REPAIRED;
		else
			f.failed = c->repair ? err.text : NULL;
		finding_report(c, &f);
	} else if (why.code == -EBADMSG && c->repair) {
		finding_move_away(c, &f);
	} else if (why.code == -EBADMSG || why.code == -ENOTSUP) {
		/* Chains of another machine or version are not damaged: they are left alone. */
		finding_report(c, &f);
	} else if (why.code && why.code != -ENOENT) {
		note_unread(c, &why);
	}
}

/* What reports of a window of time skip, after check_chains(). */
static void check_chain_slices(struct check *c)
{
	_cleanup_free_ char *path = path_join(c->samples_dir, CHAIN_DIRECTORY), *text = NULL;
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct finding f = { .path = path, .action = ACTION_LEFT };
	struct error err = ERROR_INIT;
	struct chain_skipped skipped;
	int status = chain_reader_open(c->samples_dir, &WINDOW_ALL, &r, &err);

	if (status < 0) {
		/* Other files than the slices were reported. */
		if (strstr(err.text, "/slices."))
			tool_warn("%s", err.text);
		c->sums.trouble += strstr(err.text, "/slices.") != NULL;
		return;
	}
	skipped = chain_reader_skipped(r);
	/* A writer may be in the middle of the last slice. */
	if (c->depth == CHECK_ENDS || (!skipped.bytes && !skipped.samples))
		return;
	f.text = text = xasprintf("slices with %zu damaged bytes, and %" PRIu64
				  " samples of lost chains, which reports skip",
				  skipped.bytes, skipped.samples);
	finding_report(c, &f);
}

/* The segments that chains were rolled up to. */
static void check_chain_history(struct check *c)
{
	_cleanup_free_ char *path = path_join(c->samples_dir, CHAIN_DIRECTORY);
	struct error err = ERROR_INIT;
	_cleanup_free_ char *text = history_check(c->samples_dir, &history_chains, &err);
	struct finding f = { .path = path, .text = text, .action = ACTION_LEFT };

	note_unread(c, &err);
	if (text && c->depth != CHECK_ENDS)
		finding_report(c, &f);
}

/* Reports skip what is damaged; what is whole stays as it is, so there is nothing to repair. */
static void check_history(struct check *c)
{
	_cleanup_free_ char *path = path_join(c->samples_dir, HISTORY_DIRECTORY), *text = NULL;
	_cleanup_(history_freep) struct history *h = NULL;
	struct finding f = { .path = path, .action = ACTION_LEFT };
	struct error err = ERROR_INIT;

	/* There may be idle files without a history. */
	if (history_read(c->samples_dir, &WINDOW_ALL, NULL, &h, &err) < 0 && err.code != -ENOENT) {
		note_unread(c, &err);
		return;
	}
	if (c->depth == CHECK_ENDS)
		return;
	err = ERROR_INIT;
	text = history_check(c->samples_dir, &history_flat, &err);
	note_unread(c, &err);
	if (!text && h && history_covers(h)->damaged)
		text = xasprintf("%zu damaged bytes, which reports skip",
				 history_covers(h)->damaged);
	f.text = text;
	if (text)
		finding_report(c, &f);
}

/* Checks the functions kept of one file. The repair removes them: they are kept again with the next
 * sample of the file. */
static int check_functions(const struct dirtree_visit *visit, void *data)
{
	struct check *c = data;
	_cleanup_free_ char *symbols = session_symbols(c->samples_dir), *path = NULL;
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_(kept_lines_done) struct kept_lines lines = { 0 };
	struct finding f = { .text = "damaged functions, which reports ignore",
			     .action = ACTION_LEFT };

	if (!S_ISREG(visit->st.st_mode) || !strcmp(visit->name, "new.tmp"))
		return 0;
	f.path = path = path_join(symbols, visit->name);
	if (function_file_read(path, "", &st, NULL) != -EBADMSG &&
	    function_file_read_lines(path, &lines, NULL) != -EBADMSG)
		return 0;
	if (c->repair && dirtree_remove(visit->directory, visit->name, NULL) == 0)
		f.action = ACTION_REPAIRED;
	finding_report(c, &f);
	return 0;
}

/* Checks the functions that the sessions share, once: with the current one. */
static void check_symbols(struct check *c)
{
	_cleanup_free_ char *session = place_session(c->samples_dir);
	_cleanup_close_ int fd = -1;

	if (!session || strcmp(path_base(c->samples_dir), "current") != 0)
		return;
	fd = open(session, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		(void)dirtree_walk(fd, "symbols", check_functions, c, NULL);
}

/* The symbols of the kernel, which are only ever replaced as a whole. The next profiler saves them
 * again if the file is gone. */
static void check_kernel(struct check *c)
{
	_cleanup_free_ char *saved = path_join(c->samples_dir, "kallsyms"),
			    *path = xasprintf("%s" KALLSYMS_PACKED, saved), *text = NULL;
	struct finding f = { .path = path, .action = ACTION_LEFT };
	struct error err = ERROR_INIT;
	size_t damaged = 0;
	int r = kallsyms_check(saved, &damaged, &err);

	if (r == -EBADMSG) {
		f.text = "the kernel's symbols cannot be read";
		if (c->repair)
			finding_move_away(c, &f);
		else
			finding_report(c, &f);
	} else if (r < 0 && r != -ENOENT) {
		note_unread(c, &err);
	} else if (damaged) {
		f.text = text =
			xasprintf("the symbols of %zu image%s (kernel or module) are damaged, "
				  "which reports leave out",
				  damaged, text_plural(damaged));
		finding_report(c, &f);
	}
}

void check_extras(struct check *c)
{
	check_manifest(c);
	check_chains(c);
	check_chain_slices(c);
	check_chain_history(c);
	check_history(c);
	check_kernel(c);
	check_symbols(c);
}
