/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/sname.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A longer path cannot be opened, whatever it means. */
enum { SNAME_MAX = 16 << 10 };

static const char dep[] = "/{dep}/", cg[] = "/{cg}/", cgroup[] = "{cgroup}/", comm[] = "{comm}/";

/* A piece of a path, borrowed. */
struct part {
	const char *at;
	size_t length;
};

/* Adds "/NAME" component by component. Nothing is escaped, but no name leads out of its directory:
 * "." and ".." become underscores, empty components vanish. Neither occurs in a path from the
 * kernel; they do in names that a process gives itself. */
static void add_path(struct strbuf *b, const char *name)
{
	size_t before = b->length, n;

	for (; *name; name += n) {
		name += strspn(name, "/");
		n = strcspn(name, "/");
		if (!n)
			break;
		strbuf_adds(b, "/");
		if (n <= 2 && !strncmp(name, "..", n))
			strbuf_add(b, "__", n);
		else
			strbuf_add(b, name, n);
	}
	if (b->length == before)
		strbuf_adds(b, "/_");
}

/* Adds "{cgroup}/PATH/". No component of it looks like one that an image begins with. */
static void add_cgroup(struct strbuf *b, const char *path)
{
	size_t at;

	strbuf_add(b, cgroup, strlen(cgroup) - 1);
	at = b->length;
	if (path[strspn(path, "/")])
		add_path(b, path);
	strbuf_adds(b, "/");
	for (; at + 1 < b->length; at++)
		if (b->text[at] == '/' && b->text[at + 1] == '{')
			b->text[at + 1] = '_';
}

char *sname_comm(const char *name)
{
	bool is_dots = !strcmp(name, ".") || !strcmp(name, "..");
	char *text = xstrdup(*name ? name : "_"), *at;

	for (at = text; *at; at++)
		if (*at == '/' || is_dots)
			*at = '_';
	if (*text == '{')
		*text = '_';
	return text;
}

/* Adds "{comm}/NAME/". */
static void add_comm(struct strbuf *b, const char *name)
{
	_cleanup_free_ char *part = sname_comm(name);

	strbuf_addf(b, "%s%s/", comm, part);
}

/* Adds "{anon:LABEL}/TGID.0xSTART.0xEND"; the label is one component. */
static void add_anon(struct strbuf *b, const struct sname_image *image)
{
	_cleanup_free_ char *label = xstrdup(*image->name ? image->name : "anon");
	char *slash;

	while ((slash = strchr(label, '/')))
		*slash = '_';
	strbuf_addf(b, "{anon:%s}/%" PRIu32 ".0x%" PRIx64 ".0x%" PRIx64, label, image->tgid,
		    image->start, image->end);
}

static void add_image(struct strbuf *b, const struct sname_image *image)
{
	switch (image->kind) {
	case SNAME_KERN:
		/* The original calls what has a slash a file: {root}/kworker/0:1. */
		strbuf_adds(b, strchr(image->name, '/') ? "{root}" : "{kern}");
		add_path(b, image->name);
		break;
	case SNAME_ANON:
		add_anon(b, image);
		break;
	case SNAME_ROOT:
	case SNAME_KIND_COUNT_:
		strbuf_adds(b, "{root}");
		add_path(b, image->name);
		break;
	}
}

static void add_id(struct strbuf *b, int64_t id)
{
	if (id == SNAME_ALL)
		strbuf_adds(b, ".all");
	else
		strbuf_addf(b, ".%" PRId64, id);
}

char *sname_mangle(const struct sname *name)
{
	struct strbuf b = STRBUF_INIT;

	if (name->task.cgroup)
		add_cgroup(&b, name->task.cgroup);
	if (name->task.comm)
		add_comm(&b, name->task.comm);
	add_image(&b, &name->app);
	strbuf_adds(&b, dep);
	add_image(&b, &name->image);
	if (name->has_callee) {
		strbuf_adds(&b, cg);
		add_image(&b, &name->callee);
	}
	strbuf_addf(&b, "/%s.%" PRId32 ".%" PRId32, name->event, (int32_t)name->count,
		    (int32_t)name->unit_mask);
	add_id(&b, name->task.tgid);
	add_id(&b, name->task.tid);
	add_id(&b, name->task.cpu);
	return strbuf_take(&b);
}

static bool starts_with(struct part p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p.length >= n && !memcmp(p.at, prefix, n);
}

/* "{anon:LABEL}/TGID.0xSTART.0xEND" taken apart; the strings stay in the path. */
static bool parse_anon(struct part p, struct sname_image *ret, struct part *ret_name)
{
	const char *slash = memrchr(p.at, '/', p.length), *s, *end = p.at + p.length;
	const size_t prefix = strlen("{anon:");
	uint64_t tgid;

	if (!slash || (size_t)(slash - p.at) < prefix + 2 || slash[-1] != '}')
		return false;
	s = slash + 1;
	if (parse_dec(&s, &tgid) < 0 || tgid > UINT32_MAX || strncmp(s, ".0x", 3) != 0)
		return false;
	s += 3;
	if (parse_hex(&s, &ret->start) < 0 || strncmp(s, ".0x", 3) != 0)
		return false;
	s += 3;
	if (parse_hex(&s, &ret->end) < 0 || s != end)
		return false;
	ret->kind = SNAME_ANON;
	ret->tgid = (uint32_t)tgid;
	*ret_name = (struct part){ p.at + prefix, (size_t)(slash - 1 - p.at) - prefix };
	return true;
}

/* One image part taken apart: all but its name, which is put in *ret_name. */
static bool parse_image(struct part p, struct sname_image *ret, struct part *ret_name)
{
	const size_t token = strlen("{root}");

	*ret = (struct sname_image){ 0 };
	if (starts_with(p, "{anon:"))
		return parse_anon(p, ret, ret_name);
	if (p.length < token + 2)
		return false;
	*ret_name = (struct part){ p.at + token, p.length - token };
	if (starts_with(p, "{root}/"))
		return true;
	if (!starts_with(p, "{kern}/") || memchr(p.at + token + 1, '/', p.length - token - 1))
		return false;
	ret->kind = SNAME_KERN;
	ret_name->at++;
	ret_name->length--;
	return true;
}

static bool is_image(struct part p)
{
	struct sname_image image;
	struct part name;

	return parse_image(p, &image, &name);
}

/* The images of a name: one way to read it. */
struct split {
	struct part app, image, callee;
};

/* Cuts @p before the first @separator at or after @*at, which is moved past it. */
static bool cut(struct part p, const char *separator, size_t *at, struct part *before,
		struct part *after)
{
	size_t n = strlen(separator);
	const char *found =
		*at < p.length ? memmem(p.at + *at, p.length - *at, separator, n) : NULL;

	if (!found)
		return false;
	*before = (struct part){ p.at, (size_t)(found - p.at) };
	*after = (struct part){ found + n, p.length - before->length - n };
	*at = before->length + 1;
	return true;
}

/* How many ways there are to read @rest as caller and callee (counted up to 2), and the first. */
static int split_callgraph(struct part rest, struct split *ret)
{
	struct split s = *ret;
	size_t at = 0;
	int ways = 0;

	while (ways < 2 && cut(rest, cg, &at, &s.image, &s.callee))
		if (is_image(s.callee) && is_image(s.image) && !ways++)
			*ret = s;
	return ways;
}

/*
 * How many ways there are to read @text as images (counted up to 2), and the first. Directories can
 * be called {dep} or {cg}; what can be a separator has an image on both sides. A {cg} that can be
 * one is one.
 */
static int split_images(struct part text, struct split *ret)
{
	struct split flat = { 0 }, graph = { 0 }, s = { 0 };
	int flat_ways = 0, graph_ways = 0, n;
	struct part rest;
	size_t at = 0;

	while (graph_ways < 2 && cut(text, dep, &at, &s.app, &rest)) {
		if (!is_image(s.app))
			continue;
		n = split_callgraph(rest, &s);
		if (n && !graph_ways)
			graph = s;
		graph_ways += n;
		if (is_image(rest) && !flat_ways++)
			flat = (struct split){ .app = s.app, .image = rest };
	}
	*ret = graph_ways ? graph : flat;
	return graph_ways ?: MIN(flat_ways, 2);
}

/* Whether a number would be written in the same way. */
static bool is_plain_number(const char *text)
{
	bool is_negative = *text == '-';

	return text[is_negative] != '0' || !strcmp(text, "0");
}

/* A number of the event spec that was printed as signed 32 bit. */
static bool parse_signed(const char *text, int64_t *ret)
{
	int64_t value;

	if (!is_plain_number(text) || parse_i64(text, INT32_MIN, INT32_MAX, &value) < 0)
		return false;
	*ret = (uint32_t)value;
	return true;
}

static bool parse_id(const char *text, int64_t *ret)
{
	if (!strcmp(text, "all")) {
		*ret = SNAME_ALL;
		return true;
	}
	return is_plain_number(text) && parse_i64(text, 0, UINT32_MAX, ret) == 0;
}

/* "EVENT.COUNT.UNITMASK.TGID.TID.CPU" from its end, since an event's name can have dots. */
static bool parse_spec(const char *text, struct sname *ret)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *field[5], *dot;
	int i;

	for (i = 4; i >= 0; i--) {
		dot = strrchr(copy, '.');
		if (!dot)
			return false;
		*dot = '\0';
		field[i] = dot + 1;
	}
	if (!*copy || !parse_signed(field[0], &ret->count) ||
	    !parse_signed(field[1], &ret->unit_mask) || !parse_id(field[2], &ret->task.tgid) ||
	    !parse_id(field[3], &ret->task.tid) || !parse_id(field[4], &ret->task.cpu))
		return false;
	ret->event = STEAL(copy);
	return true;
}

/* The next component {root} or {kern} at or after @s, or NULL. */
static const char *find_start(const char *path, const char *s)
{
	for (; *s; s++)
		if ((s == path || s[-1] == '/') &&
		    (!strncmp(s, "{root}/", 7) || !strncmp(s, "{kern}/", 7)))
			return s;
	return NULL;
}

/* Whether a path is as add_path() writes it. */
static bool is_plain_path(struct part p)
{
	const char *at = p.at, *end = p.at + p.length;
	size_t n;

	for (; at < end; at += n) {
		const char *slash = ++at < end ? memchr(at, '/', (size_t)(end - at)) : NULL;

		n = (size_t)((slash ?: end) - at);
		if (n <= 2 && !strncmp(at, "..", n))
			return false;
	}
	return true;
}

/* Builds an image from its part; false if it would be written in another way. */
static bool take_image(struct part p, struct sname_image *ret)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const size_t token = strlen("{root}");
	struct part name = { "", 0 };

	(void)parse_image(p, ret, &name);
	ret->name = xstrndup(name.at, name.length);
	if (ret->kind != SNAME_ANON)
		return is_plain_path((struct part){ p.at + token, p.length - token });
	add_anon(&text, ret);
	return text.length == p.length && !memcmp(text.text, p.at, p.length);
}

/* Builds the images from a way to read them; false if they would be written in another way. */
static bool take_name(const struct split *split, struct sname *ret)
{
	ret->has_callee = split->callee.at != NULL;
	return take_image(split->app, &ret->app) && take_image(split->image, &ret->image) &&
	       (!ret->has_callee || take_image(split->callee, &ret->callee));
}

static void image_done(struct sname_image *image)
{
	free((char *)image->name);
	*image = (struct sname_image){ 0 };
}

static void images_done(struct sname *name)
{
	image_done(&name->app);
	image_done(&name->image);
	image_done(&name->callee);
	free((char *)name->task.cgroup);
	free((char *)name->task.comm);
	name->task.cgroup = name->task.comm = NULL;
}

void sname_done(struct sname *name)
{
	images_done(name);
	free((char *)name->event);
	*name = (struct sname){ 0 };
}

/* The images of the path from @start to @slash, into @ret; the number of ways to read them. */
static int parse_images(const char *start, const char *slash, struct sname *ret)
{
	struct split split;
	int ways = split_images((struct part){ start, (size_t)(slash - start) }, &split);

	return ways == 1 && !take_name(&split, ret) ? 0 : ways;
}

/* Takes the name between {comm} and *@start, where the images begin, if there is one; *@start is
 * then where {comm} begins. Returns false if it would be written in another way. */
static bool take_comm(const char *path, const char **start, struct sname *ret)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const size_t n = strlen(comm);
	const char *part = *start, *s;

	if (part <= path)
		return true;
	for (part--; part > path && part[-1] != '/';)
		part--;
	if ((size_t)(part - path) < n || strncmp(part - n, comm, n) != 0 ||
	    (part - n > path && part[-(ptrdiff_t)n - 1] != '/'))
		return true;
	s = part - n;
	ret->task.comm = xstrndup(part, (size_t)(*start - 1 - part));
	add_comm(&text, ret->task.comm);
	if (text.length != (size_t)(*start - s) || memcmp(text.text, s, text.length) != 0)
		return false;
	*start = s;
	return true;
}

/* Takes the path between {cgroup} and @start, where the rest begins, if there is one; false if it
 * would be written in another way. */
static bool take_cgroup(const char *path, const char *start, struct sname *ret)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const size_t n = strlen(cgroup);
	const char *s = start - MIN((size_t)(start - path), n);

	while (s > path && (s[-1] != '/' || strncmp(s, cgroup, n) != 0))
		s--;
	if (strncmp(s, cgroup, n) != 0 || s + n > start)
		return true;
	ret->task.cgroup =
		s + n == start ? xstrdup("/") : xstrndup(s + n - 1, (size_t)(start - s - n));
	add_cgroup(&text, ret->task.cgroup);
	return text.length == (size_t)(start - s) && !memcmp(text.text, s, text.length);
}

int sname_parse(const char *path, struct sname *ret, struct error *err)
{
	_cleanup_(sname_done) struct sname name = { 0 };
	const char *start = find_start(path, path), *slash = strrchr(path, '/');
	int ways = 0;

	if (strlen(path) > SNAME_MAX)
		return error_set(err, -EBADMSG, "%.80s...: longer than any path", path);
	if (!start)
		return error_set(err, -EBADMSG, "%s: not a sample file: no {root} or {kern}", path);
	if (!parse_spec(slash + 1, &name))
		return error_set(err, -EBADMSG,
				 "%s: not a sample file: '%s' is not "
				 "EVENT.COUNT.UNITMASK.TGID.TID.CPU",
				 path, slash + 1);
	while (start && start < slash && !ways) {
		images_done(&name);
		const char *outer = start;

		ways = parse_images(start, slash, &name);
		if (ways == 1 &&
		    (!take_comm(path, &outer, &name) || !take_cgroup(path, outer, &name)))
			ways = 0;
		start = ways ? NULL : find_start(path, start + 1);
	}
	switch (ways) {
	case 0:
		return error_set(err, -EBADMSG,
				 "%s: not a sample file: no APPLICATION/{dep}/IMAGE before '%s'",
				 path, slash + 1);
	case 1:
		*ret = name;
		name = (struct sname){ 0 };
		return 0;
	default:
		return error_set(
			err, -EBADMSG,
			"%s: ambiguous: a directory has the name of a separator, {dep} or {cg}",
			path);
	}
}
