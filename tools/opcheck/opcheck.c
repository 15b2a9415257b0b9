/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the sample files of sessions, and repairs them. */
#include "base/dirtree.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/owner.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "tools/opcheck/opcheck.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Exit statuses other than 0. */
enum { EXIT_DAMAGE = 1, EXIT_TROUBLE = 2 };

static bool repair, json, quiet, verbose;

static const struct opt opts[] = {
	{ 'r', "repair", OPT_FLAG, &repair, NULL,
	  "repair damaged files; move those beyond repair to the session's damaged/" },
	{ 'q', "quiet", OPT_FLAG, &quiet, NULL, "print nothing, only set the exit status" },
	{ 'V', "verbose", OPT_FLAG, &verbose, NULL, "also list undamaged files" },
	{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
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

/* Names of files are not trusted: control characters are made visible. */
static void print_text(const struct finding *f)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT, shown = STRBUF_INIT;

	strbuf_addf(&line, "%s: ", f->path);
	switch (f->action) {
	case ACTION_NONE:
		strbuf_addf(&line, "undamaged: %" PRIu64 " nodes, %" PRIu64 " samples",
			    f->result->nodes, f->result->samples);
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
	c->actions[f->action]++;
	if (quiet || (f->action == ACTION_NONE && !verbose))
		return;
	if (json)
		print_json(&c->json, f);
	else
		print_text(f);
	c->listed = true;
}

static void print_summary(const struct check *c)
{
	uint64_t damaged =
		c->actions[ACTION_LEFT] + c->actions[ACTION_REPAIRED] + c->actions[ACTION_MOVED];

	printf("%" PRIu64 " sample file%s, %" PRIu64 " samples: ", c->files,
	       c->files == 1 ? "" : "s", c->samples);
	if (!damaged)
		printf("no damage\n");
	else if (damaged == c->actions[ACTION_LEFT])
		printf("%" PRIu64 " damaged%s\n", damaged,
		       repair ? "" : " (opcheck --repair repairs what it can)");
	else
		printf("%" PRIu64 " damaged: %" PRIu64 " repaired, %" PRIu64 " moved away, %" PRIu64
		       " left\n",
		       damaged, c->actions[ACTION_REPAIRED], c->actions[ACTION_MOVED],
		       c->actions[ACTION_LEFT]);
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

	if (c->listed)
		json_line(j);
	json_close(j, ']');
	json_line(j);
	json_u64(j, "sample_files", c->files);
	json_u64(j, "nodes", c->nodes);
	json_u64(j, "samples", c->samples);
	for (i = ACTION_LEFT; i < ACTION_COUNT_; i++)
		json_u64(j, action_names[i], c->actions[i]);
	json_u64(j, "not_looked_at", c->trouble);
	json_line(j);
	json_close(j, '}');
	(void)fputc('\n', stdout);
}

/* --- repairing --- */

/* Moves a file of a session into its damaged/, which no report reads, under an unused name. No
 * directory on the way may be a link, which could lead out of the session. Returns the new path,
 * caller frees; NULL with the reason. */
static char *move_away(const struct check *c, const char *path, struct error *err)
{
	_cleanup_close_ int samples = open(c->samples_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *from = path + strlen(c->samples_dir);
	_cleanup_free_ char *base = NULL, *target = NULL;
	struct error why = ERROR_INIT;
	unsigned int n = 1;
	int r = samples < 0 ? error_errno(&why, -errno, "%s", c->samples_dir) : 0;

	from += strspn(from, "/");
	base = path_join("damaged", from);
	target = xstrdup(base);
	if (r == 0)
		r = dirtree_make_parents(samples, base, 0755, &why);
	while (r == 0 && (r = dirtree_rename(samples, from, target, &why)) == -EEXIST) {
		free(target);
		target = xasprintf("%s.%u", base, ++n);
		r = 0;
	}
	if (r == 0)
		return path_join(c->samples_dir, target);
	(void)error_set(err, r, "cannot move it to damaged/: %s", why.text);
	return NULL;
}

void finding_move_away(struct check *c, struct finding *f)
{
	_cleanup_free_ char *target = NULL;
	struct error err = ERROR_INIT;

	if (c->samples_dir)
		target = move_away(c, f->path, &err);
	else
		(void)error_set(&err, -EBADMSG, "nothing in it can be recovered; delete it");
	f->action = target ? ACTION_MOVED : ACTION_LEFT;
	f->target = target;
	f->failed = target ? NULL : err.text;
	finding_report(c, f);
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
	c->nodes += result->nodes;
	c->samples += result->samples;
}

static void check_one(struct check *c, const char *path)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct check_result result;
	struct finding f = { .path = path, .result = &result };

	c->files++;
	if (check_file(path, c->depth, &result) < 0) {
		tool_warn("%s", result.why.text);
		c->trouble++;
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
		c->trouble++;
	} else if (c->repair) {
		finding_move_away(c, &f);
	} else {
		finding_report(c, &f);
	}
}

/* --- operands --- */

/* Returns the session directory of DIR/samples/NAME, or NULL if it is not inside one. */
static char *session_of(const char *samples)
{
	_cleanup_free_ char *whole = realpath(samples, NULL);
	char *slash = whole ? strrchr(whole, '/') : NULL;

	if (!slash)
		return NULL;
	*slash = '\0';
	slash = strrchr(whole, '/');
	if (!slash || strcmp(slash, "/samples") != 0)
		return NULL;
	*(slash == whole ? slash + 1 : slash) = '\0';
	return STEAL(whole);
}

/* Finds out whether the samples are being written, and for a repair locks out writers. Returns the
 * lock, or -1 if none is needed or available. */
static int take_lock(struct check *c, const char *samples)
{
	_cleanup_free_ char *session = samples ? session_of(samples) : NULL;
	struct error err = ERROR_INIT;
	int fd = -1;

	c->depth = session && session_lock_holder(session) ? CHECK_ENDS : CHECK_CHAINS;
	c->repair = repair;
	if (session && repair) {
		fd = session_lock(session, &err);
		c->repair = fd >= 0;
		c->trouble += fd < 0;
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

	while (n > 1 && dir[n - 1] == '/')
		dir[--n] = '\0';
	lock = take_lock(c, dir);
	c->samples_dir = dir;
	check_extras(c);
	if (session_walk(dir, check_sample, check_other, c, &err) < 0) {
		tool_warn("%s", err.text);
		c->trouble++;
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

/* Handles a file where the directory of a session should be. */
static int check_stray(const char *name, void *data)
{
	const struct session_check *s = data;
	_cleanup_free_ char *path = session_samples(s->dir, name);
	_cleanup_close_ int lock = take_lock(s->check, path);

	s->check->samples_dir = s->dir; /* its damaged/ is not that of a session */
	check_other(path, &(struct error){ -EBADMSG, "not a directory" }, s->check);
	s->check->samples_dir = NULL;
	return 0;
}

/* Checks one file, whose session follows from its path. */
static void check_single(struct check *c, const char *path)
{
	_cleanup_free_ char *whole = realpath(path, NULL), *samples = NULL;
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

static bool has_entry(const char *dir, const char *name)
{
	_cleanup_free_ char *path = path_join(dir, name);

	return access(path, F_OK) == 0;
}

static bool is_samples(const char *dir)
{
	static const char *const names[] = { "{root}", "{kern}", "stats", "images", "chains" };
	size_t i = 0;

	while (i < ARRAY_SIZE(names) && !has_entry(dir, names[i]))
		i++;
	return i < ARRAY_SIZE(names);
}

/* Takes on the rights of whoever owns @path or what contains it, up to the session directory: all
 * of them could replace it. */
static int become_owner(const char *path, bool is_directory, enum owner_extent extent,
			struct error *err)
{
	_cleanup_free_ char *at = realpath(path, NULL);
	bool go_up = !is_directory;
	int r = 0;

	while (r == 0 && at && *at) {
		r = owner_become(at, extent, NULL, err);
		if (!go_up && (has_entry(at, "samples") || !strstr(at, "/samples")))
			break;
		go_up = false;
		*strrchr(at, '/') = '\0';
	}
	return r;
}

static void check_operand(struct check *c, const char *path, enum owner_extent extent)
{
	struct session_check s = { c, path };
	struct error err = ERROR_INIT;
	struct stat st;

	if (stat(path, &st) < 0) {
		(void)error_errno(&err, -errno, "%s", path);
	} else if (become_owner(path, S_ISDIR(st.st_mode), extent, &err) < 0) {
		/* It is not looked at. */
	} else if (!S_ISDIR(st.st_mode)) {
		check_single(c, path);
	} else if (has_entry(path, "samples")) {
		if (session_list_strays(path, check_stray, &s, &err) == 0)
			(void)session_list(path, check_session, &s, &err);
	} else if (is_samples(path)) {
		check_samples(c, path);
	} else {
		(void)error_set(&err, -ENOENT, "%s: neither a session directory nor a session",
				path);
	}
	if (err.code) {
		(void)tool_fail(&err);
		c->trouble++;
	}
	(void)owner_pause();
}

int main(int argc, char **argv)
{
	struct check c = { 0 };
	int operands = tool_options(&cmdline, argc, argv), i;

	if (json && !quiet)
		begin_json(&c.json);
	for (i = operands; i < argc; i++)
		check_operand(&c, argv[i], i < argc - 1 ? OWNER_EXCEPT_OUTPUT : OWNER_FOR_GOOD);
	if (operands == argc)
		check_operand(&c,
			      has_entry("oprofile_data", "samples") ? "oprofile_data"
								    : "/var/lib/oprofile",
			      OWNER_FOR_GOOD);
	if (json && !quiet)
		end_json(&c);
	else if (!quiet && (c.files || !c.trouble))
		print_summary(&c);
	if (tool_finish(0) || c.trouble)
		return EXIT_TROUBLE;
	return c.actions[ACTION_LEFT] ? EXIT_DAMAGE : 0;
}
