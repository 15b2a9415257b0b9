/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/reporting.h"

#include "base/log.h"
#include "elf/debuginfod.h"
#include "symbol/symcache.h"
#include "profile/binary/binary.h"
#include "profile/binary/fetch.h"
#include "symbol/smartname.h"
#include "profile/select/spec.h"
#include "profile/select/symfilter.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int load_rules(struct smart_rules **ret, struct error *err)
{
	_cleanup_free_ char *path = smart_rules_path();

	if (!path)
		return error_set(err, -ENOENT,
				 "--demangle=smart: there is no file demangle-rules; "
				 "$OPROFILE_DEMANGLE_RULES can name one");
	return smart_rules_load(path, ret, err);
}

int reporting_set_demangle(const char *arg, void *target, struct error *err)
{
	static struct smart_rules *rules;
	struct name_style *style = target;
	int r = 0;

	if (!strcmp(arg, "smart") && !rules)
		r = load_rules(&rules, err);
	else if (strcmp(arg, "none") && strcmp(arg, "normal") && strcmp(arg, "smart"))
		r = error_set(err, -EINVAL, "--demangle: '%s' is not one of none, normal, smart",
			      arg);
	if (r < 0)
		return r;
	style->mangled = !strcmp(arg, "none");
	style->rules = !strcmp(arg, "smart") ? rules : NULL;
	return 0;
}

int reporting_set_symbols(const char *arg, void *target, struct error *err)
{
	(void)err;
	symbol_list_add(target, arg);
	return 0;
}

int reporting_set_verbose(const char *arg, void *target, struct error *err)
{
	(void)arg;
	(void)target;
	(void)err;
	tool_verbose(LOG_LEVEL_DEBUG);
	return 0;
}

const char *reporting_session_dir(const char *given, const struct spec *spec)
{
	static const char *const local = "oprofile_data", *const global = "/var/lib/oprofile";

	if (given)
		return given;
	if (spec_value(spec, SPEC_ARCHIVE))
		return global;
	if (access(local, F_OK) == 0)
		return local;
	(void)fprintf(stderr, "Using %s/samples/ for samples directory.\n", global);
	return global;
}

static int parse_percent(const char *option, const char *arg, double *ret, struct error *err)
{
	char *end;
	double percent = strtod(arg, &end);

	if (end == arg || *end || !(percent >= 0 && percent <= 100))
		return error_set(err, -EINVAL, "%s: '%s' is not a percentage from 0 to 100", option,
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
	struct reporting_fetch *how = target;

	*how = (struct reporting_fetch){ .wanted = true, .percent = 1 };
	return arg ? parse_percent("--debuginfod", arg, &how->percent, err) : 0;
}

static void show_progress(size_t done, size_t count, uint64_t bytes, void *data)
{
	(void)data;
	(void)fprintf(stderr, "\rfetching debug information: %zu of %zu files, %.1f MB ", done,
		      count, (double)bytes / 1e6);
}

void reporting_fetch(const struct reporting_fetch *how, const struct gather *g, struct binaries *bs)
{
	static const struct debuginfod_progress progress = { .say = show_progress };
	const char *config = getenv("OPROFILE_DEBUGINFOD");
	bool terminal = tool_can_redraw(STDERR_FILENO);
	double percent = how->percent;
	struct error err = ERROR_INIT;

	if (!how->wanted && (!config || !*config))
		return;
	if (!how->wanted && parse_percent("OPROFILE_DEBUGINFOD", config, &percent, &err) < 0) {
		log_warn("%s", err.text);
		return;
	}
	/* 90 seconds, the library's, are too long to wait for nothing. */
	(void)setenv("DEBUGINFOD_TIMEOUT", "20", 0);
	fetch_images(g, bs, percent, terminal ? &progress : NULL, &err);
	if (terminal)
		(void)fputs("\r\033[K", stderr);
	if (err.code)
		log_warn("%s", err.text);
}

struct symcache *reporting_open_cache(void)
{
	_cleanup_free_ char *directory = symcache_directory();

	return directory ? symcache_open(directory, SYMCACHE_CAP) : NULL;
}

void reporting_close_cache(struct symcache *cache)
{
	const struct symcache_stats *s = cache ? symcache_stats(cache) : NULL;

	if (s)
		log_debug("symbol cache: %zu tables found, %zu not, %zu stored, %zu damaged, %zu "
			  "not written",
			  s->hits, s->misses, s->stored, s->damaged, s->failed);
	symcache_close(cache);
}
