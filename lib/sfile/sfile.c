/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/sfile.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "sfile/check.h"
#include "sfile/sample_header.h"
#include "sfile/sname.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

struct sfile {
	struct odb *db;
	struct sfile_header header;
};

/* Returns whether the path is that of a call graph file: {cg} is a separator in it, not the name of
 * a directory. */
static bool is_callgraph(const char *path)
{
	struct sname name;
	bool is;

	if (!strstr(path, "/{cg}/") || sname_parse(path, &name, NULL) < 0)
		return false;
	is = name.has_callee;
	sname_done(&name);
	return is;
}

/* Opens an existing file at @path for writing. A file whose writer died while creating it is
 * removed. Returns a descriptor or -errno: -ENOENT if there is no file, or no longer. */
static int open_existing(const char *path, struct error *err)
{
	_cleanup_close_ int fd = open_regular(path, O_RDWR | O_NOFOLLOW);

	if (fd < 0)
		return fd == -ENOENT ? fd
				     : error_set(err, fd, "cannot open %s: %s", path,
						 open_regular_why(fd));
	if (!odb_is_blank(fd, SAMPLE_HEADER_SIZE))
		return STEAL_FD(fd);
	if (unlink(path) < 0)
		return error_errno(err, -errno, "cannot replace %s", path);
	return -ENOENT;
}

/* Returns whether the samples were taken by the clock, which is the same on every CPU type. */
static bool is_clock(const struct sfile_header *h)
{
	return !h->event && !h->unit_mask && !h->count;
}

/* Checks whether samples described by @new may be added to a file whose header is @old. */
static int check_same(const char *path, const struct sfile_header *old,
		      const struct sfile_header *new, struct error *err)
{
	if (old->version != SAMPLE_HEADER_VERSION)
		return error_set(err, -EBADMSG,
				 "%s: written by OProfile 0.9.8 or 0.9.9 (version %#x): can be "
				 "read, but not added to",
				 path, old->version);
	if ((old->cpu_type != new->cpu_type && !is_clock(new)) || old->event != new->event ||
	    old->unit_mask != new->unit_mask || old->count != new->count)
		return error_set(err, -EBADMSG,
				 "%s: counts event %#x, unit mask %#x, period %u on CPU type %u, "
				 "not event %#x, unit mask %#x, period %u on CPU type %u",
				 path, old->event, old->unit_mask, old->count, old->cpu_type,
				 new->event, new->unit_mask, new->count, new->cpu_type);
	return 0;
}

/* Opens the database for writing. After a power cut, any page of the file may be older than the
 * others. Such a file is repaired from its usable nodes and then opened. */
static int open_database(struct sfile *sf, const char *path, int *fd, struct error *err)
{
	struct check_result found;
	int r = odb_open_fd(*fd, path, ODB_WRITE, SAMPLE_HEADER_SIZE, &sf->db, err);

	if ((r != -EINVAL && r != -EBADMSG) || check_repair(path, &found, NULL) < 0)
		return r;
	log_warn("%s; repaired: %" PRIu64 " node%s with %" PRIu64 " sample%s",
		 err ? err->text : path, found.nodes, text_plural(found.nodes), found.samples,
		 text_plural(found.samples));
	(void)close(*fd);
	*fd = open_existing(path, err);
	return *fd < 0 ? *fd : odb_open_fd(*fd, path, ODB_WRITE, SAMPLE_HEADER_SIZE, &sf->db, err);
}

/* How often a file is created whose directory is removed meanwhile. */
enum { TRIES_MAX = 10 };

int sfile_create(const char *path, const struct sfile_header *header, struct sfile **ret,
		 struct error *err)
{
	_cleanup_(sfile_closep) struct sfile *sf = xcalloc(1, sizeof(*sf));
	_cleanup_close_ int fd = open_existing(path, err);
	uint8_t bytes[SAMPLE_HEADER_SIZE];
	int r = 0, tries;

	sample_header_encode(header, bytes);
	/* Directories that are empty may be removed at any time. */
	for (tries = 0; fd == -ENOENT && tries < TRIES_MAX; tries++) {
		r = path_make_parents(path, 0755, err);
		if (r == 0)
			r = odb_create(path, bytes, SAMPLE_HEADER_SIZE, err);
		if (r < 0 && r != -ENOENT)
			return r;
		fd = r < 0 ? r : open_existing(path, err);
	}
	if (r < 0 || fd < 0)
		return r < 0 ? r : fd;
	r = sample_header_read(fd, path, &sf->header, err);
	if (r >= 0)
		r = check_same(path, &sf->header, header, err);
	if (r == 0)
		r = open_database(sf, path, &fd, err);
	if (r < 0)
		return r;
	(void)STEAL_FD(fd);
	if (memcmp(odb_header(sf->db), bytes, SAMPLE_HEADER_SIZE) != 0)
		memcpy(odb_header(sf->db), bytes, SAMPLE_HEADER_SIZE);
	sf->header = *header;
	sf->header.version = SAMPLE_HEADER_VERSION;
	*ret = STEAL(sf);
	return 0;
}

int sfile_open(const char *path, struct sfile **ret, struct error *err)
{
	_cleanup_(sfile_closep) struct sfile *sf = xcalloc(1, sizeof(*sf));
	_cleanup_close_ int fd = open_regular_sample(path);
	int r;

	if (fd < 0)
		return error_set(err, fd, "cannot open %s: %s", path, open_regular_why(fd));
	r = sample_header_read(fd, path, &sf->header, err);
	if (r < 0)
		return r;
	r = odb_open_fd(fd, path, ODB_READ_ONCE, (size_t)r, &sf->db, err);
	if (r < 0)
		return r;
	(void)STEAL_FD(fd);
	if (!is_callgraph(path)) {
		/* OProfile 1.x leaves values of another file, a call graph file, in these
		 * fields. */
		sf->header.cg_to_is_kernel = false;
		sf->header.cg_to_anon_start = 0;
	}
	*ret = STEAL(sf);
	return 0;
}

void sfile_close(struct sfile *sf)
{
	if (!sf)
		return;
	odb_close(sf->db);
	free(sf);
}

const struct sfile_header *sfile_header(const struct sfile *sf)
{
	return &sf->header;
}

struct odb *sfile_odb(struct sfile *sf)
{
	return sf->db;
}
