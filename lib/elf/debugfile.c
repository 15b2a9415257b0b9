/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/debugfile.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/span.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "elf/filefind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const char *const debug_directory = "/usr/lib/debug";

/* Fills the table for the reflected polynomial 0xedb88320, which zlib and gdb use. */
static void crc_table(uint32_t table[256])
{
	uint32_t i, j;

	for (i = 0; i < 256; i++) {
		uint32_t c = i;

		for (j = 0; j < 8; j++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
		table[i] = c;
	}
}

uint32_t debugfile_crc(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;
	uint32_t table[256];

	crc_table(table);
	crc = ~crc;
	while (size--)
		crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return ~crc;
}

static bool crc_fits(const char *path, uint64_t size, uint32_t expected)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	void *bytes =
		fd >= 0 && size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	uint32_t crc;

	if (bytes == MAP_FAILED)
		return false;
	crc = debugfile_crc(0, bytes, size);
	(void)munmap(bytes, size);
	return crc == expected;
}

/* Warns that @debug was refused, and why. */
static void warn_other(const struct elffile *ef, const struct elffile *debug)
{
	const struct build_id *wanted = elffile_build_id(ef), *own = elffile_build_id(debug);
	char is[BUILD_ID_TEXT], was[BUILD_ID_TEXT];

	if (wanted && own)
		log_warn("%s: not the debug file of %s (build-id %s, not %s); ignored",
			 elffile_path(debug), elffile_path(ef), build_id_text(own, is),
			 build_id_text(wanted, was));
	else
		log_warn("%s: not the debug file of %s (other checksum); ignored",
			 elffile_path(debug), elffile_path(ef));
}

/* Opens @path if it is the debug file of @ef: same build-id or, if @ef has none, same CRC. */
static int try_file(const struct elffile *ef, const char *path, const uint32_t *crc,
		    struct elffile **ret)
{
	_cleanup_(elffile_closep) struct elffile *debug = NULL;
	const struct build_id *id = elffile_build_id(ef);
	struct error err = ERROR_INIT;
	struct stat st;
	bool fits;

	if (stat(path, &st) < 0) {
		if (error_is_of_machine(-errno))
			log_warn("%s: %s", path, strerror(errno));
		return -ENOENT;
	}
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	if (elffile_open(path, &debug, &err) < 0) {
		log_line(error_is_of_machine(err.code) ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG, "%s",
			 err.text);
		return -ENOENT;
	}
	if (id && elffile_build_id(debug))
		fits = build_id_equal(id, elffile_build_id(debug));
	else
		fits = crc && crc_fits(path, (uint64_t)st.st_size, *crc);
	if (!fits) {
		warn_other(ef, debug);
		return -ENOENT;
	}
	*ret = STEAL(debug);
	return 0;
}

char *debugfile_place(const struct build_id *id, const char *root)
{
	_cleanup_free_ char *name = NULL;
	char text[BUILD_ID_TEXT];

	if (!id || id->size < 2)
		return NULL;
	(void)build_id_text(id, text);
	name = xasprintf("%s/.build-id/%.2s/%s.debug", debug_directory, text, text + 2);
	return path_under(root, name);
}

bool debugfile_installed(const struct build_id *id, const char *const *roots, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		_cleanup_free_ char *path = debugfile_place(id, roots[i]);

		if (path && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static int by_build_id(const struct elffile *ef, const char *root, struct elffile **ret)
{
	_cleanup_free_ char *path = debugfile_place(elffile_build_id(ef), root);

	return path ? try_file(ef, path, NULL, ret) : -ENOENT;
}

static int by_link(const struct elffile *ef, const char *binary, const char *root,
		   struct elffile **ret)
{
	const char *link, *base = path_base(binary);
	int directory = (int)(base - binary), i;
	uint32_t crc;

	if (!elffile_debuglink(ef, &link, &crc) || strchr(link, '/'))
		return -ENOENT;
	for (i = 0; i < 3; i++) {
		static const char *const before[] = { "", "", "/usr/lib/debug" };
		static const char *const below[] = { "", ".debug/", "" };
		_cleanup_free_ char *name =
			xasprintf("%s%.*s%s%s", before[i], directory, binary, below[i], link);
		_cleanup_free_ char *path = path_under(root, name);

		if (strcmp(path, elffile_path(ef)) && try_file(ef, path, &crc, ret) == 0)
			return 0;
	}
	return -ENOENT;
}

int debugfile_open(const struct elffile *ef, const char *path, const char *const *roots,
		   size_t count, struct elffile **ret)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (by_build_id(ef, roots[i], ret) == 0)
			return 0;
	for (i = 0; i < count; i++)
		if (by_link(ef, path, roots[i], ret) == 0)
			return 0;
	return -ENOENT;
}

/* --- dwz --- */

/* Reads .debug_sup: a version of two bytes, a flag for the shared file, the path of that (empty in
 * itself), and its identity. */
static bool read_sup(const struct elffile *ef, bool is_shared, const char **ret_name,
		     struct build_id *ret)
{
	struct elf_section s;
	const Elf_Data *data;
	const uint8_t *head;
	struct span in;
	uint64_t size;

	if (!elffile_find_section(ef, ".debug_sup", &s) || !(data = elffile_data(&s)))
		return false;
	in = span_of(data->d_buf, data->d_size);
	head = span_take(&in, 3);
	if (!head || !!head[2] != is_shared || !(*ret_name = span_string(&in)) ||
	    span_uleb(&in, &size) < 0 || size > sizeof(ret->bytes))
		return false;
	ret->size = (uint8_t)size;
	return span_copy(&in, ret->bytes, ret->size) == 0;
}

/* Reads the link to a shared file: a path and a build-id. */
static bool read_alt_link(const struct elffile *ef, const char **ret_name, struct build_id *ret)
{
	struct elf_section s;
	const Elf_Data *data;
	struct span in;

	if (!elffile_find_section(ef, ".gnu_debugaltlink", &s))
		return read_sup(ef, false, ret_name, ret) && **ret_name;
	if (!(data = elffile_data(&s)))
		return false;
	in = span_of(data->d_buf, data->d_size);
	*ret_name = span_string(&in);
	if (!*ret_name || !**ret_name || in.left > sizeof(ret->bytes))
		return false;
	ret->size = (uint8_t)in.left;
	return span_copy(&in, ret->bytes, ret->size) == 0;
}

/* Whether it is the file that a link names: dwz gives it a build-id or a section .debug_sup. */
static bool is_alt(const struct elffile *alt, const struct build_id *id)
{
	struct build_id own;
	const char *name;

	if (elffile_build_id(alt))
		return build_id_equal(elffile_build_id(alt), id);
	return read_sup(alt, true, &name, &own) && build_id_equal(&own, id);
}

static int try_alt(const char *path, const struct build_id *id, struct elffile **ret)
{
	_cleanup_(elffile_closep) struct elffile *alt = NULL;

	if (access(path, R_OK) < 0 || elffile_open(path, &alt, NULL) < 0)
		return -ENOENT;
	if (!is_alt(alt, id)) {
		log_warn("%s: its build-id is not the one that dwz recorded; ignored", path);
		return -ENOENT;
	}
	*ret = STEAL(alt);
	return 0;
}

/* Opens it by build-id or name below @root. */
static int alt_below(const char *root, const char *name, const struct build_id *id,
		     struct elffile **ret)
{
	_cleanup_free_ char *place = debugfile_place(id, root), *path = NULL;

	if (place && try_alt(place, id, ret) == 0)
		return 0;
	if (*name != '/')
		return -ENOENT;
	path = path_under(root, name);
	return try_alt(path, id, ret);
}

int debugfile_alt(const struct elffile *ef, struct build_id *ret_id, struct elffile **ret)
{
	const char *self = elffile_path(ef), *name;
	_cleanup_free_ char *root = xstrdup(self), *real = NULL, *sibling = NULL;
	char *end;

	if (!read_alt_link(ef, &name, ret_id))
		return -ENOENT;
	do {
		end = strrchr(root, '/');
		*(end ? end : root) = '\0';
		if (alt_below(root, name, ret_id, ret) == 0)
			return 0;
	} while (*root);
	real = xrealpath(self);
	if (real && *name != '/') {
		sibling = xasprintf("%.*s%s", (int)(path_base(real) - real), real, name);
		if (try_alt(sibling, ret_id, ret) == 0)
			return 0;
	}
	log_debug("%s: the file %s that dwz moved data to is missing", self, name);
	return -ENOENT;
}

int debugfile_open_at(const struct elffile *ef, const char *path, struct elffile **ret)
{
	return try_file(ef, path, NULL, ret);
}

static int by_name(const struct elffile *ef, const char *name, const uint32_t *crc,
		   struct filefind *found, struct elffile **ret)
{
	const char *path;
	size_t i;

	for (i = 0; (path = filefind_get(found, name, i)); i++)
		if (strcmp(path, elffile_path(ef)) && try_file(ef, path, crc, ret) == 0)
			return 0;
	return -ENOENT;
}

int debugfile_find(const struct elffile *ef, struct filefind *found, struct elffile **ret)
{
	_cleanup_free_ char *place = debugfile_place(elffile_build_id(ef), "");
	const char *link;
	uint32_t crc;

	if (place && by_name(ef, path_base(place), NULL, found, ret) == 0)
		return 0;
	return elffile_debuglink(ef, &link, &crc) ? by_name(ef, link, &crc, found, ret) : -ENOENT;
}

int debugfile_inside(const struct elffile *ef, struct elffile **ret)
{
	struct elf_section section;
	const Elf_Data *data;
	struct error err = ERROR_INIT;
	int r;

	if (!elffile_find_section(ef, ".gnu_debugdata", &section) ||
	    !(data = elffile_data(&section)) || !data->d_size)
		return -ENOENT;
	r = elffile_open_packed(data->d_buf, data->d_size, elffile_path(ef), ret, &err);
	if (r == 0)
		return 0;
	if (r == -EFBIG)
		log_warn("%s: its .gnu_debugdata would unpack to far more than its %zu KiB; its "
			 "symbols are left out",
			 elffile_path(ef), data->d_size >> 10);
	else
		log_debug("%s: .gnu_debugdata: %s", elffile_path(ef), err.text);
	return -ENOENT;
}
