/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/manifest.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/hash.h"
#include "base/keyed_hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/span.h"
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

/* A line of the file, and the image in it. */
struct line {
	char *text;
	size_t room;
	struct manifest_image image;
};

/* A reader has all images in memory. A writer, which may run for months, reads each from its line
 * in the file. */
struct manifest {
	char *path;
	int fd; /* open for appending, or -1: a reader */
	struct manifest_image *images;
	size_t count, room;
	size_t damaged;
	/* Hash of the name -> index + 1, of a writer the line's offset + 1; see find_key() for
	 * collisions. */
	struct map by_name;
	struct keyed_hash hash; /* programs choose their names */
	struct arena strings;
	struct line *line; /* the last one read by read_again() */
};

enum { COLUMNS = 6 };
/* Names that are tried for a file whose path others had. */
enum { TRIES_MAX = 64 };

/* --- text form --- */

static void add_number(struct strbuf *b, uint64_t value)
{
	if (value)
		strbuf_addf(b, "\t%" PRIu64, value);
	else
		strbuf_adds(b, "\t-");
}

static void add_line(struct strbuf *b, const struct manifest_image *image)
{
	char id[BUILD_ID_TEXT];

	text_add_field(b, image->name);
	strbuf_adds(b, "\t");
	text_add_field(b, image->path);
	strbuf_adds(b, "\t");
	text_add_field(b, build_id_text(&image->version.build_id, id));
	add_number(b, image->version.size);
	add_number(b, image->version.mtime);
	if (image->version.ctime_ns)
		strbuf_addf(b, ":%" PRIu64, image->version.ctime_ns);
	strbuf_addf(b, "\t%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64, image->file.device >> 32,
		    image->file.device & UINT32_MAX, image->file.inode, image->file.generation);
	if (image->host) {
		strbuf_adds(b, "\t");
		text_add_field(b, image->host);
	}
	strbuf_adds(b, "\n");
}

static int read_number(const char *s, uint64_t *ret)
{
	*ret = 0;
	return !strcmp(s, "-") ? 0 : parse_u64(s, 0, UINT64_MAX, ret);
}

/* Parses "mtime[:ctime]". */
static int read_times(char *s, struct file_version *ret)
{
	char *mtime = strsep(&s, ":");

	ret->ctime_ns = 0;
	if (s && parse_u64(s, 0, UINT64_MAX, &ret->ctime_ns) < 0)
		return -EBADMSG;
	return read_number(mtime, &ret->mtime);
}

/* Parses "major:minor:inode:generation". */
static int read_identity(const char *s, struct manifest_image *image)
{
	uint64_t numbers[4];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if ((i && *s++ != ':') || parse_dec(&s, &numbers[i]) < 0)
			return -EBADMSG;
	if (*s || numbers[0] > UINT32_MAX || numbers[1] > UINT32_MAX)
		return -EBADMSG;
	image->file.device = numbers[0] << 32 | numbers[1];
	image->file.inode = numbers[2];
	image->file.generation = numbers[3];
	return 0;
}

/* Parses a line in place; the strings of *ret point into it. Returns 0 or -EBADMSG. */
static int read_line(char *line, struct manifest_image *ret)
{
	struct manifest_image image = { 0 };
	char *columns[COLUMNS], *host = NULL;
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		columns[i] = strsep(&line, "\t");
	if (line) {
		host = line;
		line = strchr(host, '\t');
	}
	if (!columns[COLUMNS - 1] || line || (host && text_unescape_field(host) < 0) ||
	    text_unescape_field(columns[0]) < 0 || text_unescape_field(columns[1]) < 0 ||
	    text_unescape_field(columns[2]) < 0 || !*columns[0])
		return -EBADMSG;
	if (build_id_parse(columns[2], &image.version.build_id) < 0 ||
	    read_number(columns[3], &image.version.size) < 0 ||
	    read_times(columns[4], &image.version) < 0 || read_identity(columns[5], &image) < 0)
		return -EBADMSG;
	image.name = columns[0];
	image.path = columns[1];
	image.host = host;
	*ret = image;
	return 0;
}

/* --- table --- */

/* Reads the line at @offset; the image, borrowed until the next call, or NULL. */
static const struct manifest_image *read_again(const struct manifest *m, off_t offset)
{
	enum { STEP = 4096 };
	struct line *l = m->line;
	size_t have = 0;
	char *end = NULL;
	ssize_t n;

	while (!end) {
		array_grow(&l->text, have + STEP, &l->room);
		n = pread(m->fd, l->text + have, STEP, offset + (off_t)have);
		if (n <= 0)
			return NULL;
		end = memchr(l->text + have, '\n', (size_t)n);
		have += (size_t)n;
	}
	*end = '\0';
	return read_line(l->text, &l->image) == 0 ? &l->image : NULL;
}

static const struct manifest_image *image_at(const struct manifest *m, uintptr_t value)
{
	return m->fd < 0 ? &m->images[value - 1] : read_again(m, (off_t)value - 1);
}

/* Returns the image called @name, or NULL, and in *ret_key the key it has or should get. Names with
 * the same hash have consecutive keys. */
static const struct manifest_image *find_key(const struct manifest *m, const char *name,
					     uint64_t *ret_key)
{
	uint64_t key = keyed_hash_of(&m->hash, name, strlen(name));
	const struct manifest_image *image = NULL;
	uintptr_t value;

	while ((value = (uintptr_t)map_get(&m->by_name, key))) {
		image = image_at(m, value);
		if (image && !strcmp(image->name, name))
			break;
		image = NULL;
		key++;
	}
	*ret_key = key;
	return image;
}

/* Stores @image, whose line is at @offset, replacing an earlier image of the same name. */
static void put(struct manifest *m, const struct manifest_image *image, off_t offset)
{
	struct manifest_image copy = *image, *entry;
	uint64_t key;
	const struct manifest_image *old = find_key(m, image->name, &key);

	if (m->fd >= 0) {
		(void)map_set(&m->by_name, key, (void *)((uintptr_t)offset + 1));
		return;
	}
	copy.path = arena_strdup(&m->strings, image->path);
	copy.host = image->host ? arena_strdup(&m->strings, image->host) : NULL;
	if (old) {
		copy.name = old->name;
		m->images[old - m->images] = copy;
		return;
	}
	copy.name = arena_strdup(&m->strings, image->name);
	array_grow(&m->images, m->count + 1, &m->room);
	entry = &m->images[m->count++];
	*entry = copy;
	map_set(&m->by_name, key, (void *)(uintptr_t)m->count);
}

static int read_manifest(struct manifest *m, struct error *err)
{
	_cleanup_fclose_ FILE *f = open_regular_stream(m->path);
	_cleanup_free_ char *line = NULL;
	struct manifest_image image;
	struct stat st;
	size_t room = 0;
	off_t offset = 0;
	ssize_t n;

	if (!f)
		return errno == ENOENT ? 0
				       : error_set(err, -errno, "%s: %s", m->path,
						   open_regular_why(-errno));
	if (fstat(fileno(f), &st) == 0 && holes_prevail(fileno(f), (uint64_t)st.st_size))
		return error_set(err, -EBADMSG, "%s: %s", m->path, holes_text);
	for (; (n = xgetline(&line, &room, f)) > 0; offset += n) {
		if (line[n - 1] == '\n' && strlen(line) == (size_t)n) {
			line[n - 1] = '\0';
			if (read_line(line, &image) == 0) {
				put(m, &image, offset);
				continue;
			}
		}
		m->damaged++;
	}
	return ferror(f) ? error_errno(err, -errno, "%s", m->path) : 0;
}

/* Removes anything after the last newline, a line whose write was cut short. Merely terminating it
 * could make it look complete, with only the first digits of a number. Returns 0 or -errno. */
static int drop_torn_line(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END), at;
	char buffer[512];

	for (at = end; at > 0; at -= MIN(at, (off_t)sizeof(buffer))) {
		size_t size = (size_t)MIN(at, (off_t)sizeof(buffer));
		const char *newline;

		if (pread(fd, buffer, size, at - (off_t)size) != (ssize_t)size)
			return -EIO;
		newline = memrchr(buffer, '\n', size);
		if (newline) {
			at -= (off_t)size - (newline + 1 - buffer);
			break;
		}
	}
	return end < 0 || (at < end && ftruncate(fd, at) < 0) ? -errno : 0;
}

int manifest_open(const char *samples, bool write, struct manifest **ret, struct error *err)
{
	_cleanup_(manifest_closep) struct manifest *m = xcalloc(1, sizeof(*m));
	int r;

	m->fd = -1;
	m->path = path_join(samples, MANIFEST_FILE);
	m->line = xcalloc(1, sizeof(*m->line));
	m->hash = keyed_hash_new();
	if (write) {
		m->fd = open_regular_or_create(m->path, O_RDWR | O_APPEND, 0644);
		if (m->fd < 0)
			return error_set(err, m->fd, "cannot write %s: %s", m->path,
					 open_regular_why(m->fd));
	}
	r = read_manifest(m, err);
	if (r < 0)
		return r;
	if (write && (r = drop_torn_line(m->fd)) < 0)
		return error_errno(err, r, "cannot write %s", m->path);
	*ret = STEAL(m);
	return 0;
}

void manifest_close(struct manifest *m)
{
	if (!m)
		return;
	if (m->fd >= 0)
		(void)close(m->fd);
	map_done(&m->by_name);
	arena_done(&m->strings);
	free(m->line ? m->line->text : NULL);
	free(m->line);
	free(m->images);
	free(m->path);
	free(m);
}

const struct manifest_image *manifest_find(const struct manifest *m, const char *name)
{
	uint64_t key;

	return find_key(m, name, &key);
}

/* --- naming --- */

static bool equal_or_unknown(uint64_t a, uint64_t b)
{
	return !a || !b || a == b;
}

/* Returns whether two images are the same file at the same path, as far as is known. */
static bool same_file(const struct manifest_image *a, const struct manifest_image *b)
{
	if (strcmp(a->path, b->path))
		return false;
	if (a->version.build_id.size && b->version.build_id.size)
		return build_id_equal(&a->version.build_id, &b->version.build_id);
	return file_identity_matches(&a->file, &b->file) &&
	       equal_or_unknown(a->version.size, b->version.size) &&
	       equal_or_unknown(a->version.mtime, b->version.mtime) &&
	       equal_or_unknown(a->version.ctime_ns, b->version.ctime_ns);
}

/* Returns whether @image has details of the file that @entry lacks. */
static bool knows_more(const struct manifest_image *image, const struct manifest_image *entry)
{
	return (image->version.build_id.size && !entry->version.build_id.size) ||
	       (image->version.size && !entry->version.size) ||
	       (image->version.mtime && !entry->version.mtime) ||
	       (image->version.ctime_ns && !entry->version.ctime_ns) ||
	       (image->file.inode && !entry->file.inode) ||
	       (image->host && *image->host && (!entry->host || !*entry->host));
}

/* Returns a value, printed as eight hex digits, that distinguishes @image from others of the same
 * path: the first bytes of the build-id, else a hash of device, inode and so on. If another file
 * has those, the next @tries have nothing in common with them: who makes files chooses their
 * build-ids, and names that only count up would be looked for one after the other. */
static uint32_t distinction(const struct manifest_image *image, unsigned int tries)
{
	const struct build_id *id = &image->version.build_id;
	uint64_t h;

	if (id->size >= 4 && tries)
		return (uint32_t)digest_bytes(id->bytes, id->size, tries);
	if (id->size >= 4)
		return get_be32(id->bytes);
	h = file_identity_hash(&image->file);
	h = hash_add(hash_add(h, image->version.size), image->version.mtime);
	h = image->version.ctime_ns ? hash_add(h, image->version.ctime_ns) : h;
	return (uint32_t)(tries ? hash_add(h, tries) : h);
}

/* Writes the image's line, then notes its place. */
static const char *add(struct manifest *m, const struct manifest_image *image, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	off_t end = lseek(m->fd, 0, SEEK_END);
	const struct manifest_image *added;
	ssize_t n;

	add_line(&line, image);
	n = m->fd < 0 ? (errno = EBADF, -1) : write(m->fd, line.text, line.length);
	if (n != (ssize_t)line.length) {
		(void)error_errno(err, n < 0 ? -errno : -ENOSPC, "cannot write %s", m->path);
		if (n > 0)
			(void)drop_torn_line(m->fd); /* if this fails, readers skip it */
		return NULL;
	}
	put(m, image, end);
	added = read_again(m, end);
	return added ? added->name : NULL;
}

/* The path of a sample file contains the names of two or three images, and must fit into PATH_MAX;
 * a component must fit into NAME_MAX, with "#" and eight digits. */
enum { NAME_LONGEST = 1000, COMPONENT_LONGEST = 240, KEPT = 200 };

static bool is_too_long(const char *path)
{
	size_t length = strlen(path), n, at;

	for (at = 0; at < length && length <= NAME_LONGEST; at += n + 1) {
		n = strcspn(path + at, "/");
		if (n > COMPONENT_LONGEST)
			return true;
	}
	return length > NAME_LONGEST;
}

/* The name of the image at @path: the path or, of one that is too long, its beginning and its end
 * with a digest of all of it between them. Caller frees. */
static char *name_of_path(const char *path)
{
	const char *tail = path_base(path);
	size_t length = strlen(tail), head = 0, next;

	if (!is_too_long(path))
		return xstrdup(path);
	while ((next = head + 1 + strcspn(path + head + 1, "/")) <= KEPT)
		head = next;
	tail += length - MIN(length, (size_t)KEPT);
	while (((unsigned char)*tail & 0xc0) == 0x80) /* inside a character of UTF-8 */
		tail++;
	return xasprintf("%.*s/~%016" PRIx64 "/%s", (int)head, path,
			 digest_bytes(path, strlen(path), 0), tail);
}

void manifest_each(const struct manifest *m,
		   void (*each)(const struct manifest_image *image, void *data), void *data)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		each(&m->images[i], data);
}

const char *manifest_name(struct manifest *m, const struct manifest_image *image, struct error *err)
{
	_cleanup_free_ char *plain = name_of_path(image->path), *name = xstrdup(plain);
	const struct manifest_image *entry;
	struct manifest_image named = *image;
	unsigned int tries = 0;

	while ((entry = manifest_find(m, name)) && !same_file(entry, image)) {
		if (tries == TRIES_MAX) {
			(void)error_set(err, -EEXIST,
					"%s: too many files of this path have similar build-ids",
					image->path);
			return NULL;
		}
		free(name);
		name = xasprintf("%s#%08x", plain, distinction(image, tries++));
	}
	if (entry && !knows_more(image, entry))
		return entry->name;
	named.name = name;
	return add(m, &named, err);
}

int manifest_rewrite(const struct manifest *m, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	size_t i;

	for (i = 0; i < m->count; i++)
		add_line(&text, &m->images[i]);
	return path_write(m->path, strbuf_text(&text), 0644, err);
}

size_t manifest_damaged(const struct manifest *m)
{
	return m->damaged;
}
