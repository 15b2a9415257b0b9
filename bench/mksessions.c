/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes sessions for measuring reports, below DIRECTORY:
 *
 *	mksessions DIRECTORY big LIBRARY OFFSETS	one sample file of a big library
 *	mksessions DIRECTORY perf FILE OFFSETS		the same, in all its code; perf.data and
 *							addresses (one per line) of the same places
 *	mksessions DIRECTORY arcs LIBRARY ARCS		one call graph file of it
 *	mksessions DIRECTORY many FILES PROGRAMS	like a system-wide profile
 *	mksessions DIRECTORY small			like a profile of a short command
 *
 * "many" and "small" use this machine's own programs and libraries, in the order of their names,
 * and a copy of its kernel's symbols (root only). The same arguments give the same samples.
 */
#include "perfdata.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "symbol/elfsym.h"
#include "symbol/kallsyms.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "sfile/sname.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LIBRARIES = 24, HOT_SYMBOLS = 8, OFFSETS_A_SYMBOL = 30 };

struct maker {
	const char *directory;
	char *samples;
	struct manifest *manifest;
	struct error err;
};

/* Code of a file: its symbols, and how many bytes they have together. */
struct code {
	struct symtab *symbols;
	uint64_t bytes;
};

static int make_session(struct maker *m)
{
	int r = session_create(m->directory, "current", &m->err);

	if (r < 0)
		return r;
	m->samples = session_samples(m->directory, "current");
	return manifest_open(m->samples, true, &m->manifest, &m->err);
}

static void maker_done(struct maker *m)
{
	manifest_close(m->manifest);
	free(m->samples);
}

/* Names the file in the manifest, as record does. */
static int add_manifest(struct maker *m, const struct elffile *ef)
{
	struct manifest_image image = { .path = elffile_path(ef),
					.version.size = elffile_size(ef),
					.version.mtime = elffile_mtime(ef) };
	struct stat st;

	if (elffile_build_id(ef))
		image.version.build_id = *elffile_build_id(ef);
	if (stat(elffile_path(ef), &st) == 0)
		image.file.inode = st.st_ino;
	return manifest_name(m->manifest, &image, &m->err) ? 0 : m->err.code;
}

static void code_done(struct code *c)
{
	symtab_free(c->symbols);
}

static int read_code(struct maker *m, const char *path, struct code *ret)
{
	struct elffile *ef;
	size_t i;
	int r = elffile_open(path, &ef, &m->err);

	*ret = (struct code){ 0 };
	if (r < 0)
		return r;
	r = add_manifest(m, ef);
	ret->symbols = symtab_new();
	symtab_hold(ret->symbols, ef, elfsym_release);
	elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, ret->symbols);
	symtab_settle(ret->symbols);
	for (i = 0; i < symtab_count(ret->symbols); i++)
		ret->bytes += symtab_at(ret->symbols, i)->end - symtab_at(ret->symbols, i)->offset;
	if (r == 0 && !ret->bytes)
		return error_set(&m->err, -ENODATA, "%s: no code with names in it", path);
	return r;
}

/* @count offsets: the first bytes of as many as @firsts symbols, the others at equal distances over
 * all code. Caller frees. */
static uint64_t *spread(const struct code *c, size_t count, size_t firsts)
{
	size_t n = symtab_count(c->symbols), i, rest = count - firsts;
	uint64_t *offsets = xcalloc(count, sizeof(*offsets)), before = 0, next = 1;
	double step = rest ? (double)c->bytes / (double)rest : 0;
	size_t at = 0, taken = 0;

	for (i = 0; i < firsts; i++)
		offsets[at++] = symtab_at(c->symbols, i * n / firsts)->offset;
	for (i = 0; i < n && at < count; i++) {
		const struct symbol *sym = symtab_at(c->symbols, i);
		uint64_t size = sym->end - sym->offset;

		for (; next < before + size && at < count; next = 1 + (uint64_t)(++taken * step))
			if (next > before)
				offsets[at++] = sym->offset + (next - before);
		before += size;
	}
	for (; at < count; at++)
		offsets[at] = offsets[at - 1] + 1;
	return offsets;
}

/* Places in a few symbols, as a program that does one thing has them; some of the @count may be
 * equal. Caller frees. */
static uint64_t *concentrate(const struct code *c, size_t count)
{
	uint64_t *offsets = xcalloc(count, sizeof(*offsets));
	size_t i;

	for (i = 0; i < count; i++) {
		size_t hot = hash_u64(i % HOT_SYMBOLS) % symtab_count(c->symbols);
		const struct symbol *sym = symtab_at(c->symbols, hot);

		offsets[i] = sym->offset + hash_u64(i) % (sym->end - sym->offset);
	}
	return offsets;
}

/* Few places are hot and most are met once. */
static uint32_t heat(uint64_t key)
{
	uint64_t random = hash_u64(key);

	return 1 + (uint32_t)(random % 64 == 0 ? random >> 52 : random >> 62);
}

/* Sampling meets places in no order. */
static void shuffle(uint64_t *keys, size_t n)
{
	size_t i;

	for (i = n - 1; n && i > 0; i--) {
		size_t j = hash_u64(i) % (i + 1);
		uint64_t key = keys[i];

		keys[i] = keys[j];
		keys[j] = key;
	}
}

static int write_file(struct maker *m, const struct sname *name, bool kernel, uint64_t *keys,
		      size_t n)
{
	struct sfile_header header = { .event = 0, .is_kernel = kernel };
	_cleanup_free_ char *below = sname_mangle(name), *path = path_join(m->samples, below);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	size_t i;
	int r = sfile_create(path, &header, &sf, &m->err);

	shuffle(keys, n);
	for (i = 0; r == 0 && i < n; i++)
		r = odb_add(sfile_odb(sf), keys[i], heat(keys[i]));
	return r;
}

static struct sname name_of(const char *app, const char *image)
{
	return (struct sname){ .app = { .name = app },
			       .image = { .name = image },
			       .event = "TIMER",
			       .task = SNAME_TASK_ALL };
}

static int make_big(struct maker *m, const char *library, size_t count)
{
	_cleanup_(code_done) struct code code = { 0 };
	_cleanup_free_ uint64_t *keys = NULL;
	struct sname name = name_of(library, library);
	int r = read_code(m, library, &code);

	if (r < 0)
		return r;
	keys = spread(&code, count, MIN(count, symtab_count(code.symbols)));
	return write_file(m, &name, false, keys, count);
}

static int write_perfdata(struct maker *m, const char *file, const uint64_t *keys, size_t n)
{
	_cleanup_free_ char *path = path_join(m->directory, "perf.data");
	struct perfdata *p;
	struct stat st;
	size_t i;

	if (stat(file, &st) < 0)
		return error_errno(&m->err, -errno, "%s", file);
	if (perfdata_create(path, file, (uint64_t)st.st_size, &p, &m->err) < 0)
		return m->err.code;
	for (i = 0; i < n; i++)
		perfdata_add(p, keys[i], heat(keys[i]));
	return perfdata_close(p, &m->err);
}

static int write_addresses(struct maker *m, const char *file, const uint64_t *keys, size_t n)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_free_ char *path = path_join(m->directory, "addresses");
	FILE *out;
	size_t i;

	if (elffile_open(file, &ef, &m->err) < 0)
		return m->err.code;
	out = fopen(path, "we");
	if (!out)
		return error_errno(&m->err, -errno, "%s", path);
	for (i = 0; i < n; i++) {
		uint64_t address = 0;

		if (elffile_address(ef, keys[i], &address))
			(void)fprintf(out, "%#" PRIx64 "\n", address);
	}
	return fclose(out) == 0 ? 0 : error_errno(&m->err, -errno, "%s", path);
}

static int make_perf(struct maker *m, const char *file, size_t count)
{
	_cleanup_(code_done) struct code code = { 0 };
	_cleanup_free_ uint64_t *keys = NULL;
	struct sname name = name_of(file, file);
	int r = read_code(m, file, &code);

	if (r < 0)
		return r;
	keys = spread(&code, count, 0);
	r = write_file(m, &name, false, keys, count);
	if (r == 0)
		r = write_perfdata(m, file, keys, count);
	return r < 0 ? r : write_addresses(m, file, keys, count);
}

/* Each arc leads from one place to the start of one of the symbols. */
static int make_arcs(struct maker *m, const char *library, size_t count)
{
	_cleanup_(code_done) struct code code = { 0 };
	_cleanup_free_ uint64_t *keys = NULL;
	struct sname flat = name_of(library, library), arcs = flat;
	size_t i, n;
	int r = read_code(m, library, &code);

	if (r < 0)
		return r;
	arcs.callee = arcs.image;
	arcs.has_callee = true;
	keys = spread(&code, count, MIN(count, symtab_count(code.symbols)));
	r = write_file(m, &flat, false, keys, count);
	n = symtab_count(code.symbols);
	for (i = 0; i < count; i++) {
		size_t to = hash_u64(keys[i]) % n;

		keys[i] = keys[i] << 32 | symtab_at(code.symbols, to)->offset;
	}
	return r < 0 ? r : write_file(m, &arcs, false, keys, count);
}

/* Files of a directory that have code with names, in the order of their names. */
struct listing {
	char **paths;
	size_t count, room;
};

static void listing_done(struct listing *l)
{
	while (l->count)
		free(l->paths[--l->count]);
	free(l->paths);
}

static bool has_symbols(const char *path)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct elf_section s;
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && elffile_open(path, &ef, NULL) == 0 &&
	       elffile_find_section(ef, ".text", &s) && elffile_find_section(ef, ".dynsym", &s) &&
	       s.header.sh_size > 64 * s.header.sh_entsize;
}

static void list_files(const char *directory, const char *part, size_t wanted, struct listing *ret)
{
	struct dirent **entries = NULL;
	int i, n = scandir(directory, &entries, NULL, alphasort);

	for (i = 0; i < n; i++) {
		char *path = path_join(directory, entries[i]->d_name);

		if (ret->count < wanted && strstr(entries[i]->d_name, part) && has_symbols(path)) {
			array_grow(&ret->paths, ret->count + 1, &ret->room);
			ret->paths[ret->count++] = STEAL(path);
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
}

static int add_image(struct maker *m, const char *app, const char *image)
{
	enum { COUNT = HOT_SYMBOLS * OFFSETS_A_SYMBOL };
	_cleanup_(code_done) struct code code = { 0 };
	_cleanup_free_ uint64_t *keys = NULL;
	struct sname name = name_of(app, image);

	if (read_code(m, image, &code) < 0)
		return 0; /* without code: some programs are */
	keys = concentrate(&code, COUNT);
	return write_file(m, &name, false, keys, COUNT);
}

/* Samples over the running kernel, and the copy of its symbols that record keeps. */
static int add_kernel(struct maker *m)
{
	static const char name[] = "/proc/kallsyms";
	_cleanup_free_ char *copy = path_join(m->samples, "kallsyms");
	enum { COUNT = 400 };
	_cleanup_free_ uint64_t *keys = xcalloc(COUNT, sizeof(*keys));
	struct sname kernel = name_of(name, name);
	struct kallsyms_ranges ranges;
	uint64_t size = 0;
	size_t i;
	int r = kallsyms_ranges_read("", &ranges, &m->err);

	if (r < 0)
		return r;
	r = kallsyms_save("", &ranges, "-", copy, &m->err);
	for (i = 0; i < ranges.count; i++)
		if (!*ranges.ranges[i].name)
			size = ranges.ranges[i].end - ranges.ranges[i].start;
	kallsyms_ranges_done(&ranges);
	if (!size)
		return r; /* hidden from us */
	for (i = 0; i < COUNT; i++)
		keys[i] = i * (size / COUNT);
	return r < 0 ? r : write_file(m, &kernel, true, keys, COUNT);
}

static const char *library_directory(void)
{
	static const char multiarch[] = "/usr/lib/x86_64-linux-gnu";

	return access(multiarch, F_OK) == 0 ? multiarch : "/usr/lib64";
}

static int make_many(struct maker *m, size_t files, size_t programs)
{
	_cleanup_(listing_done) struct listing apps = { 0 }, libraries = { 0 };
	size_t i, j, each = files / programs;
	int r = add_kernel(m);

	list_files("/usr/bin", "", programs, &apps);
	list_files(library_directory(), ".so", LIBRARIES, &libraries);
	if (!libraries.count)
		return error_set(&m->err, -ENOENT, "%s: no libraries", library_directory());
	for (i = 0; r == 0 && i < apps.count; i++) {
		r = add_image(m, apps.paths[i], apps.paths[i]);
		for (j = 1; r == 0 && j < each; j++)
			r = add_image(m, apps.paths[i],
				      libraries.paths[(i * 7 + j) % libraries.count]);
	}
	return r;
}

static int make_small(struct maker *m)
{
	_cleanup_(listing_done) struct listing libraries = { 0 };
	static const char app[] = "/usr/bin/ls";
	size_t i;
	int r = add_kernel(m);

	list_files(library_directory(), "libc.so", 1, &libraries);
	list_files(library_directory(), "ld-linux", 2, &libraries);
	if (r == 0)
		r = add_image(m, app, app);
	for (i = 0; r == 0 && i < libraries.count; i++)
		r = add_image(m, app, libraries.paths[i]);
	return r;
}

static size_t number(const char *text)
{
	uint64_t value = 0;

	(void)parse_u64(text, 1, 1ULL << 32, &value);
	return value;
}

static int usage(void)
{
	(void)fputs("usage: mksessions DIRECTORY big LIBRARY OFFSETS | perf FILE OFFSETS | "
		    "arcs LIBRARY ARCS | many FILES PROGRAMS | small\n",
		    stderr);
	return 2;
}

int main(int argc, char **argv)
{
	_cleanup_(maker_done) struct maker m = { .directory = argc > 1 ? argv[1] : "" };
	const char *what = argc > 2 ? argv[2] : "";
	int r;

	if (!(argc == 3 && !strcmp(what, "small")) && argc != 5)
		return usage();
	r = make_session(&m);
	if (r == 0 && !strcmp(what, "big"))
		r = make_big(&m, argv[3], number(argv[4]));
	else if (r == 0 && !strcmp(what, "perf"))
		r = make_perf(&m, argv[3], number(argv[4]));
	else if (r == 0 && !strcmp(what, "arcs"))
		r = make_arcs(&m, argv[3], number(argv[4]));
	else if (r == 0 && !strcmp(what, "many"))
		r = make_many(&m, number(argv[3]), number(argv[4]));
	else if (r == 0 && !strcmp(what, "small"))
		r = make_small(&m);
	else if (r == 0)
		return usage();
	if (r < 0)
		(void)fprintf(stderr, "mksessions: %s\n", m.err.text);
	return r < 0;
}
