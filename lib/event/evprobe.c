/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/evprobe.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "elf/probe_place.h"
#include "event/event_types.h"
#include "event/evsys.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum where { IN_KERNEL, AT_FUNCTION, AT_MARK };

static const struct kind {
	const char *name;
	const char *pmu; /* the kernel's, which makes the event */
	enum where where;
	bool returns;	  /* when the function returns, not when it is called */
	const char *form; /* of the specification */
} kinds[] = {
	{ "kprobe", "kprobe", IN_KERNEL, false, "kprobe:FUNCTION" },
	{ "kretprobe", "kprobe", IN_KERNEL, true, "kretprobe:FUNCTION" },
	{ "uprobe", "uprobe", AT_FUNCTION, false, "uprobe:FILE:FUNCTION" },
	{ "uretprobe", "uprobe", AT_FUNCTION, true, "uretprobe:FILE:FUNCTION" },
	{ "usdt", "uprobe", AT_MARK, false, "usdt:FILE:PROVIDER:NAME" },
};

/* The kind whose name is the first @length letters of @text, or NULL. */
static const struct kind *find_kind(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].name) == length && !strncmp(kinds[i].name, text, length))
			return &kinds[i];
	return NULL;
}

/* The kind of the probe in a file that @spec begins with, or NULL. */
static const struct kind *kind_in_file(const char *spec)
{
	size_t length = strcspn(spec, ":");
	const struct kind *kind = spec[length] ? find_kind(spec, length) : NULL;

	return kind && kind->where != IN_KERNEL ? kind : NULL;
}

bool evprobe_in_kernel(const char *name)
{
	const struct kind *kind = find_kind(name, strlen(name));

	return kind && kind->where == IN_KERNEL;
}

size_t evprobe_length(const char *spec)
{
	const struct kind *kind = kind_in_file(spec);
	size_t length = 0, parts = kind && kind->where == AT_MARK ? 4 : 3;

	if (!kind)
		return 0;
	while (length += strcspn(spec + length, ":,"), --parts && spec[length] == ':')
		length++;
	return length;
}

/* --- the file --- */

/* Searches PATH for the program @name; returns its path, which the caller frees, or NULL. */
static char *search_path(const char *name)
{
	const char *at = getenv("PATH") ?: "/usr/bin:/bin";

	for (;;) {
		size_t length = strcspn(at, ":");
		char *path = xasprintf("%.*s/%s", (int)length, at, name);

		if (length && access(path, X_OK) == 0)
			return path;
		free(path);
		if (!at[length])
			return NULL;
		at += length + 1;
	}
}

/* Returns the whole path of a file as in a specification, or NULL with errno; the caller frees. */
static char *find_file(const char *file)
{
	_cleanup_free_ char *path = strchr(file, '/') ? xstrdup(file) : search_path(file);

	errno = ENOENT;
	return path ? realpath(path, NULL) : NULL;
}

char *evprobe_absolute(const char *spec)
{
	_cleanup_free_ char *file = NULL, *path = NULL;
	const char *at;

	if (!kind_in_file(spec))
		return xstrdup(spec);
	at = strchr(spec, ':') + 1;
	file = xstrndup(at, strcspn(at, ":"));
	path = find_file(file);
	return xasprintf("%.*s%s%s", (int)(at - spec), spec, path ?: file, at + strlen(file));
}

static int no_file(const char *file, struct error *err)
{
	int code = errno;

	if (strchr(file, '/') || code != ENOENT)
		return error_errno(err, -code, "%s", file);
	return error_set(err, -ENOENT, "no program '%s' in PATH; write ./%s for a file here", file,
			 file);
}

/* --- the place in the file --- */

enum { PLACES_MAX = 16 };

struct search {
	const char *file;
	const char *provider, *name; /* wanted; the provider of a mark only */
	struct probe_place places[PLACES_MAX];
	size_t count; /* of them, even if it is larger than the array */
	unsigned int distance;
	char *nearest;
	struct error *err;
};

static void search_done(struct search *s)
{
	free(s->nearest);
}

/* Keeps the name that is most similar to the wanted one. */
static void compare(struct search *s, const struct probe_place *place)
{
	unsigned int distance = text_distance(s->name, place->name);

	if (s->provider)
		distance += text_distance(s->provider, place->provider);
	if (distance >= s->distance)
		return;
	s->distance = distance;
	free(s->nearest);
	s->nearest = place->provider ? xasprintf("%s:%s", place->provider, place->name)
				     : xstrdup(place->name);
}

static void visit(const struct probe_place *place, void *data)
{
	struct search *s = data;
	size_t i;

	if (strcmp(place->name, s->name) != 0 ||
	    (s->provider && strcmp(place->provider, s->provider) != 0)) {
		compare(s, place);
		return;
	}
	for (i = 0; i < MIN(s->count, (size_t)PLACES_MAX); i++)
		if (s->places[i].offset == place->offset)
			return;
	if (s->count < PLACES_MAX)
		s->places[s->count] = *place;
	s->count++;
}

static int not_there(const struct search *s, struct error *err)
{
	_cleanup_free_ char *wanted = s->provider ? xasprintf("mark %s:%s", s->provider, s->name)
						  : xasprintf("function %s", s->name);

	if (s->nearest)
		return error_set(err, -ENOENT, "%s has no %s; did you mean %s?", s->file, wanted,
				 s->nearest);
	return error_set(err, -ENOENT, "%s has no %s%s", s->file, wanted,
			 s->provider ? "" : "; if it was stripped, give the offset in the file");
}

/* Finds the one function that is meant. */
static int choose_function(const struct search *s, struct probe_place *ret, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf all = STRBUF_INIT;
	size_t i, shown = MIN(s->count, (size_t)PLACES_MAX);

	if (!s->count)
		return not_there(s, err);
	if (s->count == 1 && s->places[0].is_resolver)
		return error_set(err, -EINVAL,
				 "%s: %s only selects one of several functions when the program "
				 "starts; probe that one",
				 s->file, s->name);
	*ret = s->places[0];
	if (s->count == 1)
		return 0;
	for (i = 0; i < shown; i++)
		strbuf_addf(&all, "%s0x%" PRIx64, i ? ", " : "", s->places[i].offset);
	return error_set(
		err, -EINVAL,
		"%s has %zu functions %s; give the offset of one instead of the name: %s%s",
		s->file, s->count, s->name, strbuf_text(&all), shown < s->count ? ", ..." : "");
}

/* Finds the place of a mark, the @number-th, or the only one if that is 0. */
static int choose_mark(const struct search *s, uint64_t number, struct probe_place *ret,
		       struct error *err)
{
	size_t shown = MIN(s->count, (size_t)PLACES_MAX);

	if (!s->count)
		return not_there(s, err);
	if (number > shown || (!number && s->count > 1))
		return error_set(err, -EINVAL,
				 "the places of the mark %s:%s in %s are @1 to @%zu%s; choose one",
				 s->provider, s->name, s->file, shown,
				 shown < s->count ? ", and others that have no number" : "");
	*ret = s->places[number ? number - 1 : 0];
	return 0;
}

/* The parts of "KIND:FILE:FUNCTION" or "KIND:FILE:PROVIDER:NAME@NUMBER". */
struct target {
	const struct kind *kind;
	char *file, *provider, *name;
	uint64_t number; /* of the place of a mark, from 1 on; 0: not given */
};

static void target_done(struct target *t)
{
	free(t->file);
	free(t->provider);
	free(t->name);
}

/* Takes the next part of a specification, moving @at past the colon after it; NULL if it is empty
 * or missing. */
static char *take_part(const char **at)
{
	size_t length = strcspn(*at, ":");
	const char *start = *at;

	*at += length + (start[length] == ':');
	return length ? xstrndup(start, length) : NULL;
}

static int split(const char *text, struct target *ret, struct error *err)
{
	const char *at = strchr(text, ':') + 1, *number;

	ret->kind = kind_in_file(text);
	ret->file = take_part(&at);
	if (ret->kind->where == AT_MARK)
		ret->provider = take_part(&at);
	ret->name = take_part(&at);
	if (!ret->file || !ret->name)
		return error_set(err, -EINVAL, "event '%s': write %s", text, ret->kind->form);
	number = ret->provider ? strrchr(ret->name, '@') : NULL;
	if (!number)
		return 0;
	if (parse_u64(number + 1, 1, PLACES_MAX, &ret->number) < 0)
		return error_set(err, -EINVAL, "event '%s': '%s' is not the number of a place",
				 text, number + 1);
	ret->name[number - ret->name] = '\0';
	return 0;
}

/* Finds the place of @target in the file @path. */
static int find_place(const struct target *target, const char *path, struct probe_place *ret,
		      struct error *err)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(search_done) struct search search = { .file = path,
							.provider = target->provider,
							.name = target->name };
	int r = elffile_open(path, &ef, err);

	if (r < 0)
		return r;
	search.distance = (unsigned int)strlen(target->name) / 2;
	if (target->kind->where == AT_MARK) {
		probe_place_marks(ef, visit, &search);
		return choose_mark(&search, target->number, ret, err);
	}
	*ret = (struct probe_place){ 0 };
	if (isdigit((unsigned char)*target->name))
		return parse_u64(target->name, 0, INT64_MAX, &ret->offset) == 0
			       ? 0
			       : error_set(err, -EINVAL,
					   "'%s' is not an offset in %s, such as 0x1a20",
					   target->name, path);
	probe_place_functions(ef, visit, &search);
	return choose_function(&search, ret, err);
}

/* --- the event --- */

/* Lets the kernel's PMU make the event; @terms are further terms of its formats, or "". */
static int encode(const char *root, const struct kind *kind, const char *terms, struct event *event,
		  struct error *err)
{
	_cleanup_(evsys_pmu_done) struct evsys_pmu pmu = { 0 };
	_cleanup_free_ char *all = xasprintf("retprobe=%d%s", kind->returns, terms);
	int r;

	if (evsys_pmu(root, kind->pmu, &pmu, NULL) < 0)
		return error_set(err, -ENOENT, "this kernel has no %ss (CONFIG_%cPROBE_EVENTS)",
				 kind->pmu, toupper((unsigned char)*kind->pmu));
	r = evsys_encode(root, &pmu, all, event, err);
	if (r == 0)
		strcpy(event->pmu, kind->pmu);
	return r;
}

int evprobe_encode_kernel(const char *root, const char *name, const char *function,
			  struct event *event, struct error *err)
{
	size_t length = strcspn(function, ",");
	int r = encode(root, find_kind(name, strlen(name)), "", event, err);

	if (r < 0)
		return error_prefix(err, "%s", function);
	memcpy(event->probed, function, MIN(length, sizeof(event->probed) - 1));
	if (!function[length] ||
	    parse_u64(function + length + 1, 0, UINT32_MAX, &event->perf_config2) == 0)
		return 0;
	return error_set(err, -EINVAL, "'%s' is not an offset in the function %s, such as 0x10",
			 function + length + 1, event->probed);
}

/* Sets the name in sample files, which has no dots, slashes and colons. */
static int set_name(const char *text, const char *path, struct event *event, struct error *err)
{
	const struct kind *kind = kind_in_file(text);
	const char *at = strchr(text, ':') + 1;
	_cleanup_free_ char *name =
		xasprintf("%s~%s~%s", kind->name, strrchr(path, '/') + 1, strchr(at, ':') + 1);
	size_t i, length = strlen(name);

	if (length >= sizeof(event->name))
		return error_set(err, -EINVAL,
				 "event '%s' has a name of more than %zu letters; give the offset "
				 "in the file instead: uprobe:FILE:0x%" PRIx64,
				 text, sizeof(event->name) - 1, event->perf_config2);
	for (i = 0; i <= length; i++)
		event->name[i] =
			name[i] == ':' ? '~'
			: !name[i] || isalnum((unsigned char)name[i]) || strchr("~@-$", name[i])
				? name[i]
				: '_';
	return 0;
}

int evprobe_encode_file(const char *root, const char *text, struct event *event, struct error *err)
{
	_cleanup_(target_done) struct target target = { 0 };
	_cleanup_free_ char *path = NULL, *terms = NULL;
	struct probe_place place;
	int r = split(text, &target, err);

	if (r < 0)
		return r;
	path = find_file(target.file);
	if (!path)
		return no_file(target.file, err);
	if (strlen(path) >= sizeof(event->probed))
		return error_set(err, -ENAMETOOLONG, "%s: longer than %zu letters", path,
				 sizeof(event->probed) - 1);
	r = find_place(&target, path, &place, err);
	if (r < 0)
		return r;
	terms = place.semaphore ? xasprintf(",ref_ctr_offset=0x%" PRIx64, place.semaphore)
				: xstrdup("");
	r = encode(root, target.kind, terms, event, err);
	if (r < 0)
		return error_prefix(err, "%s", text);
	strcpy(event->probed, path);
	event->perf_config2 = place.offset;
	return set_name(text, path, event, err);
}
