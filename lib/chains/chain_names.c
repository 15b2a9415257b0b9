/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_names.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 *	image \t KIND \t TGID \t START \t END \t NAME [\t kernel]
 *	context \t APP \t EVENT \t END \t TGID \t TID \t CPU [\t CGROUP [\t COMM]]
 *
 * KIND: root, kern, anon. -1 or an empty column: not separated by it.
 */
enum { COLUMNS_MAX = 9 };

static const char *const kinds[] = {
	[SNAME_ROOT] = "root",
	[SNAME_KERN] = "kern",
	[SNAME_ANON] = "anon",
};
static_assert(ARRAY_SIZE(kinds) == SNAME_KIND_COUNT_, "a word for each kind");

static const char kernel_mark[] = "kernel";

struct image {
	struct sname_image name;
	bool is_kernel;
};

struct chain_names {
	char *path;
	int fd; /* open for appending, or -1 */
	struct image *images;
	size_t image_count, image_room;
	struct chain_context *contexts;
	size_t context_count, context_room;
	struct map image_by_hash, context_by_hash; /* to index + 1 */
	struct arena strings;
	struct intern words; /* of contexts, many of which have the same */
	size_t length;	     /* valid length of the file */
	size_t damaged;
};

static uint64_t image_hash(const struct sname_image *i)
{
	return hash_add(hash_add(hash_add(hash_bytes(i->name, strlen(i->name)), i->kind), i->tgid),
			i->start ^ i->end << 1);
}

static uint64_t context_hash(const struct chain_context *c)
{
	uint64_t hash = hash_add(hash_bytes(c->event, strlen(c->event)), c->app);

	return hash_add(hash_add(hash, hash_bytes(c->end, strlen(c->end))),
			sname_task_hash(&c->task));
}

static bool same_context(const struct chain_context *a, const struct chain_context *b)
{
	return a->app == b->app && sname_task_equal(&a->task, &b->task) &&
	       !strcmp(a->event, b->event) && !strcmp(a->end, b->end);
}

static void add_image(struct chain_names *n, const struct sname_image *image, bool is_kernel)
{
	struct image *own;

	array_grow(&n->images, n->image_count + 1, &n->image_room);
	own = &n->images[n->image_count++];
	*own = (struct image){ *image, is_kernel };
	own->name.name = arena_strdup(&n->strings, image->name);
	map_add(&n->image_by_hash, image_hash(image), (void *)(uintptr_t)n->image_count);
}

static void add_context(struct chain_names *n, const struct chain_context *context)
{
	struct chain_context *own;

	array_grow(&n->contexts, n->context_count + 1, &n->context_room);
	own = &n->contexts[n->context_count++];
	*own = *context;
	own->event = intern(&n->words, context->event);
	own->end = intern(&n->words, context->end);
	own->task.cgroup = intern(&n->words, context->task.cgroup);
	own->task.comm = intern(&n->words, context->task.comm);
	map_add(&n->context_by_hash, context_hash(own), (void *)(uintptr_t)n->context_count);
}

/* --- reading --- */

/* Parses the columns of an image, whose name is borrowed from them. */
static int parse_image(char **column, struct sname_image *ret)
{
	struct sname_image image = { .name = column[5] };
	uint64_t tgid;
	size_t kind;

	for (kind = 0; kind < ARRAY_SIZE(kinds) && strcmp(kinds[kind], column[1]); kind++)
		;
	if (kind == ARRAY_SIZE(kinds) || text_unescape_field(column[5]) < 0 || !*column[5] ||
	    parse_u64(column[2], 0, UINT32_MAX, &tgid) < 0 ||
	    parse_u64(column[3], 0, UINT64_MAX, &image.start) < 0 ||
	    parse_u64(column[4], 0, UINT64_MAX, &image.end) < 0)
		return -EBADMSG;
	image.kind = (enum sname_kind)kind;
	image.tgid = (uint32_t)tgid;
	*ret = image;
	return 0;
}

static int read_image(struct chain_names *n, char **column, const char *mark)
{
	struct sname_image image;

	if ((mark && strcmp(mark, kernel_mark)) || n->image_count == CHAIN_IMAGES_MAX ||
	    parse_image(column, &image) < 0)
		return -EBADMSG;
	add_image(n, &image, mark != NULL);
	return 0;
}

/* Parses the columns of a context but for its application, from that of the event on. */
static int parse_context(char **column, struct chain_context *ret)
{
	int64_t *const ids[] = { &ret->task.tgid, &ret->task.tid, &ret->task.cpu };
	size_t i;

	ret->event = column[0];
	ret->end = column[1];
	if (text_unescape_field(column[0]) < 0 || text_unescape_field(column[1]) < 0)
		return -EBADMSG;
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		if (parse_i64(column[2 + i], SNAME_ALL, UINT32_MAX, ids[i]) < 0)
			return -EBADMSG;
	return 0;
}

/* Parses a column that may be missing (NULL) or empty: then *@ret is NULL. */
static int parse_optional(char *column, const char **ret)
{
	*ret = column && *column ? column : NULL;
	return *ret ? text_unescape_field(column) : 0;
}

/* @more: the columns of cgroup and name, or NULL. */
static int read_context(struct chain_names *n, char **column, char *const more[2])
{
	struct chain_context context = { 0 };
	uint64_t app;

	if (parse_u64(column[1], 1, n->image_count, &app) < 0 ||
	    parse_context(column + 2, &context) < 0 ||
	    parse_optional(more[0], &context.task.cgroup) < 0 ||
	    parse_optional(more[1], &context.task.comm) < 0)
		return -EBADMSG;
	context.app = (uint32_t)app;
	add_context(n, &context);
	return 0;
}

/* Parses a line in place. Returns 0 or -EBADMSG. */
static int read_line(struct chain_names *n, char *line)
{
	char *column[COLUMNS_MAX];
	size_t count = 0;

	while (line && count < COLUMNS_MAX)
		column[count++] = strsep(&line, "\t");
	if (!line && (count == 6 || count == 7) && !strcmp(column[0], "image"))
		return read_image(n, column, count > 6 ? column[6] : NULL);
	if (!line && count >= 7 && !strcmp(column[0], "context"))
		return read_context(n, column,
				    (char *[2]){ count > 7 ? column[7] : NULL,
						 count > 8 ? column[8] : NULL });
	return -EBADMSG;
}

/* Reads complete lines up to the first invalid one: numbers follow from the lines' order. */
static void read_text(struct chain_names *n, char *text, size_t size)
{
	char *at = text, *newline;

	while ((newline = memchr(at, '\n', size - (size_t)(at - text)))) {
		*newline = '\0';
		if (strlen(at) != (size_t)(newline - at) || read_line(n, at) < 0)
			break;
		at = newline + 1;
	}
	n->length = (size_t)(at - text);
	n->damaged = size - n->length;
}

static int read_file(struct chain_names *n, struct error *err)
{
	_cleanup_close_ int fd = open_regular(n->path, O_RDONLY | O_NOFOLLOW);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t have = 0;
	ssize_t got = 1;

	if (fd < 0)
		return fd == -ENOENT && n->fd >= 0
			       ? 0
			       : error_set(err, fd, "%s: %s", n->path, open_regular_why(fd));
	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "%s", n->path);
	if (holes_prevail(fd, (uint64_t)st.st_size))
		return error_set(err, -EBADMSG, "%s: %s", n->path, holes_text);
	if (st.st_size > (off_t)1 << 30)
		return error_set(err, -EFBIG, "%s: too large", n->path);
	text = xcalloc(1, (size_t)st.st_size + 1);
	while (got > 0 && have < (size_t)st.st_size) {
		got = read(fd, text + have, (size_t)st.st_size - have);
		if (got < 0)
			return error_errno(err, -errno, "%s", n->path);
		have += (size_t)got;
	}
	read_text(n, text, have);
	return 0;
}

struct chain_names *chain_names_new(void)
{
	struct chain_names *n = xcalloc(1, sizeof(*n));

	n->fd = -1;
	return n;
}

/* Sessions of older versions have one file for all pairs that they wrote. */
static char *file_of(const char *dir, uint32_t pair)
{
	_cleanup_free_ char *nodes = xasprintf("%s/nodes.%" PRIu32, dir, pair);
	_cleanup_free_ char *own = xasprintf("%s/names.%" PRIu32, dir, pair);
	_cleanup_free_ char *shared = path_join(dir, "names");

	return access(nodes, F_OK) == 0 && access(own, F_OK) < 0 && access(shared, F_OK) == 0
		       ? STEAL(shared)
		       : STEAL(own);
}

int chain_names_open(const char *dir, uint32_t pair, bool write, struct chain_names **ret,
		     struct error *err)
{
	_cleanup_(chain_names_closep) struct chain_names *n = chain_names_new();
	int r;

	n->path = file_of(dir, pair);
	n->fd = write ? open_regular_or_create(n->path, O_WRONLY | O_APPEND, 0644) : -1;
	if (write && n->fd < 0)
		return error_set(err, n->fd, "%s: %s", n->path, open_regular_why(n->fd));
	r = read_file(n, err);
	if (r < 0)
		return r;
	/* An unfinished line of a killed writer; nothing refers to it yet. */
	if (write && n->damaged && ftruncate(n->fd, (off_t)n->length) < 0)
		return error_errno(err, -errno, "%s", n->path);
	*ret = STEAL(n);
	return 0;
}

void chain_names_close(struct chain_names *n)
{
	if (!n)
		return;
	if (n->fd >= 0)
		(void)close(n->fd);
	free(n->path);
	free(n->images);
	free(n->contexts);
	map_done(&n->image_by_hash);
	map_done(&n->context_by_hash);
	arena_done(&n->strings);
	intern_done(&n->words);
	free(n);
}

size_t chain_names_memory(const struct chain_names *n)
{
	return n->image_room * sizeof(*n->images) + n->context_room * sizeof(*n->contexts) +
	       n->strings.bytes + n->words.strings.bytes + map_memory(&n->image_by_hash) +
	       map_memory(&n->context_by_hash) + map_memory(&n->words.by_hash);
}

/* --- adding --- */

/* Writes one line, if there is a file; removes a partly written line on failure. */
static int append(struct chain_names *n, const struct strbuf *line, struct error *err)
{
	ssize_t w = n->fd < 0 ? (ssize_t)line->length : write(n->fd, line->text, line->length);
	int r = w < 0 ? -errno : -ENOSPC;

	if (w != (ssize_t)line->length) {
		(void)!ftruncate(n->fd, (off_t)n->length);
		return error_errno(err, r, "cannot write %s", n->path);
	}
	n->length += line->length;
	return 0;
}

static void put_image(struct strbuf *line, const struct sname_image *image, bool is_kernel)
{
	strbuf_addf(line, "image\t%s\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t", kinds[image->kind],
		    image->tgid, image->start, image->end);
	text_add_field(line, image->name);
	strbuf_addf(line, "%s%s", is_kernel ? "\t" : "", is_kernel ? kernel_mark : "");
}

/* Adds the columns of a context but for its application, from that of the event on. */
static void put_context(struct strbuf *line, const struct chain_context *context)
{
	text_add_field(line, context->event);
	strbuf_adds(line, "\t");
	text_add_field(line, context->end);
	strbuf_addf(line, "\t%" PRId64 "\t%" PRId64 "\t%" PRId64, context->task.tgid,
		    context->task.tid, context->task.cpu);
}

int chain_names_image(struct chain_names *n, const struct sname_image *image, bool is_kernel,
		      uint32_t *ret, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	uintptr_t number;
	int r;

	map_for_each_of(&n->image_by_hash, image_hash(image),
			number) if (sname_image_equal(&n->images[number - 1].name, image))
	{
		*ret = (uint32_t)number;
		return 0;
	}
	if (n->fd >= 0 && n->image_count == CHAIN_IMAGES_MAX)
		return error_set(err, -EOVERFLOW, "%s: more than %d images", n->path,
				 CHAIN_IMAGES_MAX);
	if (n->fd >= 0) {
		put_image(&line, image, is_kernel);
		strbuf_adds(&line, "\n");
	}
	r = append(n, &line, err);
	if (r < 0)
		return r;
	add_image(n, image, is_kernel);
	*ret = (uint32_t)n->image_count;
	return 0;
}

static void put_context_line(struct strbuf *line, const struct chain_context *c)
{
	strbuf_addf(line, "context\t%" PRIu32 "\t", c->app);
	put_context(line, c);
	if (c->task.cgroup || c->task.comm) {
		strbuf_adds(line, "\t");
		text_add_field(line, c->task.cgroup ?: "");
	}
	if (c->task.comm) {
		strbuf_adds(line, "\t");
		text_add_field(line, c->task.comm);
	}
	strbuf_adds(line, "\n");
}

int chain_names_context(struct chain_names *n, const struct chain_context *context, uint32_t *ret,
			struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	uintptr_t number;
	int r;

	map_for_each_of(&n->context_by_hash, context_hash(context),
			number) if (same_context(&n->contexts[number - 1], context))
	{
		*ret = (uint32_t)number;
		return 0;
	}
	if (n->fd >= 0)
		put_context_line(&line, context);
	r = append(n, &line, err);
	if (r < 0)
		return r;
	add_context(n, context);
	*ret = (uint32_t)n->context_count;
	return 0;
}

/* --- lines without numbers --- */

enum { IMAGE_COLUMNS = 7, CONTEXT_COLUMNS = 8 + IMAGE_COLUMNS };

void chain_names_put_image(const struct chain_names *n, uint32_t number, struct strbuf *out)
{
	put_image(out, &n->images[number - 1].name, n->images[number - 1].is_kernel);
}

void chain_names_put_context(const struct chain_names *n, uint32_t number, struct strbuf *out)
{
	const struct chain_context *c = &n->contexts[number - 1];

	strbuf_adds(out, "context\t");
	put_context(out, c);
	strbuf_adds(out, "\t");
	if (c->task.cgroup)
		text_add_field(out, c->task.cgroup);
	strbuf_adds(out, "\t");
	if (c->task.comm) {
		text_add_field(out, c->task.comm);
		strbuf_adds(out, "\t");
	}
	chain_names_put_image(n, c->app, out);
}

/* Gets the number of the image whose line has these columns. */
static int take_image(struct chain_names *n, char **column, size_t count, uint32_t *ret)
{
	struct sname_image image;

	if (count < IMAGE_COLUMNS - 1 || strcmp(column[0], "image") != 0 ||
	    (count == IMAGE_COLUMNS && strcmp(column[IMAGE_COLUMNS - 1], kernel_mark) != 0) ||
	    parse_image(column, &image) < 0)
		return -EBADMSG;
	return chain_names_image(n, &image, count == IMAGE_COLUMNS, ret, NULL);
}

int chain_names_take(struct chain_names *n, char *line, uint32_t *ret_image, uint32_t *ret_context)
{
	char *column[CONTEXT_COLUMNS];
	struct chain_context context = { 0 };
	size_t count = 0, at = 7;

	*ret_image = *ret_context = 0;
	while (line && count < CONTEXT_COLUMNS)
		column[count++] = strsep(&line, "\t");
	if (line)
		return -EBADMSG;
	if (count <= IMAGE_COLUMNS)
		return take_image(n, column, count, ret_image);
	/* The name of threads, which may be "image", is before the image, whose kind follows. */
	if (count > at + 1 && !strcmp(column[at + 1], "image"))
		at++;
	if (strcmp(column[0], "context") != 0 || parse_context(column + 1, &context) < 0 ||
	    parse_optional(column[6], &context.task.cgroup) < 0 ||
	    (at > 7 && parse_optional(column[7], &context.task.comm) < 0) ||
	    take_image(n, column + at, count - at, &context.app) < 0)
		return -EBADMSG;
	return chain_names_context(n, &context, ret_context, NULL);
}

uint32_t chain_names_images(const struct chain_names *n)
{
	return (uint32_t)n->image_count;
}

uint32_t chain_names_contexts(const struct chain_names *n)
{
	return (uint32_t)n->context_count;
}

const struct sname_image *chain_names_image_at(const struct chain_names *n, uint32_t number)
{
	return &n->images[number - 1].name;
}

bool chain_names_is_kernel(const struct chain_names *n, uint32_t number)
{
	return n->images[number - 1].is_kernel;
}

const struct chain_context *chain_names_context_at(const struct chain_names *n, uint32_t number)
{
	return &n->contexts[number - 1];
}

size_t chain_names_damaged(const struct chain_names *n)
{
	return n->damaged;
}
