/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/cookie_identify.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "identity/internal/host_path.h"
#include "parser/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* Whether @st can be the file that was mapped. stat() of a btrfs subvolume shows a device of its
 * own where mappings show the file system's, all of them anonymous (major 0): there the inode alone
 * must do. */
static bool is_mapped_file(const struct cookie_image *image, const struct stat *st)
{
	uint64_t device = file_identity_of(st).device;

	if (!S_ISREG(st->st_mode) || st->st_ino != image->file.inode)
		return false;
	return device == image->file.device || (device >> 32 == 0 && image->file.device >> 32 == 0);
}

/* The inode's generation, 0 where the file system does not tell. */
static uint32_t generation_of(int fd)
{
	/* The request says long, file systems write an int. */
	uint32_t generation[sizeof(long) / sizeof(uint32_t)] = { 0 };

	return ioctl(fd, FS_IOC_GETVERSION, generation) == 0 ? generation[0] : 0;
}

/* Whether only root can change the file, and packages install it. What @image calls its path is its
 * path on this machine. */
static bool is_of_package(const struct cookie_image *image, const struct stat *st)
{
	static const char *const places[] = { "/usr/", "/lib", "/bin/", "/sbin/" };
	static const char local[] = "/usr/local/";
	size_t i;

	if (!st->st_nlink || st->st_uid || !strncmp(image->path, local, strlen(local)))
		return false;
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!strncmp(image->path, places[i], strlen(places[i])))
			return true;
	return false;
}

/* A file to be identified. */
struct identify {
	struct cookie_image *image;
	const struct cookie_mapped *where;
	struct parser *parser; /* reads it */
};

/* Fills the image from @path if that is the file; whether it was. */
static int identify_by(const char *path, void *data)
{
	const struct identify *identify = data;
	struct cookie_image *image = identify->image;
	bool is_ours = !identify->where->root || !*identify->where->root;
	struct stat st = { 0 };
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	uint32_t generation = fd < 0 ? 0 : generation_of(fd);
	bool known = image->file.inode != 0; /* what to compare with */

	if (fd < 0 || fstat(fd, &st) < 0 || (known && !is_mapped_file(image, &st)) ||
	    (generation && image->file.generation &&
	     generation != (uint32_t)image->file.generation))
		return false;
	if (known && !image->file.generation)
		image->file.generation = generation;
	image->version.size = (uint64_t)st.st_size;
	image->version.mtime = (uint64_t)st.st_mtime;
	image->verified = known;
	if (parser_build_id(identify->parser, fd, &image->version.build_id) < 0)
		image->version.build_id.size = 0;
	if (!image->version.build_id.size)
		image->version.ctime_ns = file_version_ctime_ns(&st);
	if (known && is_ours)
		image->host =
			host_path(&(struct host_file){ fd, &st, image, identify->where->tgid });
	image->settled = known && is_ours && !image->host && is_of_package(image, &st);
	return true;
}

/* What may be done with a path that might lead to the file; non-zero ends the search. */
typedef int try_way(const char *path, void *data);

/* Tries the file that has the inode now, whatever it is called; 0 where that cannot be had. */
static int last_way(const struct cookie_image *image, try_way *try, void *data)
{
	_cleanup_close_ int fd = host_open(image);
	char path[64];

	if (fd < 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return try(path, data);
}

/* Goes through the paths that might lead to the file of @image; what the last try returned. */
static int each_way(const struct cookie_image *image, const struct cookie_mapped *where,
		    try_way *try, void *data)
{
	const char *root = where->root ? where->root : "";
	unsigned int tgid = where->tgid;
	_cleanup_free_ char *range = xasprintf("%s/proc/%u/map_files/%" PRIx64 "-%" PRIx64, root,
					       tgid, where->start, where->end);
	_cleanup_free_ char *exe = xasprintf("%s/proc/%u/exe", root, tgid);
	_cleanup_free_ char *inside = xasprintf("%s/proc/%u/root%s", root, tgid, image->path);
	_cleanup_free_ char *plain = path_under(root, image->path);
	const struct {
		const char *path;
		bool usable; /* by name only if nothing else identifies the file */
	} ways[] = {
		{ range, tgid && where->end && image->file.inode },
		{ exe, tgid && image->file.inode },
		{ inside, tgid },
		{ plain, true },
	};
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(ways) && r == 0 && path_is_absolute(image->path); i++)
		if (ways[i].usable)
			r = try(ways[i].path, data);
	return r == 0 && !*root ? last_way(image, try, data) : r;
}

void cookie_identify_file(struct cookie_image *image, const struct cookie_mapped *where,
			  struct parser *parser)
{
	struct identify identify = { image, where, parser };

	image->identified = true;
	(void)each_way(image, where, identify_by, &identify);
}

enum { UNKNOWN, UNCHANGED, CHANGED };

static int try_to_compare(const char *path, void *data)
{
	const struct cookie_image *image = data;
	uint64_t ctime;
	struct stat st;

	if (stat(path, &st) < 0 || !is_mapped_file(image, &st))
		return UNKNOWN;
	/* Removing a name changes ctime, too. */
	ctime = st.st_nlink && image->version.ctime_ns ? file_version_ctime_ns(&st)
						       : image->version.ctime_ns;
	if ((uint64_t)st.st_size != image->version.size ||
	    (uint64_t)st.st_mtime != image->version.mtime || ctime != image->version.ctime_ns)
		return CHANGED;
	return UNCHANGED;
}

bool cookie_file_changed(const struct cookie_image *image, const struct cookie_mapped *where)
{
	return each_way(image, where, try_to_compare, (void *)image) == CHANGED;
}

static int try_to_open(const char *path, void *data)
{
	const struct cookie_image *image = data;
	struct stat st = { 0 };
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) < 0 || (image->file.inode && !is_mapped_file(image, &st)))
		return 0;
	/* 0 is for "go on looking". */
	return STEAL_FD(fd) + 1;
}

int cookie_open_file(const struct cookie_image *image, const struct cookie_mapped *where)
{
	int fd = each_way(image, where, try_to_open, (void *)image) - 1;

	return fd < 0 ? -ENOENT : fd;
}

int cookie_open_version(const struct cookie_image *image, const struct cookie_mapped *where)
{
	_cleanup_close_ int fd = cookie_open_file(image, where);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || (uint64_t)st.st_size != image->version.size ||
	    (uint64_t)st.st_mtime != image->version.mtime)
		return -ENOENT;
	return STEAL_FD(fd);
}
