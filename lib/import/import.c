/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/import.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/span.h"
#include "file/copy.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "file/owner.h"
#include "file/path.h"
#include "sfile/abi.h"
#include "sfile/idle.h"
#include "sfile/sample_header.h"
#include "sfile/session.h"
#include "sfile/sname.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const uint64_t FILE_MAX = 4ull << 30; /* 200 million nodes */

/* --- decoding --- */

/* The integer of @size bytes, one of 1, 2, 4, 8, at @at. */
static uint64_t get_integer(const struct abi *abi, const uint8_t *at, uint32_t size)
{
	bool little = abi->of[ABI_LITTLE_ENDIAN];

	switch (size) {
	case 1:
		return *at;
	case 2:
		return little ? get_le16(at) : get_be16(at);
	case 4:
		return little ? get_le32(at) : get_be32(at);
	default:
		return little ? get_le64(at) : get_be64(at);
	}
}

/* A field of the structure at @at; abi_parse() has checked that it is inside. */
static uint64_t get_field(const struct abi *abi, const uint8_t *at, enum abi_field offset,
			  enum abi_field size)
{
	return get_integer(abi, at + abi->of[offset], abi->of[size]);
}

static void get_header(const struct abi *abi, const uint8_t *at, struct sfile_header *ret)
{
	uint64_t mhz = get_field(abi, at, ABI_HEADER_CPU_SPEED, ABI_SIZEOF_DOUBLE);

	*ret = (struct sfile_header){
#define WORD(field) (uint32_t) get_field(abi, at, ABI_HEADER_##field, ABI_SIZEOF_U32)
#define LONG(field) get_field(abi, at, ABI_HEADER_##field, ABI_SIZEOF_U64)
		.version = WORD(VERSION),
		.cpu_type = WORD(CPU_TYPE),
		.event = WORD(EVENT),
		.unit_mask = WORD(UNIT_MASK),
		.count = WORD(COUNT),
		.is_kernel = WORD(IS_KERNEL) != 0,
		.cg_to_is_kernel = WORD(CG_TO_IS_KERNEL) != 0,
		.mtime = LONG(MTIME),
		.anon_start = LONG(ANON_START),
		.cg_to_anon_start = LONG(CG_TO_ANON_START),
#undef WORD
#undef LONG
	};
	ret->cpu_type = sample_header_cpu_type(ret->version, ret->cpu_type);
	memcpy(&ret->cpu_mhz, &mhz, sizeof(ret->cpu_mhz));
}

static bool version_is_known(uint32_t version)
{
	return version == SAMPLE_HEADER_VERSION || version == SAMPLE_HEADER_VERSION_0_9;
}

static int check_header(const struct sfile_header *header, const char *path, struct error *err)
{
	if (version_is_known(header->version))
		return 0;
	if (version_is_known(__builtin_bswap32(header->version)))
		return error_set(err, -EBADMSG,
				 "%s: its byte order differs from that of the ABI description",
				 path);
	return error_set(err, -EBADMSG, "%s: unknown version %#x", path, header->version);
}

int import_open(struct span in, const struct abi *abi, const char *path, struct import *ret,
		struct error *err)
{
	struct import import = { .abi = abi };
	const uint8_t *header = span_take(&in, abi->of[ABI_SIZEOF_HEADER]);
	const uint8_t *descr = header ? span_take(&in, abi->of[ABI_SIZEOF_DESCR]) : NULL;
	uint32_t node_size = abi->of[ABI_SIZEOF_NODE];
	uint64_t size, current;

	if (header && memcmp(header + abi->of[ABI_HEADER_MAGIC], "DAE\n", 4) != 0)
		return error_set(err, -EBADMSG, "%s: not a sample file: no DAE in its header",
				 path);
	if (!descr)
		return error_set(err, -EBADMSG, "%s: cut short: no room for a header", path);
	get_header(abi, header, &import.header);
	if (check_header(&import.header, path, err) < 0)
		return -EBADMSG;
	size = get_field(abi, descr, ABI_DESCR_SIZE, ABI_SIZEOF_NODE_NR);
	current = get_field(abi, descr, ABI_DESCR_CURRENT, ABI_SIZEOF_NODE_NR);
	if (current < 1 || current > size)
		return error_set(err, -EBADMSG,
				 "%s: %llu of %llu nodes in use: damaged, or its layout differs "
				 "from the ABI description",
				 path, (unsigned long long)current, (unsigned long long)size);
	if (current > in.left / node_size)
		return error_set(err, -EBADMSG, "%s: cut short: %llu nodes in use, room for %zu",
				 path, (unsigned long long)current, in.left / node_size);
	import.nodes = in.at + node_size; /* node 0 is never used */
	import.node_count = (size_t)current - 1;
	*ret = import;
	return 0;
}

void import_node(const struct import *import, size_t i, uint64_t *ret_key, uint32_t *ret_count)
{
	const struct abi *abi = import->abi;
	const uint8_t *at = import->nodes + i * abi->of[ABI_SIZEOF_NODE];
	uint64_t count = get_field(abi, at, ABI_NODE_VALUE, ABI_SIZEOF_VALUE);

	*ret_key = get_field(abi, at, ABI_NODE_KEY, ABI_SIZEOF_KEY);
	*ret_count = (uint32_t)MIN(count, (uint64_t)UINT32_MAX);
}

/* --- one file --- */

/* Reads a whole file. Returns its size or -errno; caller frees *ret. */
static ssize_t read_file(const char *path, uint8_t **ret, struct error *err)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	_cleanup_free_ uint8_t *bytes = NULL;
	struct stat st;
	size_t length = 0;
	ssize_t n = 1;

	if (fd < 0)
		return error_set(err, fd, "cannot open %s: %s", path, open_regular_why(fd));
	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "cannot open %s", path);
	if ((uint64_t)st.st_size > FILE_MAX)
		return error_set(err, -EBADMSG, "%s: larger than any sample file", path);
	if (holes_prevail(fd, (uint64_t)st.st_size))
		return error_set(err, -EBADMSG, "%s: %s", path, holes_text);
	bytes = xmalloc((size_t)st.st_size + 1);
	while (n > 0 && length < (size_t)st.st_size) {
		n = read(fd, bytes + length, (size_t)st.st_size - length);
		if (n < 0)
			return error_errno(err, -errno, "cannot read %s", path);
		length += (size_t)n;
	}
	*ret = STEAL(bytes);
	return (ssize_t)length;
}

/* Adds all nodes to the new file, and their number and sum to @stats. */
static int write_nodes(const struct import *import, struct sfile *to, struct import_stats *stats)
{
	size_t i;

	for (i = 0; i < import->node_count; i++) {
		uint64_t key;
		uint32_t count;
		int r;

		import_node(import, i, &key, &count);
		if (count == 0)
			continue; /* left by a writer that died during an insertion */
		r = odb_add(sfile_odb(to), key, count);
		if (r < 0)
			return r;
		stats->nodes++;
		stats->samples += count;
	}
	return 0;
}

/* Writes the new file under a temporary name first, so that @to is complete when it appears. */
static int write_file(const struct import *import, const char *to, bool force,
		      struct import_stats *stats, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", to, (int)getpid());
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	struct import_stats sum = { 0 };
	int r;

	(void)path_remove_tree(temporary, NULL);
	r = sfile_create(temporary, &import->header, &sf, err);
	if (r < 0)
		return r;
	r = write_nodes(import, sf, &sum);
	/* Without a sync, as cp(1): the original remains. */
	r = path_put(temporary, to, force ? 0 : RENAME_NOREPLACE, r);
	if (r < 0)
		return r == -EEXIST ? error_set(err, r, "%s: exists (--force replaces it)", to)
				    : error_errno(err, r, "cannot write %s", to);
	stats->files++;
	stats->nodes += sum.nodes;
	stats->samples += sum.samples;
	return 0;
}

int import_file(const char *from, const struct abi *abi, const char *to, bool force,
		struct import_stats *stats, struct error *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	ssize_t size = read_file(from, &bytes, err);
	struct import import;
	int r;

	if (size < 0)
		return (int)size;
	r = import_open(span_of(bytes, (size_t)size), abi, from, &import, err);
	return r < 0 ? r : write_file(&import, to, force, stats, err);
}

/* --- a session directory --- */

struct importer {
	const struct abi *abi;
	const char *from, *to; /* samples directories of a session */
	const char *from_dir, *to_dir;
	bool force;
	struct import_stats *stats;
	struct error *err;
};

static int copy_other(const char *path, const char *below, void *data)
{
	struct importer *im = data;
	_cleanup_free_ char *to = path_join(im->to, below);
	int r = copy_file(path, O_NOFOLLOW, to, im->err);

	im->stats->copied += r == 0;
	return r;
}

/* Copies the code of a region, TGID.jo next to the region's directory, which needs no conversion.
 * Several regions can share one file. */
static int copy_code(struct importer *im, const char *path, const struct sname *name)
{
	const char *end = strrchr(path, '/');
	_cleanup_free_ char *code = NULL, *to = NULL;

	if (name->image.kind != SNAME_ANON || name->has_callee)
		return 0;
	end = memrchr(path, '/', (size_t)(end - path));
	code = xasprintf("%.*s/%u.jo", (int)(end - path), path, name->image.tgid);
	to = path_join(im->to, code + strlen(im->from) + 1);
	if (access(code, F_OK) < 0 || access(to, F_OK) == 0)
		return 0;
	return copy_other(code, code + strlen(im->from) + 1, im);
}

static int import_one(const char *path, const struct sname *name, void *data)
{
	struct importer *im = data;
	_cleanup_free_ char *to = path_join(im->to, path + strlen(im->from) + 1);
	struct error err = ERROR_INIT;
	int r = import_file(path, im->abi, to, im->force, im->stats, &err);

	if (r != -EBADMSG && r < 0)
		*im->err = err;
	if (r != -EBADMSG)
		return r < 0 ? r : copy_code(im, path, name);
	log_warn("%s; file skipped", err.text);
	im->stats->bad++;
	return 0;
}

static void name_bad(const char *path _unused_, const struct error *why, void *data)
{
	struct importer *im = data;

	log_warn("%s; file skipped", why->text);
	im->stats->bad++;
}

/* Imports the sample files that were moved to idle/. Their sum has one format on all machines. */
static int import_idle(struct importer *im)
{
	_cleanup_free_ char *below = NULL, *path = NULL;
	uint32_t last;
	int r = idle_last(im->from, &last, im->err);

	if (r < 0)
		return r;
	below = xasprintf(SESSION_IDLE "/flat.3.1-%" PRIu32, last);
	path = path_join(im->from, below);
	r = last ? copy_other(path, below, im) : 0;
	return r < 0 ? r : idle_walk(im->from, last, import_one, name_bad, im, im->err);
}

static int create_session(const char *session_dir, const char *name, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();

	return session_create(session_dir, name, err);
}

static int import_one_session(const char *name, void *data)
{
	struct importer *im = data;
	_cleanup_free_ char *from = session_samples(im->from_dir, name);
	_cleanup_free_ char *to = session_samples(im->to_dir, name);
	int r = create_session(im->to_dir, name, im->err);

	im->from = from;
	im->to = to;
	if (r == 0)
		r = session_walk(from, import_one, name_bad, im, im->err);
	if (r == 0)
		r = import_idle(im);
	return r < 0 ? r : session_walk_rest(from, copy_other, im, im->err);
}

int import_session(const char *from, const struct abi *abi, const char *to, bool force,
		   struct import_stats *stats, struct error *err)
{
	struct error first = ERROR_INIT;
	struct importer im = { .abi = abi,
			       .from_dir = from,
			       .to_dir = to,
			       .force = force,
			       .stats = stats,
			       .err = &first };
	int r = session_list(from, import_one_session, &im, &first);

	if (r < 0)
		return error_set(err, r, "%s", first.text);
	if (stats->files == 0)
		return error_set(err, -ENODATA, "%s: none of its sample files could be imported",
				 from);
	return 0;
}
