/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/spec.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "profile/select/cgroup_label.h"
#include "profile/select/region_name.h"
#include "sfile/session_names.h"
#include "sfile/sname.h"
#include "sfile/sname_event.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* What the values of a tag must look like. */
enum value_kind { ANY, NUMBER, FILES /* in one word or several */, TIME /* no list */ };

static const struct {
	const char *name, *what;
	enum value_kind kind;
} tags[] = {
#define X(tag, name, what, kind) [SPEC_##tag] = { name, what, kind },
	SPEC_TAGS(X)
#undef X
};

const char *spec_tag_name(enum spec_tag tag)
{
	return tags[tag].name;
}

const char *spec_tag_what(enum spec_tag tag)
{
	return tags[tag].what;
}

static void add_value(struct spec_values *to, char *value)
{
	array_grow(&to->values, to->count + 1, &to->room);
	array_grow(&to->used, to->count + 1, &to->used_room);
	to->used[to->count] = false;
	to->values[to->count++] = value;
}

/* Splits @text at commas that are not after a backslash. */
static void split_values(const char *text, struct spec_values *to)
{
	while (*text) {
		char *value = xmalloc(strlen(text) + 1), *end = value;

		for (; *text && *text != ','; text++) {
			if (text[0] == '\\' && text[1] == ',')
				text++;
			*end++ = *text;
		}
		*end = '\0';
		if (*value)
			add_value(to, value);
		else
			free(value);
		text += *text == ',';
	}
}

/* The tag that @word starts with, its value to *ret; SPEC_PATH if it starts with none. */
static enum spec_tag tag_of(const char *word, const char **ret)
{
	size_t i;

	for (i = 0; i < SPEC_TAG_COUNT_; i++) {
		size_t length = strlen(tags[i].name);

		if (length && !strncmp(word, tags[i].name, length) && word[length] == ':') {
			*ret = word + length + 1;
			return (enum spec_tag)i;
		}
	}
	*ret = word;
	return SPEC_PATH;
}

static int check_values(enum spec_tag tag, const struct spec_values *values, struct error *err)
{
	uint64_t number;
	size_t i;

	if (values->count == 0)
		return error_set(err, -EINVAL, "%s: no value after the colon", tags[tag].name);
	if (tags[tag].kind == TIME && values->count > 1)
		return error_set(err, -EINVAL,
				 "%s: takes only one value; opreport compares two: "
				 "{ %s:FIRST } { %s:SECOND }",
				 tags[tag].name, tags[tag].name, tags[tag].name);
	for (i = 0; tags[tag].kind == NUMBER && i < values->count; i++)
		if (strcmp(values->values[i], "all") &&
		    parse_u64(values->values[i], 0, UINT32_MAX, &number) < 0)
			return error_set(err, -EINVAL, "%s:%s is not a number", tags[tag].name,
					 values->values[i]);
	return 0;
}

/* Distinguishes a mistyped tag ("evnt:X") from an image with a colon in its name. */
static int check_path(const char *word, struct error *err)
{
	const char *colon = strchr(word, ':');

	if (!colon || memchr(word, '/', (size_t)(colon - word)) || access(word, F_OK) == 0)
		return 0;
	return error_set(err, -EINVAL,
			 "'%s': no tag '%.*s:'; if it is a file, write its path with a slash", word,
			 (int)(colon - word), word);
}

static bool is_brace(const char *word)
{
	return !strcmp(word, "{") || !strcmp(word, "}");
}

static int parse_word(const char *word, struct spec *spec, struct error *err)
{
	const char *value;
	enum spec_tag tag = tag_of(word, &value);
	int r;

	if (is_brace(word))
		return error_set(err, -EINVAL,
				 "'%s': only opreport and opannotate compare two profiles", word);
	if (tag == SPEC_PATH) {
		r = check_path(word, err);
		if (r == 0)
			add_value(&spec->of[tag], xstrdup(word));
		return r;
	}
	if (spec->of[tag].count && tags[tag].kind < FILES)
		return error_set(err, -EINVAL, "%s: is given twice; put its values in one list",
				 tags[tag].name);
	split_values(value, &spec->of[tag]);
	r = check_values(tag, &spec->of[tag], err);
	if (r == 0 && tags[tag].kind == TIME)
		r = window_parse(spec_value(spec, tag), window_now_ms(), &spec->window, err);
	return r;
}

int spec_bad_pair(struct error *err)
{
	return error_set(err, -EINVAL,
			 "two profiles are compared as { FIRST } { SECOND }; the braces are words "
			 "of their own, and all specifications are inside them");
}

/* Takes "{ WORD... }" from the words at *at. */
static bool take_braced(char *const *words, size_t count, size_t *at, struct spec_pair *ret,
			unsigned int which)
{
	size_t i = *at + 1;

	ret->words[which] = &words[i];
	while (i < count && !is_brace(words[i]))
		i++;
	ret->count[which] = (size_t)(&words[i] - ret->words[which]);
	*at = i;
	return i < count && !strcmp(words[i], "}");
}

int spec_split(char *const *words, size_t count, struct spec_pair *ret, struct error *err)
{
	_cleanup_(spec_pair_done) struct spec_pair pair = { 0 };
	unsigned int profiles = 0;
	size_t i;

	pair.outside = xcalloc(count + 1, sizeof(*pair.outside));
	for (i = 0; i < count; i++)
		if (!is_brace(words[i]))
			pair.outside[pair.outside_count++] = words[i];
		else if (profiles == 2 || strcmp(words[i], "{") != 0 ||
			 !take_braced(words, count, &i, &pair, profiles++))
			return spec_bad_pair(err);
	if (profiles == 0)
		return 0;
	if (profiles == 1)
		return spec_bad_pair(err);
	*ret = pair;
	pair = (struct spec_pair){ 0 };
	return 1;
}

void spec_pair_done(struct spec_pair *pair)
{
	free(pair->outside);
	*pair = (struct spec_pair){ 0 };
}

int spec_parse(char *const *words, size_t count, struct spec *ret, struct error *err)
{
	struct spec spec = { 0 };
	size_t i;
	int r = 0;

	spec.session_names = session_names_new();
	for (i = 0; r == 0 && i < count; i++)
		r = parse_word(words[i], &spec, err);
	if (r < 0) {
		spec_done(&spec);
		return r;
	}
	*ret = spec;
	return 0;
}

void spec_done(struct spec *spec)
{
	size_t i, j;

	for (i = 0; i < SPEC_TAG_COUNT_; i++) {
		for (j = 0; j < spec->of[i].count; j++)
			free(spec->of[i].values[j]);
		free(spec->of[i].values);
		free(spec->of[i].used);
	}
	session_names_free(spec->session_names);
	*spec = (struct spec){ 0 };
}

void spec_divide_time(struct spec *spec, struct spec_division division)
{
	if (!spec_window(spec))
		spec->window = WINDOW_ALL;
	spec->division = division;
}

const struct window *spec_window(const struct spec *spec)
{
	return spec->of[SPEC_TIME].count || spec->division.most ? &spec->window : NULL;
}

const char *spec_value(const struct spec *spec, enum spec_tag tag)
{
	return spec->of[tag].count ? spec->of[tag].values[0] : NULL;
}

bool spec_session_is_path(const char *value)
{
	return value[0] == '.' || value[0] == '/';
}

void spec_set_archive(struct spec *spec, size_t i, char *directory)
{
	free(spec->of[SPEC_ARCHIVE].values[i]);
	spec->of[SPEC_ARCHIVE].values[i] = directory;
}

static bool is_or_matches(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || fnmatch(pattern, name, 0) == 0;
}

static bool lists(const struct spec_values *values, const char *name)
{
	size_t i;

	for (i = 0; i < values->count; i++)
		if (is_or_matches(values->values[i], name))
			return true;
	return false;
}

bool spec_excludes_session(const struct spec *spec, const char *name)
{
	return lists(&spec->of[SPEC_SESSION_EXCLUDE], name);
}

bool spec_wants_session(const struct spec *spec, const char *name)
{
	const struct spec_values *sessions = &spec->of[SPEC_SESSION];

	if (spec_excludes_session(spec, name))
		return false;
	return sessions->count ? lists(sessions, name) : !strcmp(name, "current");
}

/* Whether @whole matches the name below an archive. */
static bool is_below_archive(const struct spec *spec, const char *whole, const char *name)
{
	const struct spec_values *archives = &spec->of[SPEC_ARCHIVE];
	bool matches = false;
	size_t i;

	for (i = 0; i < archives->count && path_is_absolute(name) && !matches; i++) {
		_cleanup_free_ char *root = path_absolute(archives->values[i]);
		_cleanup_free_ char *below = path_under(root, name);

		matches = is_or_matches(whole, below);
	}
	return matches;
}

/* Returns whether a pattern matches the name of an image: the whole name, literally or as a glob;
 * without a slash, the last part of the path; the file at a path on this machine (links resolved or
 * not); the name below an archive. */
static bool name_matches(const struct spec *spec, const char *pattern, const char *name)
{
	_cleanup_free_ char *whole = NULL, *real = NULL;

	if (is_or_matches(pattern, name))
		return true;
	if (!strchr(pattern, '/') && is_or_matches(pattern, path_base(name)))
		return true;
	whole = path_absolute(pattern);
	if (is_or_matches(whole, name))
		return true;
	real = xrealpath(pattern);
	return (real && !strcmp(real, name)) || is_below_archive(spec, whole, name);
}

/* The same of an image, by its name or, without the mark of a build, by that of all builds. */
static bool image_matches(const struct spec *spec, const char *pattern,
			  const struct sname_image *image)
{
	const char *mark = sname_build_mark(image->name);
	_cleanup_free_ char *plain = NULL;

	/* As a glob it would be a set of characters. */
	if (!strcmp(pattern, SNAME_KERNEL_WORD))
		return sname_image_is_kernel(image);
	if (name_matches(spec, pattern, image->name))
		return true;
	plain = *mark ? xstrndup(image->name, (size_t)(mark - image->name)) : NULL;
	return plain && name_matches(spec, pattern, plain);
}

/* Whether a value is the application or the image of a file. Tries all, so that each matching one
 * is marked as used. */
static bool any_matches(const struct spec *spec, enum spec_tag tag, const struct sname *name,
			const struct sname_image *image)
{
	const struct spec_values *values = &spec->of[tag];
	bool any = false;
	size_t i;

	for (i = 0; i < values->count; i++) {
		if (!image_matches(spec, values->values[i], image) &&
		    !region_name_is(values->values[i], image, &name->app))
			continue;
		values->used[i] = true;
		any = true;
	}
	return any;
}

static bool event_wanted(const struct spec *spec, const char *event)
{
	const struct spec_values *values = &spec->of[SPEC_EVENT];
	bool any = values->count == 0;
	size_t i;

	for (i = 0; i < values->count; i++) {
		if (!sname_event_is(values->values[i], event) && strcmp(values->values[i], "all"))
			continue;
		values->used[i] = true;
		any = true;
	}
	return any;
}

static bool number_matches(const char *value, int64_t number)
{
	uint64_t wanted;

	if (!strcmp(value, "all"))
		return true;
	return parse_u64(value, 0, UINT32_MAX, &wanted) == 0 && number != SNAME_ALL &&
	       wanted == (uint32_t)number;
}

/* Whether a number of the file's name ("all" is SNAME_ALL) is among the tag's values, if any. */
static bool number_wanted(const struct spec *spec, enum spec_tag tag, int64_t number)
{
	const struct spec_values *values = &spec->of[tag];
	bool any = values->count == 0;
	size_t i;

	for (i = 0; i < values->count; i++) {
		if (!number_matches(values->values[i], number))
			continue;
		values->used[i] = true;
		any = true;
	}
	return any;
}

/* Returns whether @pattern is @label, which is freed, with or without the kind before its colon, or
 * the label of a cgroup above it. NULL is no label. */
static bool is_label(const char *pattern, char *label)
{
	_cleanup_free_ char *own = label;
	const char *colon = own ? strchr(own, ':') : NULL;

	return own && (fnmatch(pattern, own, FNM_LEADING_DIR) == 0 ||
		       (colon && fnmatch(pattern, colon + 1, FNM_LEADING_DIR) == 0));
}

/* Returns whether @pattern is the cgroup or one above it: its path or, without a slash, the name of
 * any part of it; or the name of a container, or its short id. */
static bool is_in_cgroup(const struct spec *spec, const char *pattern, const char *cgroup)
{
	const char *at = cgroup;

	if (is_label(pattern, cgroup_label(NULL, cgroup)) ||
	    is_label(pattern, cgroup_label(spec->session_names, cgroup)))
		return true;
	if (!strcmp(pattern, "/") || !strcmp(pattern, cgroup))
		return true;
	if (strchr(pattern, '/'))
		return fnmatch(pattern, cgroup, FNM_LEADING_DIR) == 0;
	while ((at = strchr(at, '/')))
		if (fnmatch(pattern, ++at, FNM_LEADING_DIR | FNM_PATHNAME) == 0)
			return true;
	return false;
}

static bool cgroup_wanted(const struct spec *spec, const char *cgroup)
{
	const struct spec_values *values = &spec->of[SPEC_CGROUP];
	bool any = values->count == 0;
	size_t i;

	for (i = 0; i < values->count; i++) {
		if (strcmp(values->values[i], "all") &&
		    !(cgroup && is_in_cgroup(spec, values->values[i], cgroup)))
			continue;
		values->used[i] = true;
		any = true;
	}
	return any;
}

/* A plain name can match either image. */
static bool path_wanted(const struct spec *spec, const struct sname *name)
{
	bool image = any_matches(spec, SPEC_PATH, name, &name->image);

	if (sname_image_equal(&name->app, &name->image))
		return image;
	return any_matches(spec, SPEC_PATH, name, &name->app) || image;
}

/* The tag that rejects the images, or -1. */
static int reject_images(const struct spec *spec, const struct sname *name)
{
	if (spec->of[SPEC_PATH].count && !path_wanted(spec, name))
		return SPEC_PATH;
	if (spec->of[SPEC_IMAGE].count && !any_matches(spec, SPEC_IMAGE, name, &name->app))
		return SPEC_IMAGE;
	if (any_matches(spec, SPEC_IMAGE_EXCLUDE, name, &name->app) ||
	    any_matches(spec, SPEC_IMAGE_EXCLUDE, name, &name->image))
		return SPEC_IMAGE_EXCLUDE;
	if (spec->of[SPEC_LIB_IMAGE].count &&
	    !any_matches(spec, SPEC_LIB_IMAGE, name, &name->image))
		return SPEC_LIB_IMAGE;
	if (any_matches(spec, SPEC_LIB_IMAGE_EXCLUDE, name, &name->image))
		return SPEC_LIB_IMAGE_EXCLUDE;
	return -1;
}

int spec_reject(const struct spec *spec, const struct sname *name)
{
	int image = reject_images(spec, name);

	if (image >= 0)
		return image;
	if (!event_wanted(spec, name->event))
		return SPEC_EVENT;
	if (!number_wanted(spec, SPEC_COUNT, name->count))
		return SPEC_COUNT;
	if (!number_wanted(spec, SPEC_UNIT_MASK, name->unit_mask))
		return SPEC_UNIT_MASK;
	if (!cgroup_wanted(spec, name->task.cgroup))
		return SPEC_CGROUP;
	if (!spec_wants_comm(spec, name->task.comm))
		return SPEC_COMM;
	if (!number_wanted(spec, SPEC_TGID, name->task.tgid))
		return SPEC_TGID;
	if (!number_wanted(spec, SPEC_TID, name->task.tid))
		return SPEC_TID;
	return number_wanted(spec, SPEC_CPU, name->task.cpu) ? -1 : SPEC_CPU;
}

bool spec_wants_offsets(const struct sname *name, void *spec)
{
	const struct spec *s = spec;

	return !s->sums_only && spec_reject(s, name) < 0;
}
