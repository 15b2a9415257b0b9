/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the sample files of sessions, and repairs them. */
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/owner.h"
#include "file/path.h"
#include "tools/opcheck/opcheck.h"
#include "sfile/idle.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "tools/common/confine.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Exit statuses other than 0. */
enum { EXIT_DAMAGE = 1, EXIT_TROUBLE = 2 };

static bool repair, json, quiet, verbose;
static const char *session_dir;

static const struct opt opts[] = {
	{ 'r', "repair", OPT_FLAG, &repair, NULL,
	  "repair damaged files; move those beyond repair to the session's damaged/" },
	{ 'q', "quiet", OPT_FLAG, &quiet, NULL, "print nothing, only set the exit status" },
	{ 'V', "verbose", OPT_FLAG, &verbose, NULL, "also list undamaged files" },
	{ 0, "session-dir", OPT_PATH, &session_dir, "DIR", "check the session directory DIR" },
	{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
	CONFINE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opcheck",
	.usage = "[OPTION]... [SESSION-DIR | SAMPLES-DIR | SAMPLE-FILE]...",
	.summary =
		"Verify sample files, or repair them (default: those of ./oprofile_data or, if it "
		"does not exist, of /var/lib/oprofile).",
	.epilog = "Exit status: 0 if all is well or repaired, 1 if damage is left, 2 if something "
		  "could not be read.",
	.opts = opts,
};

static const char *const action_names[] = {
	[ACTION_NONE] = "none",
	[ACTION_LEFT] = "left",
	[ACTION_REPAIRED] = "repaired",
	[ACTION_MOVED] = "moved",
};
static_assert(ARRAY_SIZE(action_names) == ACTION_COUNT_, "a name for each action");

/* --- printing --- */

static void print_json(struct json *j, const struct finding *f)
{
	int i;

	json_line(j);
	json_open(j, NULL, '{');
	json_bytes(j, "path", f->path);
	json_string(j, "action", action_names[f->action]);
	if (f->result) {
		json_u64(j, "nodes", f->result->nodes);
		json_u64(j, "samples", f->result->samples);
		json_open(j, "problems", '[');
		for (i = 0; i < CHECK_PROBLEM_COUNT_; i++)
			if (f->result->problems & 1u << i)
				json_string(j, NULL, check_problem_name(i));
		json_close(j, ']');
	}
	if (*f->text)
		json_bytes(j, "text", f->text);
	if (f->target)
		json_bytes(j, "moved_to", f->target);
	if (f->failed)
		json_bytes(j, "failed", f->failed);
	json_close(j, '}');
}

static void add_undamaged(struct strbuf *line, const struct check_result *found)
{
	_cleanup_free_ char *nodes = text_count(found->nodes, "node");
	_cleanup_free_ char *samples = text_count(found->samples, "sample");

	strbuf_addf(line, "undamaged: %s, %s", nodes, samples);
}

/* Names of files are not trusted: control characters are made visible. */
static void print_text(const struct finding *f)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT, shown = STRBUF_INIT;

	strbuf_addf(&line, "%s: ", f->path);
	switch (f->action) {
	case ACTION_NONE:
		add_undamaged(&line, f->result);
		break;
	case ACTION_LEFT:
		strbuf_addf(&line, "%s%s%s", f->text, f->failed ? "; not repaired: " : "",
			    f->failed ?: "");
		break;
	case ACTION_REPAIRED:
		strbuf_addf(&line, "%s; repaired", f->text);
		break;
	case ACTION_MOVED:
		strbuf_addf(&line, "%s; moved to %s", f->text, f->target);
		break;
	case ACTION_COUNT_:
		break;
	}
	text_visible(&shown, strbuf_text(&line));
	puts(strbuf_text(&shown));
}

void finding_report(struct check *c, const struct finding *f)
{
	c->sums.actions[f->action]++;
	if (quiet || (f->action == ACTION_NONE && !verbose))
		return;
	if (json)
		print_json(&c->json, f);
	else
		print_text(f);
	c->sums.listed = true;
}

static void print_summary(const struct check *c)
{
	uint64_t damaged = c->sums.actions[ACTION_LEFT] + c->sums.actions[ACTION_REPAIRED] +
			   c->sums.actions[ACTION_MOVED];

	printf("%" PRIu64 " sample file%s, %" PRIu64 " sample%s: ", c->sums.files,
	       text_plural(c->sums.files), c->sums.samples, text_plural(c->sums.samples));
	if (!damaged)
		printf("no damage\n");
	else if (damaged == c->sums.actions[ACTION_LEFT])
		printf("%" PRIu64 " damaged%s\n", damaged,
		       repair ? "" : " (opcheck --repair repairs what it can)");
	else
		printf("%" PRIu64 " damaged: %" PRIu64 " repaired, %" PRIu64 " moved away, %" PRIu64
		       " left\n",
		       damaged, c->sums.actions[ACTION_REPAIRED], c->sums.actions[ACTION_MOVED],
		       c->sums.actions[ACTION_LEFT]);
}

static void begin_json(struct json *j)
{
	*j = JSON_SPACED(stdout);
	json_open(j, NULL, '{');
	json_line(j);
	json_open(j, "files", '[');
}

static void end_json(struct check *c)
{
	struct json *j = &c->json;
	int i;

	if (c->sums.listed)
		json_line(j);
	json_close(j, ']');
	json_line(j);
	json_u64(j, "sample_files", c->sums.files);
	json_u64(j, "nodes", c->sums.nodes);
	json_u64(j, "samples", c->sums.samples);
	for (i = ACTION_LEFT; i < ACTION_COUNT_; i++)
		json_u64(j, action_names[i], c->sums.actions[i]);
	json_u64(j, "not_looked_at", c->sums.trouble);
	json_line(j);
	json_close(j, '}');
	(void)fputc('\n', stdout);
}

/* --- checking --- */

/* Returns the reason without the path, or the end of the path, that it starts with. */
static const char *reason(const struct error *why, const char *path)
{
	size_t n;

	for (; path; path = strchr(path, '/') ? strchr(path, '/') + 1 : NULL) {
		n = strlen(path);
		if (!strncmp(why->text, path, n) && !strncmp(why->text + n, ": ", 2))
			return why->text + n + 2;
	}
	return why->text;
}

/* Repairs a damaged file; moves it away if it cannot be repaired. */
static void repair_or_move(struct check *c, struct finding *f)
{
	struct check_result before;
	struct error err = ERROR_INIT;

	if (!f->result->repairable) {
		finding_move_away(c, f);
		return;
	}
	f->action = ACTION_REPAIRED;
	if (check_repair(f->path, &before, &err) < 0) {
		f->action = ACTION_LEFT;
		f->failed = reason(&err, f->path);
	}
	finding_report(c, f);
}

/* Adds up what a file contains now, after a repair. */
static void count_contents(struct check *c, const struct finding *f)
{
	struct check_result repaired;
	const struct check_result *result = f->result;

	if (f->action == ACTION_MOVED)
		return;
	if (f->action == ACTION_REPAIRED && check_file(f->path, c->depth, &repaired) == 0)
		result = &repaired;
	c->sums.nodes += result->nodes;
	c->sums.samples += result->samples;
}

static void check_one(struct check *c, const char *path)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct check_result result;
	struct finding f = { .path = path, .result = &result };

	c->sums.files++;
	if (check_file(path, c->depth, &result) < 0) {
		tool_warn("%s", result.why.text);
		c->sums.trouble++;
		return;
	}
	if (result.why.code)
		strbuf_adds(&text, reason(&result.why, path));
	else
		check_describe(&result, &text);
	f.text = strbuf_text(&text);
	f.action = result.problems ? ACTION_LEFT : ACTION_NONE;
	/* A file from another machine is not damaged: opimport converts it. */
	if (result.problems && c->repair && !(result.problems & 1u << CHECK_FOREIGN))
		repair_or_move(c, &f);
	else
		finding_report(c, &f);
	count_contents(c, &f);
}

static int check_sample(const char *path, const struct sname *name _unused_, void *data)
{
	check_one(data, path);
	return 0;
}

/* Handles an entry of the tree that is not a sample file, or a directory that cannot be read. */
static void check_other(const char *path, const struct error *why, void *data)
{
	struct check *c = data;
	struct finding f = { .path = path, .text = reason(why, path), .action = ACTION_LEFT };

	if (why->code != -EBADMSG) {
		tool_warn("%s", why->text);
		c->sums.trouble++;
	} else if (c->repair) {
		finding_move_away(c, &f);
	} else {
		finding_report(c, &f);
	}
}

/* --- operands --- */

/* Whether it is the session that a profiler writes to: it leaves those that were saved alone. */
static bool is_current(const char *samples)
{
	_cleanup_free_ char *real = xrealpath(samples);

	return !real || !strcmp(path_base(real), "current");
}

/* Finds out whether the samples are being written, and for a repair locks out writers. Returns the
 * lock, or -1 if none is needed or available. */
static int take_lock(struct check *c, const char *samples)
{
	_cleanup_free_ char *session = samples ? place_session(samples) : NULL;
	struct error err = ERROR_INIT;
	int fd = -1;

	c->depth = session && is_current(samples) && session_lock_holder(session) ? CHECK_ENDS
										  : CHECK_CHAINS;
	c->repair = repair;
	if (session && repair) {
		fd = session_lock(session, &err);
		c->repair = fd >= 0;
		c->sums.trouble += fd < 0;
		if (fd < 0)
			tool_warn("not repaired: %s", err.text);
	} else if (c->depth == CHECK_ENDS && !quiet) {
		tool_warn("%s is being written; nodes and chains are not checked", session);
	}
	return fd;
}

static void check_samples(struct check *c, const char *samples)
{
	_cleanup_free_ char *dir = xstrdup(samples);
	_cleanup_close_ int lock = -1;
	struct error err = ERROR_INIT;
	size_t n = strlen(dir);
	uint32_t last;

	while (n > 1 && dir[n - 1] == '/')
		dir[--n] = '\0';
	lock = take_lock(c, dir);
	c->samples_dir = dir;
	check_extras(c);
	if (session_walk(dir, check_sample, check_other, c, &err) < 0 ||
	    idle_last(dir, &last, &err) < 0 ||
	    idle_walk(dir, last, check_sample, check_other, c, &err) < 0) {
		tool_warn("%s", err.text);
		c->sums.trouble++;
	}
	c->samples_dir = NULL;
}

/* One session of a session directory. */
struct session_check {
	struct check *check;
	const char *dir;
};

static int check_session(const char *name, void *data)
{
	struct session_check *s = data;
	_cleanup_free_ char *samples = session_samples(s->dir, name);

	check_samples(s->check, samples);
	return 0;
}

/* Handles a file next to the sessions: damage if a session that has this name is always a
 * directory. Logs and the files of features are there, too. */
static int check_stray(const char *name, void *data)
{
	const struct session_check *s = data;
	_cleanup_free_ char *path = session_samples(s->dir, name);
	_unused_ _cleanup_close_ int lock = -1;

	if (strcmp(name, "current") && strcmp(name, "previous"))
		return 0;
	lock = take_lock(s->check, path);
	s->check->samples_dir = s->dir; /* its damaged/ is not that of a session */
	check_other(path, &(struct error){ -EBADMSG, "not a directory" }, s->check);
	s->check->samples_dir = NULL;
	return 0;
}

/* Checks one file, whose session follows from its path. */
static void check_single(struct check *c, const char *path)
{
	_cleanup_free_ char *whole = xrealpath(path), *samples = NULL;
	_cleanup_close_ int lock = -1;
	const char *tree = whole ? strstr(whole, "/{root}/") : NULL;

	if (whole && !tree)
		tree = strstr(whole, "/{kern}/");
	samples = tree ? xstrndup(whole, (size_t)(tree - whole)) : NULL;
	lock = take_lock(c, samples);
	c->samples_dir = samples;
	check_one(c, samples ? whole : path);
	c->samples_dir = NULL;
}

/* Checks what @path names: a session directory, a session or a file. 0 or -errno. */
static int check_path(struct check *c, const char *path, bool is_directory, struct error *err)
{
	struct session_check s = { c, path };

	if (!is_directory)
		check_single(c, path);
	else if (place_has(path, "samples"))
		return session_list_strays(path, check_stray, &s, err)
			       ?: session_list(path, check_session, &s, err);
	else if (place_is_samples(path))
		check_samples(c, path);
	else
		return error_set(err, -ENOENT, "%s: neither a session directory nor a session",
				 path);
	return 0;
}

/* Checks it, and reports what went wrong. */
static void check_here(struct check *c, const char *path, bool is_directory)
{
	struct error err = ERROR_INIT;

	if (check_path(c, path, is_directory, &err) < 0) {
		(void)tool_fail(&err);
		c->sums.trouble++;
	}
}

/* Checks it in a child process that can write in @directory only, or here if that is not wanted.
 * All that comes back is numbers: the child may have been taken over. */
static int check_confined(struct check *c, const char *path, bool is_directory,
			  const char *directory, struct error *err)
{
	struct confine how = { .writable = { NULL, repair ? directory : NULL } };
	struct check_sums *sums = mmap(NULL, sizeof(*sums), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (sums == MAP_FAILED)
		return error_errno(err, -errno, "cannot share memory");
	*sums = c->sums;
	r = confine_enter(&how, err);
	if (r == 0)
		check_here(c, path, is_directory);
	if (how.reading) { /* in the child */
		*sums = c->sums;
		exit(r < 0 ? tool_fail(err) : tool_finish(0));
	}
	if (r > 0) {
		c->sums = *sums;
		c->sums.trouble += how.status != 0;
		c->json.comma |= c->sums.listed;
	}
	(void)munmap(sums, sizeof(*sums));
	return MIN(r, 0);
}

static void check_operand(struct check *c, const char *path, bool is_last)
{
	_cleanup_free_ char *directory = NULL;
	struct error err = ERROR_INIT;
	struct stat st;
	int r = stat(path, &st) < 0 ? error_errno(&err, -errno, "%s", path) : 0;

	if (r == 0)
		r = place_become_owner(path, S_ISDIR(st.st_mode),
				       is_last && !confine_is_wanted() ? OWNER_FOR_GOOD
								       : OWNER_EXCEPT_OUTPUT,
				       &directory, &err);
	if (r == 0)
		r = check_confined(c, path, S_ISDIR(st.st_mode), directory, &err);
	if (r < 0) {
		(void)tool_fail(&err);
		c->sums.trouble++;
	}
	(void)owner_pause();
}

int main(int argc, char **argv)
{
	struct check c = { 0 };
	int operands = tool_options(&cmdline, argc, argv), i;

	if (json && !quiet)
		begin_json(&c.json);
	if (operands == argc && !session_dir)
		session_dir = place_has("oprofile_data", "samples") ? "oprofile_data"
								    : "/var/lib/oprofile";
	if (session_dir)
		check_operand(&c, session_dir, operands == argc);
	for (i = operands; i < argc; i++)
		check_operand(&c, argv[i], i == argc - 1);
	if (json && !quiet)
		end_json(&c);
	else if (!quiet && (c.sums.files || !c.sums.trouble))
		print_summary(&c);
	if (tool_finish(0) || c.sums.trouble)
		return EXIT_TROUBLE;
	return c.sums.actions[ACTION_LEFT] ? EXIT_DAMAGE : 0;
}
