/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/reporting.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/owner.h"
#include "file/path.h"
#include "file/scratch.h"
#include "elf/debuginfod.h"
#include "profile/compact/pack.h"
#include "profile/profile.h"
#include "profile/select/spec.h"
#include "profile/select/symfilter.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "sfile/setup.h"
#include "symbol/smartname.h"
#include "symbol/symcache.h"
#include "tools/common/confine.h"
#include "tools/common/fetch_service.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int load_rules(struct smart_rules **ret, struct error *err)
{
	_cleanup_free_ char *path = smart_rules_path();

	if (!path)
		return error_set(err, -ENOENT,
				 "--demangle=smart: no file demangle-rules; name one in "
				 "$OPROFILE_DEMANGLE_RULES");
	return smart_rules_load(path, ret, err);
}

int reporting_set_demangle(const char *arg, void *target, struct error *err)
{
	static struct smart_rules *rules;
	struct name_style style = { .mangled = !strcmp(arg, "none"),
				    .bare = !strcmp(arg, "short") };
	bool smart = !strcmp(arg, "smart");
	int r = 0;

	if (smart && !rules)
		r = load_rules(&rules, err);
	else if (!smart && !style.mangled && !style.bare && strcmp(arg, "normal") != 0)
		r = error_set(err, -EINVAL,
			      "--demangle: '%s' is not one of none, normal, smart, short", arg);
	if (r < 0)
		return r;
	style.rules = smart ? rules : NULL;
	*(struct name_style *)target = style;
	return 0;
}

const char *reporting_demangle(const struct name_style *style)
{
	if (style->mangled)
		return "none";
	if (style->bare)
		return "short";
	return style->rules ? "smart" : "normal";
}

char *reporting_shell_words(size_t count, char *const *words)
{
	struct strbuf text = STRBUF_INIT;
	size_t i;

	for (i = 0; i < count; i++) {
		strbuf_adds(&text, i ? " " : "");
		text_shell_word(&text, words[i]);
	}
	return strbuf_take(&text);
}

int reporting_set_symbols(const char *arg, void *target, struct error *err _unused_)
{
	symbol_list_add(target, arg);
	return 0;
}

static int parse_percent(const char *option, const char *arg, double *ret, struct error *err)
{
	const char *at = arg;
	double percent;

	if (parse_decimal(&at, &percent) < 0 || *at || percent > 100)
		return error_set(err, -EINVAL,
				 "%s: '%s' is not a percentage from 0 to 100, such as 0.5", option,
				 arg);
	*ret = percent;
	return 0;
}

int reporting_set_threshold(const char *arg, void *target, struct error *err)
{
	return parse_percent("--threshold", arg, target, err);
}

int reporting_set_debuginfod(const char *arg, void *target, struct error *err)
{
	struct fetch_config *how = target;

	how->wanted = true;
	how->percent = 1;
	return arg ? parse_percent("--debuginfod", arg, &how->percent, err) : 0;
}

static void show_progress(size_t done, size_t count, uint64_t bytes, void *data _unused_)
{
	(void)fprintf(stderr, "\rfetching debug information: %zu of %zu files, %.1f MB %s", done,
		      count, (double)bytes / 1e6, done == count ? "\r\033[K" : "");
}

/* Sets what the environment requests, and how progress is shown. */
static void configure_fetch(struct fetch_config *how)
{
	static const struct debuginfod_progress progress = { .say = show_progress };
	const char *config = getenv("OPROFILE_DEBUGINFOD");
	struct error err = ERROR_INIT;

	if (!how->wanted && config && *config) {
		how->wanted =
			parse_percent("OPROFILE_DEBUGINFOD", config, &how->percent, &err) == 0;
		if (!how->wanted)
			log_warn("%s", err.text);
	}
	if (!how->wanted)
		return;
	/* The library's default, 90 seconds, is too long to wait for nothing. */
	(void)setenv("DEBUGINFOD_TIMEOUT", "20", 0);
	how->progress = tool_can_redraw(STDERR_FILENO) ? &progress : NULL;
}

char *reporting_parent(const char *path)
{
	size_t length = (size_t)(path_base(path) - path);
	char *parent = length ? xstrndup(path, length) : xstrdup(".");

	if (access(parent, F_OK) == 0)
		return parent;
	free(parent);
	return NULL;
}

/* Whether the word is the name of an archive's file, if there is one. No program is called so. */
static bool is_archive(const char *word)
{
	static const char end[] = ".opar";
	size_t length = strlen(word);
	struct stat st;

	return length > sizeof(end) - 1 && !strcmp(word + length - (sizeof(end) - 1), end) &&
	       !strchr(word, ':') && (stat(word, &st) < 0 || S_ISREG(st.st_mode));
}

void reporting_tag_archives(size_t count, char **words)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (is_archive(words[i]))
			words[i] = xasprintf("archive:%s", words[i]);
}

/* Whether a word names archives, which may have to be unpacked; *@ret_room: to how much. */
static bool names_archive(char *const *words, uint64_t most, uint64_t *ret_room)
{
	bool any = false;

	for (*ret_room = 0; *words; words++) {
		_cleanup_(spec_done) struct spec spec = { 0 };
		const struct spec_values *archives = &spec.of[SPEC_ARCHIVE];
		struct stat st;
		size_t i;

		if (spec_parse(words, 1, &spec, NULL) < 0)
			continue; /* the tool will say why */
		any |= archives->count;
		for (i = 0; i < archives->count; i++)
			if (stat(archives->values[i], &st) == 0 && S_ISREG(st.st_mode))
				*ret_room += pack_limit((uint64_t)st.st_size, most).bytes;
	}
	return any;
}

/* Whose rights root reads with: those of the owner of ->path. NULL: its own. */
static struct {
	char *path;
	uid_t uid;
} reader;

/* Takes on the rights of the owner of @path, unless those of another are in use. */
static int become_owner(const char *path, enum owner_extent extent, struct error *err)
{
	const uid_t before = (uid_t)setfsuid((uid_t)-1);
	int r = owner_become(path, extent, SESSION_SYSTEM_USER, err);

	reader.uid = (uid_t)setfsuid((uid_t)-1);
	if (reader.uid != before)
		reader.path = xstrdup(path);
	return r;
}

/* Takes on the rights of the owner of what @word names, if it is one of a specification. */
static int become_owner_of(char *const *word, enum owner_extent extent, bool *is_archive,
			   struct error *err)
{
	_cleanup_(spec_done) struct spec spec = { 0 };
	const struct spec_values *sessions = &spec.of[SPEC_SESSION];
	const struct spec_values *archives = &spec.of[SPEC_ARCHIVE];
	size_t i;
	int r = 0;

	if (spec_parse(word, 1, &spec, NULL) < 0)
		return 0; /* the tool will say why */
	*is_archive |= archives->count;
	for (i = 0; i < archives->count && r == 0; i++)
		r = become_owner(archives->values[i], extent, err);
	for (i = 0; i < sessions->count && r == 0; i++)
		if (spec_session_is_path(sessions->values[i]))
			r = become_owner(sessions->values[i], extent, err);
	return r;
}

int reporting_become_owner(const struct profile_config *config, bool writes, char *const *words,
			   struct error *err)
{
	enum owner_extent extent = writes ? OWNER_EXCEPT_OUTPUT : OWNER_FOR_GOOD;
	bool is_archive = false;
	int r = 0;

	confine_decide();
	for (; *words && r == 0; words++)
		r = become_owner_of(words, extent, &is_archive, err);
	if (r == 0 && !is_archive)
		r = become_owner(profile_session_dir(config, false), extent, err);
	return r;
}

int reporting_confine(struct profile_config *config, const char *output, char *const *words,
		      int *ret, struct error *err)
{
	static struct scratch *scratch; /* used until the end */
	_cleanup_free_ char *cache = config->symbol_cache ? symcache_directory() : NULL;
	struct confine c = { .writable = { output }, .serve = fetch_serve };
	uint64_t room = 0;
	int r = 0;

	configure_fetch(&config->fetch);
	if (!confine_is_wanted())
		return 0;
	c.data = (void *)config->fetch.progress;
	if (!config->fetch.wanted)
		c.serve = NULL;
	if (!words || names_archive(words, config->max_size, &room))
		r = scratch_new("oprofile", room, &scratch, err);
	if (r < 0)
		return r;
	if (scratch)
		c.writable[1] = config->scratch_dir = scratch_path(scratch);
	/* What comes from the session of another user is not for root's cache. */
	if (cache && setfsuid((uid_t)-1) == (int)geteuid() &&
	    path_make_dirs(cache, 0700, NULL) == 0)
		c.writable[2] = cache;
	r = confine_enter(&c, err);
	config->binaries.reading = c.reading;
	if (c.serve) {
		config->fetch.ask = fetch_ask;
		config->fetch.socket = c.socket;
	}
	*ret = c.status;
	/* The child leaves that to the parent. */
	if (r != 0)
		scratch_free(scratch);
	return r;
}

/* Ends a line that says that the profile in the current directory was read: where else one is. */
static void end_with_daemon(void)
{
	if (session_exists(PROFILE_SYSTEM_DIR, "current"))
		(void)fprintf(stderr, "; for the daemon's profile give --session-dir=%s",
			      PROFILE_SYSTEM_DIR);
	(void)fputs("\n", stderr);
}

/* From this age on, a profile in the current directory may have been forgotten there. */
enum { OLD_S = 3600 };

/* Prints a line, once, if the current session of the current directory was read by default and is
 * old. Who names a session knows what it is. */
static void note_old(const struct profile_config *config, const struct profile *p)
{
	const struct gather_session *session = &p->gather->sessions[0];
	_cleanup_free_ char *age = NULL;
	uint64_t now = (uint64_t)time(NULL), at;
	static bool is_noted;
	struct setup setup;

	if (is_noted || config->session_dir || strcmp(p->session_dir, PROFILE_LOCAL_DIR) != 0 ||
	    !(isatty(STDOUT_FILENO) || isatty(STDERR_FILENO)) || p->gather->session_count == 0 ||
	    strcmp(session->name, "current") != 0 || session_lock_holder(p->session_dir) ||
	    setup_read(session->samples, &setup, NULL) < 0)
		return;
	at = setup.ended ?: setup.started;
	setup_done(&setup);
	if (!at || now < at + OLD_S)
		return;
	is_noted = true;
	age = text_duration(now - at);
	(void)fprintf(stderr, "Using ./%s, recorded %s ago", p->session_dir, age);
	end_with_daemon();
}

/* Prints a line if the profile in the current directory, read by default, has no samples, but the
 * daemon's may have. */
static void note_empty(const struct profile_config *config, size_t count, char *const *words)
{
	bool is_archive = false;

	for (size_t i = 0; i < count; i++)
		is_archive |= !strncmp(words[i], "archive:", strlen("archive:"));
	if (config->session_dir || !(isatty(STDOUT_FILENO) || isatty(STDERR_FILENO)) ||
	    strcmp(profile_session_dir(config, is_archive), PROFILE_LOCAL_DIR) != 0 ||
	    !session_exists(PROFILE_SYSTEM_DIR, "current"))
		return;
	(void)fprintf(stderr, "Using ./%s", PROFILE_LOCAL_DIR);
	end_with_daemon();
}

/* Adds whose rights were not enough. */
static int explain_rights(struct error *err)
{
	_cleanup_free_ char *text = xstrdup(err->text);

	return error_set(err, -EACCES,
			 "%s; root reads with the rights of uid %u, the owner of %s; make it "
			 "readable for that user",
			 text, reader.uid, reader.path);
}

static void end_progress(const struct profile_config *config)
{
	if (config->fetch.progress)
		(void)fputs("\r\033[K", stderr);
}

struct binaries *reporting_binaries(const struct profile *p, const struct profile_config *config)
{
	struct binaries *bs = profile_binaries(p, config);

	end_progress(config);
	return bs;
}

int reporting_open(const struct profile_config *config, size_t count, char *const *words,
		   struct profile **ret, struct error *err)
{
	struct profile_config named = *config;
	int r;

	named.unpacked = tool_alias;
	r = profile_open(&named, count, words, ret, err);
	end_progress(config);
	if (r == 0 && (*ret)->is_system_dir)
		(void)fprintf(stderr, "Using %s/samples/ for samples directory.\n",
			      (*ret)->session_dir);
	if (r == 0)
		note_old(config, *ret);
	else if (r == -ENODATA)
		note_empty(config, count, words);
	else if (r == -EACCES && reader.path)
		r = explain_rights(err);
	return r;
}
