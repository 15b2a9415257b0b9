/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mksession DIR < TEXT: writes a session directory from a description, so that a test of a report
 * can describe its samples in a few lines. The lines are ("#" starts a comment):
 *
 *	session NAME			the following goes to this session (default: current)
 *	cpu ID [MHZ]			CPU type and speed in the headers of the following files
 *	mtime SECONDS			the image's mtime in these headers
 *	cgroup PATH			of the following processes; "-": not separated
 *	comm NAME			of the following threads; "-": not separated
 *	manifest NAME BUILDID SIZE MTIME [DEVICE]	"-": unknown; "build": the file's current
 *					one; DEVICE is a number
 *	stat COUNTER VALUE
 *	copy NAME FILE			another file of the session (kallsyms, vdso, setup)
 *	raw PATH TEXT			a file with any name and content below the samples
 *	symbols FILE			following symbols are of this ELF file, not of the image
 *	kept FILE [ROOT]		functions and lines of this ELF file are kept in symbols/;
 *					with ROOT, hashes of the texts of lines, too: of sources
 *					below it
 *	file APP IMAGE EVENT.COUNT.MASK.TGID.TID.CPU [CALLEE]
 *	    WHERE COUNT ...		its samples: an offset, or SYMBOL[+OFFSET] of the image
 *	    With CALLEE it is a call graph file, and WHERE is FROM>TO, a place in each image.
 *
 *	slice BEGIN END [LOST]		a slice of the session's history, in seconds since 1970,
 *					such as 12 or 12.250
 *	    during SLICE WHERE COUNT ...	in a file: samples of slice number SLICE, from 1
 *
 *	chain APP EVENT.COUNT.MASK.TGID.TID.CPU END COUNT IMAGE WHERE IMAGE WHERE ...
 *	    A whole call chain, the innermost frame first; END is the reason why it ends. The sample
 *	    file of its sample must be described separately.
 *	chains SLICE			chains since the last such line are of slice number SLICE
 *
 * An image is a path (relative to the current directory if it starts with a dot), kern:NAME, or
 * anon:LABEL:TGID:START:END. Blanks in names are written as %20.
 */
#include "base/error.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "dwarf/lines.h"
#include "file/file_identity.h"
#include "file/path.h"
#include "profile/rows/line_texts.h"
#include "symbol/function_file.h"
#include "symbol/function_lines.h"
#include "symbol/function_store.h"
#include "symbol/functions.h"
#include "symbol/elfsym.h"
#include "chains/chain_store.h"
#include "history/history_writer.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "sfile/sname.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of a line: a chain has the most. */
enum { WORDS_MAX = 8 + 2 * CHAIN_FRAMES_MAX, SLICES_MAX = 64 };

/* A count that was made in a slice of time. */
struct past_count {
	size_t slice;
	char *below; /* the sample file */
	struct sfile_header header;
	uint64_t key, count;
};

struct maker {
	const char *directory;
	char *samples;		    /* of the session being written */
	struct sfile_header header; /* for the next file */
	struct sfile *file;	    /* that samples go to, or NULL */
	struct symtab *symbols;	    /* of its image, or NULL */
	struct symtab *callees;	    /* of its callee's image, or NULL */
	char *cgroup, *comm;	    /* or NULL */
	char *symbol_file;	    /* whose symbols are used instead, or NULL */
	struct chain_store *chains; /* of the session, or NULL */
	char *below;		    /* path of ->file in the session, or NULL */
	struct slice slices[SLICES_MAX];
	size_t slice_count;
	struct past_count *past;
	size_t past_count, past_room;
	struct error err;
};

static int fail(struct maker *m, const char *what)
{
	return error_set(&m->err, -EINVAL, "%s: makes no sense", what);
}

/* Replaces %XX in place. */
static void decode(char *word)
{
	char *to = word, digits[3] = { 0 };

	for (; *word; word++) {
		if (*word != '%' || !word[1] || !word[2]) {
			*to++ = *word;
			continue;
		}
		digits[0] = word[1];
		digits[1] = word[2];
		*to++ = (char)strtoul(digits, NULL, 16);
		word += 2;
	}
	*to = '\0';
}

static size_t split(char *line, char **words)
{
	char *save, *word = strtok_r(line, " \t\n", &save);
	size_t n = 0;

	for (; word && *word != '#' && n < WORDS_MAX; word = strtok_r(NULL, " \t\n", &save)) {
		decode(word);
		words[n++] = word;
	}
	return n;
}

static uint64_t number(const char *word)
{
	uint64_t value = 0;

	(void)parse_u64(word, 0, UINT64_MAX, &value);
	return value;
}

static void close_file(struct maker *m)
{
	sfile_close(m->file);
	m->file = NULL;
	symtab_free(m->symbols);
	m->symbols = NULL;
	symtab_free(m->callees);
	m->callees = NULL;
}

static void add_past(struct history_writer *writer, const struct past_count *p)
{
	struct history_name name = { .header = p->header };

	if (sname_parse(p->below, &name.name, NULL) < 0)
		return;
	history_writer_count(writer, history_writer_file(writer, &name), p->key, p->count);
	sname_done(&name.name);
}

static int write_history(struct maker *m)
{
	_cleanup_(history_writer_freep) struct history_writer *writer =
		m->slice_count ? history_writer_new(m->samples) : NULL;
	size_t i, k;
	int r = 0;

	for (i = 0; r == 0 && i < m->slice_count; i++) {
		for (k = 0; k < m->past_count; k++)
			if (m->past[k].slice == i)
				add_past(writer, &m->past[k]);
		r = history_writer_end(writer, &m->slices[i], &m->err);
	}
	for (k = 0; k < m->past_count; k++)
		free(m->past[k].below);
	m->slice_count = m->past_count = 0;
	return r;
}

static int do_session(struct maker *m, size_t n, char **words)
{
	if (n != 1)
		return fail(m, "session");
	close_file(m);
	chain_store_close(m->chains);
	m->chains = NULL;
	if (write_history(m) < 0)
		return m->err.code;
	free(m->samples);
	m->samples = session_samples(m->directory, words[0]);
	return session_create(m->directory, words[0], &m->err);
}

static int do_cpu(struct maker *m, size_t n, char **words)
{
	if (n < 1)
		return fail(m, "cpu");
	m->header.cpu_type = (uint32_t)number(words[0]);
	m->header.cpu_mhz = n > 1 ? strtod(words[1], NULL) : 0;
	return 0;
}

static int do_mtime(struct maker *m, size_t n, char **words)
{
	m->header.mtime = n ? number(words[0]) : 0;
	return 0;
}

static int do_cgroup(struct maker *m, size_t n, char **words)
{
	if (n != 1)
		return fail(m, "cgroup");
	free(m->cgroup);
	m->cgroup = strcmp(words[0], "-") ? xstrdup(words[0]) : NULL;
	return 0;
}

static int do_comm(struct maker *m, size_t n, char **words)
{
	if (n != 1)
		return fail(m, "comm");
	free(m->comm);
	m->comm = strcmp(words[0], "-") ? xstrdup(words[0]) : NULL;
	return 0;
}

static int do_stat(struct maker *m, size_t n, char **words)
{
	if (n != 2)
		return fail(m, "stat");
	return MIN(session_stat_add(m->samples, words[0], number(words[1]), &m->err), 0);
}

static int do_copy(struct maker *m, size_t n, char **words)
{
	_cleanup_free_ char *to = NULL, *text = NULL;
	_cleanup_fclose_ FILE *out = NULL;
	ssize_t size;

	if (n != 2)
		return fail(m, "copy");
	size = path_read(NULL, words[1], &text, &m->err);
	to = path_join(m->samples, words[0]);
	out = size < 0 ? NULL : fopen(to, "we");
	if (!out || fwrite(text, 1, (size_t)size, out) != (size_t)size)
		return fail(m, words[1]);
	return 0;
}

static int do_raw(struct maker *m, size_t n, char **words)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (n != 2)
		return fail(m, "raw");
	path = path_join(m->samples, words[0]);
	r = path_make_parents(path, 0755, &m->err);
	return r < 0 ? r : path_write(path, words[1], 0644, &m->err);
}

/* Borrows or, for a path from here, makes the image's name; *ret_path is to be freed. */
static void parse_image(char *word, struct sname_image *ret, char **ret_path)
{
	char *save, *part;

	*ret = (struct sname_image){ .kind = SNAME_ROOT, .name = word };
	if (!strncmp(word, "kern:", 5)) {
		ret->kind = SNAME_KERN;
		ret->name = word + 5;
	} else if (!strncmp(word, "anon:", 5)) {
		ret->kind = SNAME_ANON;
		ret->name = strtok_r(word + 5, ":", &save);
		part = strtok_r(NULL, ":", &save);
		ret->tgid = part ? (uint32_t)number(part) : 0;
		part = strtok_r(NULL, ":", &save);
		ret->start = part ? number(part) : 0;
		part = strtok_r(NULL, ":", &save);
		ret->end = part ? number(part) : 0;
	} else if (word[0] == '.') {
		*ret_path = path_absolute(word);
		ret->name = *ret_path;
	}
}

static int do_symbols(struct maker *m, size_t n, char **words)
{
	free(m->symbol_file);
	m->symbol_file = n ? path_absolute(words[0]) : NULL;
	return 0;
}

/* The symbols of the image, so that samples can be placed by name. */
static struct symtab *read_symbols(const char *path)
{
	struct symtab *st;
	struct elffile *ef;

	if (path[0] != '/' || elffile_open(path, &ef, NULL) < 0)
		return NULL;
	st = symtab_new();
	symtab_hold(st, ef, elfsym_release);
	elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
	elfsym_load_plt(ef, st);
	symtab_settle(st);
	return st;
}

/* Writes the functions of a file as they would be kept when it was sampled; returns their path. */
static char *keep_functions(struct maker *m, const struct elffile *ef, const struct symtab *st)
{
	struct function_store *store = function_store_new(m->directory, FUNCTIONS_PACKED_MAX);
	struct file_version version = { .build_id = *elffile_build_id(ef) };
	_cleanup_free_ uint8_t *bytes = xmalloc(FUNCTIONS_PACKED_MAX);
	ssize_t size = functions_pack(st, bytes, FUNCTIONS_PACKED_MAX);
	char key[FUNCTION_KEY];

	(void)function_key(&(struct file_identity){ 0 }, &version, key);
	function_store_put(store, key,
			   &(struct function_table){ .bytes = bytes, .size = (size_t)size });
	function_store_free(store);
	return xasprintf("%s/symbols/%s", m->directory, key);
}

static uint32_t find_text(void *texts, const char *file, unsigned int line)
{
	return line_texts_find(texts, file, line);
}

static int do_kept(struct maker *m, size_t n, char **words)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(lines_freep) struct lines *lines = NULL;
	_cleanup_(line_texts_freep) struct line_texts *texts = NULL;
	_cleanup_free_ char *file = n ? path_absolute(words[0]) : NULL,
			    *root = n > 1 ? path_absolute(words[1]) : NULL, *path = NULL;
	struct function_lines found = { .end_ns = UINT64_MAX };
	_cleanup_free_ bool *all = NULL;
	int r;

	st = file ? read_symbols(file) : NULL;
	if (!st || elffile_open(file, &ef, &m->err) < 0 || !elffile_build_id(ef))
		return fail(m, "kept");
	path = keep_functions(m, ef, st);
	found.lines = lines = lines_new(ef, NULL);
	found.data = texts = root ? line_texts_new(root, ef) : NULL;
	found.text = root ? find_text : NULL;
	all = xmalloc(symtab_count(st) + 1);
	memset(all, true, symtab_count(st) + 1);
	(void)function_lines_add(&found, st, all);
	r = function_file_add_lines(path, &found.kept, &m->err);
	function_lines_done(&found);
	return r < 0 ? r : 0;
}

static int do_manifest(struct maker *m, size_t n, char **words)
{
	_cleanup_(manifest_closep) struct manifest *manifest = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_free_ char *path = NULL;
	struct manifest_image image = { 0 };
	struct sname_image name;
	int r;

	if (n != 4 && n != 5)
		return fail(m, "manifest");
	image.file.device = n > 4 ? number(words[4]) : 0;
	parse_image(words[0], &name, &path);
	image.path = name.name;
	image.version.size = number(words[2]);
	image.version.mtime = number(words[3]);
	if (!strcmp(words[1], "build") && elffile_open(name.name, &ef, &m->err) == 0 &&
	    elffile_build_id(ef))
		image.version.build_id = *elffile_build_id(ef);
	else
		(void)build_id_parse(words[1], &image.version.build_id);
	r = manifest_open(m->samples, true, &manifest, &m->err);
	if (r < 0)
		return r;
	return manifest_name(manifest, &image, &m->err) ? 0 : m->err.code;
}

static int64_t field(const char *word)
{
	return strcmp(word, "all") ? (int64_t)number(word) : SNAME_ALL;
}

static int parse_event(char *word, struct sname *name)
{
	char *parts[6], *save, *part = strtok_r(word, ".", &save);
	size_t n;

	for (n = 0; part && n < 6; part = strtok_r(NULL, ".", &save))
		parts[n++] = part;
	if (n != 6)
		return -EINVAL;
	name->event = parts[0];
	name->count = field(parts[1]);
	name->unit_mask = field(parts[2]);
	name->task.tgid = field(parts[3]);
	name->task.tid = field(parts[4]);
	name->task.cpu = field(parts[5]);
	return 0;
}

static bool is_kernel(const struct sname_image *image)
{
	return image->kind == SNAME_KERN || !strcmp(image->name, "/proc/kallsyms");
}

static int do_file(struct maker *m, size_t n, char **words)
{
	_cleanup_free_ char *app = NULL, *image = NULL, *callee = NULL;
	_cleanup_free_ char *path = NULL;
	struct sname name = { 0 };

	close_file(m);
	if (n < 3 || n > 4 || parse_event(words[2], &name) < 0)
		return fail(m, "file");
	parse_image(words[0], &name.app, &app);
	parse_image(words[1], &name.image, &image);
	if (n == 4) {
		parse_image(words[3], &name.callee, &callee);
		name.has_callee = true;
		m->callees = read_symbols(name.callee.name);
	}
	name.task.cgroup = m->cgroup;
	name.task.comm = m->comm;
	free(m->below);
	m->below = sname_mangle(&name);
	path = path_join(m->samples, m->below);
	m->header.count = (uint32_t)name.count;
	m->header.unit_mask = (uint32_t)name.unit_mask;
	m->header.is_kernel = is_kernel(&name.image);
	m->header.anon_start = name.image.start;
	m->header.cg_to_is_kernel = name.has_callee && is_kernel(&name.callee);
	m->header.cg_to_anon_start = name.callee.start;
	m->symbols = read_symbols(m->symbol_file ? m->symbol_file : name.image.name);
	return sfile_create(path, &m->header, &m->file, &m->err);
}

/* An offset: a number, or SYMBOL[+NUMBER]. */
static int place(struct maker *m, const struct symtab *symbols, char *word, uint64_t *ret)
{
	char *plus = strchr(word, '+');
	uint64_t add = plus ? number(plus + 1) : 0;
	size_t i;

	if (parse_u64(word, 0, UINT64_MAX, ret) == 0)
		return 0;
	if (plus)
		*plus = '\0';
	for (i = 0; symbols && i < symtab_count(symbols); i++) {
		if (strcmp(symtab_at(symbols, i)->name, word))
			continue;
		*ret = symtab_at(symbols, i)->offset + add;
		return 0;
	}
	return fail(m, word);
}

/* The number of an image in the chain store. */
static int chain_image(struct maker *m, char *word, uint32_t *ret)
{
	_cleanup_free_ char *path = NULL;
	struct sname_image image;

	parse_image(word, &image, &path);
	return chain_store_image(m->chains, &image, is_kernel(&image), ret, &m->err);
}

static int chain_frame(struct maker *m, char **words, struct chain_frame *ret)
{
	_cleanup_(symtab_freep) struct symtab *symbols = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *image = xstrdup(words[0]);
	struct sname_image name;
	int r;

	parse_image(image, &name, &path);
	symbols = read_symbols(m->symbol_file ? m->symbol_file : name.name);
	r = place(m, symbols, words[1], &ret->offset);
	return r < 0 ? r : chain_image(m, words[0], &ret->image);
}

static int do_chain(struct maker *m, size_t n, char **words)
{
	struct chain_frame frames[WORDS_MAX / 2];
	struct chain chain = { .frames = frames };
	struct chain_context context = { 0 };
	_cleanup_free_ char *event = NULL;
	struct sname name = { 0 };
	uint32_t number_of_context;
	size_t i;
	int r;

	if (n < 6 || n % 2 || parse_event(words[1], &name) < 0)
		return fail(m, "chain");
	r = m->chains	     ? 0
	    : m->slice_count ? chain_store_open_sliced(m->samples, &m->chains, &m->err)
			     : chain_store_open(m->samples, &m->chains, &m->err);
	if (r == 0)
		r = chain_image(m, words[0], &context.app);
	event = xasprintf("%s.%" PRId64 ".%" PRId64, name.event, name.count, name.unit_mask);
	context.event = event;
	context.end = words[2];
	context.task = name.task;
	context.task.cgroup = m->cgroup;
	context.task.comm = m->comm;
	if (r == 0)
		r = chain_store_context(m->chains, &context, &number_of_context, &m->err);
	for (i = 4; i < n && r == 0; i += 2)
		r = chain_frame(m, words + i, &frames[chain.count++]);
	chain.samples = number(words[3]);
	return r < 0 ? r : chain_store_add(m->chains, number_of_context, &chain, &m->err);
}

/* The key of a sample: its place, or, of an arc, two of 32 bits. */
static int parse_key(struct maker *m, char *word, uint64_t *ret)
{
	char *callee = strchr(word, '>');
	uint64_t from, to;

	if (!callee)
		return place(m, m->symbols, word, ret);
	*callee++ = '\0';
	if (place(m, m->symbols, word, &from) < 0 || place(m, m->callees, callee, &to) < 0)
		return m->err.code;
	*ret = from << 32 | to;
	return 0;
}

static int add_samples(struct maker *m, size_t n, char **words)
{
	uint64_t offset;
	size_t i;
	int r = 0;

	if (!m->file || n % 2)
		return fail(m, words[0]);
	for (i = 0; r == 0 && i < n; i += 2) {
		r = parse_key(m, words[i], &offset);
		if (r == 0)
			r = odb_add(sfile_odb(m->file), offset, (uint32_t)number(words[i + 1]));
	}
	return r;
}

/* "12" or "12.250" seconds, in milliseconds. */
static int64_t milliseconds(const char *word)
{
	const char *point = strchr(word, '.');
	_cleanup_free_ char *seconds =
		xstrndup(word, point ? (size_t)(point - word) : strlen(word));

	return (int64_t)number(seconds) * 1000 + (point ? (int64_t)number(point + 1) : 0);
}

/* slice BEGIN END [LOST]: a slice of time, in seconds since 1970, such as 12 or 12.250. */
static int do_slice(struct maker *m, size_t n, char **words)
{
	struct slice *s = &m->slices[m->slice_count];

	if (n < 2 || m->slice_count == SLICES_MAX)
		return fail(m, "slice");
	s->span.begin_ms = milliseconds(words[0]);
	s->span.end_ms = milliseconds(words[1]);
	s->lost = n > 2 ? number(words[2]) : 0;
	m->slice_count++;
	return 0;
}

/* chains SLICE: the chains that were added last were taken in slice number SLICE, from 1 on. */
static int do_chains(struct maker *m, size_t n, char **words)
{
	uint64_t slice = n ? number(words[0]) : 0;

	if (!slice || slice > m->slice_count || !m->chains || n != 1)
		return fail(m, "chains");
	return chain_store_end_slice(m->chains, &m->slices[slice - 1], &m->err);
}

/* during SLICE OFFSET COUNT...: samples that were taken in slice number SLICE, from 1 on. */
static int do_during(struct maker *m, size_t n, char **words)
{
	uint64_t slice = n ? number(words[0]) : 0;
	size_t i;

	if (!slice || slice > m->slice_count || !m->file || n % 2 == 0)
		return fail(m, "during");
	for (i = 1; i < n; i += 2) {
		struct past_count *p;

		array_grow(&m->past, m->past_count + 1, &m->past_room);
		p = &m->past[m->past_count++];
		*p = (struct past_count){ .slice = slice - 1, .header = m->header };
		p->below = xstrdup(m->below);
		p->count = number(words[i + 1]);
		if (place(m, m->symbols, words[i], &p->key) < 0 ||
		    odb_add(sfile_odb(m->file), p->key, (uint32_t)p->count) < 0)
			return fail(m, words[i]);
		if (strstr(p->below, "/OFFCPU")) /* a count of microseconds */
			continue;
		m->slices[p->slice].samples += p->count;
		m->slices[p->slice].taken += p->count;
	}
	return 0;
}

static const struct {
	const char *word;
	int (*run)(struct maker *m, size_t n, char **words);
} commands[] = {
	{ "session", do_session }, { "cpu", do_cpu },		{ "mtime", do_mtime },
	{ "stat", do_stat },	   { "copy", do_copy },		{ "raw", do_raw },
	{ "kept", do_kept },	   { "manifest", do_manifest }, { "file", do_file },
	{ "symbols", do_symbols }, { "chain", do_chain },	{ "chains", do_chains },
	{ "cgroup", do_cgroup },   { "comm", do_comm },		{ "slice", do_slice },
	{ "during", do_during },
};

static int run_line(struct maker *m, char *line)
{
	char *words[WORDS_MAX];
	size_t n = split(line, words), i;

	if (n == 0)
		return 0;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(words[0], commands[i].word))
			return commands[i].run(m, n - 1, words + 1);
	return add_samples(m, n, words);
}

int main(int argc, char **argv)
{
	struct maker m = { .directory = argc > 1 ? argv[1] : NULL, .err = ERROR_INIT };
	_cleanup_free_ char *line = NULL;
	char current[] = "current", *words[] = { current };
	unsigned int lines = 0;
	size_t room = 0;
	int r;

	if (!m.directory) {
		(void)fprintf(stderr, "usage: mksession DIR <TEXT\n");
		return 2;
	}
	r = do_session(&m, 1, words);
	while (r == 0 && getline(&line, &room, stdin) > 0) {
		lines++;
		r = run_line(&m, line);
	}
	close_file(&m);
	if (write_history(&m) < 0)
		r = m.err.code;
	free(m.below);
	free(m.past);
	chain_store_close(m.chains);
	free(m.samples);
	free(m.symbol_file);
	free(m.cgroup);
	free(m.comm);
	if (r < 0)
		(void)fprintf(stderr, "mksession: line %u: %s\n", lines, m.err.text);
	return r < 0;
}
