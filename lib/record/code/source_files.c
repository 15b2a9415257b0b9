/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/source_files.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "elf/elffile.h"
#include "elfwrite/kept_code.h"
#include "identity/cookie_image.h"
#include "jit/jit.h"
#include "interpreter/java_names.h"
#include "interpreter/python_lines.h"
#include "record/code/jit_writer.h"
#include "sfile/source_image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	FUNCTIONS_OF_FILE = 1 << 14,   /* code that is made and thrown away would be endless */
	FUNCTIONS_OF_STRING = 1 << 10, /* the same where there is no file */
	FUNCTIONS_MAX = 1 << 18,
	BYTES_MAX = 64 << 20, /* of memory for their names and lines */
	PLACE_FIRST = 16,
	PLACE_ALIGN = 16,
	OTHERS_BYTES = 1 << 20,
	RESERVE_BYTES = 1 << 16,    /* of places, beyond those in use */
	RESERVED_UNKNOWN = 1 << 24, /* more than are reserved before a file is written */
	KEY_OF_OTHERS = 1,
	COOKIES_MAX = 1 << 17, /* whose places are remembered */
	WRITES_MAX = 16,       /* files that are written at a time */
};
static const uint64_t write_every_ns = 10 * NS_PER_S;

struct source {
	char *name;
	struct jit *code;	       /* addresses are places */
	struct map functions;	       /* hash of name and digest: struct jit_code */
	uint64_t next;		       /* free place */
	uint64_t reserved;	       /* places up to here are given to no others */
	const struct jit_code *others; /* those that get no place of their own */
	uint64_t written_ns;
	struct jit_written written;
	bool is_foreign; /* its file has the functions of another image */
};

struct source_files {
	char *samples;
	struct map by_name;   /* hash: sources */
	struct map by_cookie; /* cookie: struct jit_code */
	struct jit_writer *writer;
	size_t count; /* of functions */
	size_t bytes; /* of memory that they take */
	uint64_t capped;
	uint64_t unwritten;  /* failures of sources that were forgotten */
	bool cannot_reserve; /* since the last writing */
};

struct source_files *source_files_new(const char *samples)
{
	struct source_files *t = xcalloc(1, sizeof(*t));

	t->samples = xstrdup(samples);
	t->writer = jit_writer_new();
	return t;
}

static void source_free(struct source *s)
{
	map_done(&s->functions);
	jit_free(s->code);
	free(s->name);
	free(s);
}

uint64_t source_files_unwritten(const struct source_files *t)
{
	uint64_t sum = t->unwritten;

	map_for_each (&t->by_name, slot)
		sum += ((const struct source *)slot->value)->written.failed;
	return sum;
}

void source_files_forget(struct source_files *t)
{
	jit_writer_wait(t->writer);
	t->unwritten = source_files_unwritten(t);
	map_for_each (&t->by_name, slot)
		source_free(slot->value);
	map_done(&t->by_name);
	map_done(&t->by_cookie);
	t->count = t->bytes = 0;
}

void source_files_free(struct source_files *t)
{
	if (!t)
		return;
	source_files_forget(t);
	jit_writer_free(t->writer);
	free(t->samples);
	free(t);
}

static uint64_t hash_function(const char *name, uint64_t digest)
{
	return hash_add(hash_bytes(name, strlen(name)), digest);
}

/* Adds @code, whose address is its place. Returns the copy, NULL if there is no room. */
static const struct jit_code *add_code(struct source *s, const struct jit_code *code)
{
	size_t count = jit_count(s->code);
	uint64_t end;

	if (code->address < s->next || __builtin_add_overflow(code->address, code->size, &end) ||
	    end > UINT32_MAX - PLACE_ALIGN)
		return NULL;
	jit_load(s->code, code);
	if (jit_count(s->code) == count)
		return NULL;
	s->next = (end + PLACE_ALIGN) & ~(uint64_t)(PLACE_ALIGN - 1);
	code = jit_at(s->code, count);
	if (code->key == KEY_OF_OTHERS)
		s->others = code;
	else
		map_add(&s->functions, hash_function(code->name, code->key), (void *)code);
	return code;
}

struct reading {
	struct source_files *files;
	struct source *source;
};

static bool read_code(const struct jit_code *code, void *data)
{
	struct reading *r = data;

	if (!code->key || !add_code(r->source, code))
		return false;
	r->files->count += code->key != KEY_OF_OTHERS;
	return true;
}

/* Takes the places that functions have in the session already. */
static void read_places(struct source_files *t, struct source *s)
{
	_cleanup_free_ char *path = source_image_path(t->samples, s->name);
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct reading reading = { t, s };
	struct elf_section section;
	const Elf_Data *bytes;

	if (access(path, F_OK) < 0 || elffile_open(path, &ef, NULL) < 0 ||
	    !elffile_find_section(ef, KEPT_CODE_SECTION, &section) ||
	    !(bytes = elffile_data(&section)))
		return;
	(void)kept_code_read(span_of(bytes->d_buf, bytes->d_size), read_code, &reading);
	t->bytes += jit_bytes(s->code);
	s->written.count = jit_count(s->code);
}

/* The file that says which places functions of @s may have, as "END NAME". Caller frees. */
static char *reserved_path(const struct source_files *t, const struct source *s)
{
	_cleanup_free_ char *path = source_image_path(t->samples, s->name);

	return xasprintf("%s.places", path);
}

/* Does not wait for the disk. */
static int write_reserved(const char *path, uint64_t end, const char *name)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", path, (int)getpid());
	_cleanup_close_ int fd = -EBADF;
	int r = path_make_parents(path, 0755, NULL);

	if (r < 0)
		return r;
	fd = open_regular_new(temporary, O_WRONLY, 0644);
	if (fd < 0)
		return fd;
	if (dprintf(fd, "%" PRIu64 " %s", end, name) < 0)
		r = -errno;
	return path_put(temporary, path, 0, r);
}

/* Makes sure that the place at ->next, of @bytes, will be given to no other function: samples count
 * there before the name is written, and the daemon may be killed meanwhile. False on an error. */
static bool reserve(struct source_files *t, struct source *s, uint64_t bytes)
{
	const uint64_t end = s->next + bytes + PLACE_ALIGN, reserved = end + RESERVE_BYTES;
	_cleanup_free_ char *path = NULL;
	int r;

	if (s->is_foreign || t->cannot_reserve)
		return false;
	if (end <= s->reserved)
		return true;
	path = reserved_path(t, s);
	r = write_reserved(path, reserved, s->name);
	t->cannot_reserve = r < 0;
	if (r == 0)
		s->reserved = reserved;
	else
		log_warn("cannot write %s: %s; new functions have no place until it can be", path,
			 strerror(-r));
	return r == 0;
}

/* Reads which places functions of @s may have already, and whether its file is that of an image
 * whose name has the same hash. */
static void read_reserved(const struct source_files *t, struct source *s)
{
	_cleanup_free_ char *path = reserved_path(t, s), *text = NULL;
	struct error err = ERROR_INIT;
	char *name;

	if (path_read("", path, &text, &err) < 0) {
		if (err.code != -ENOENT) {
			log_warn("%s; treated as damaged", err.text);
			s->reserved = RESERVED_UNKNOWN;
		}
		return;
	}
	name = strchrnul(text, ' ');
	if (*name)
		*name++ = '\0';
	if (parse_u64(text, 0, UINT32_MAX, &s->reserved) < 0)
		s->reserved = RESERVED_UNKNOWN;
	else
		s->is_foreign = strcmp(name, s->name) != 0;
}

void source_files_remove(const struct source_files *t, const char *name)
{
	struct source s = { .name = (char *)name };
	_cleanup_free_ char *functions = source_image_path(t->samples, name),
			    *places = reserved_path(t, &s);

	read_reserved(t, &s);
	if (s.is_foreign)
		return;
	(void)path_remove_tree(functions, NULL);
	(void)path_remove_tree(places, NULL);
}

/* Adds the place of functions that get none of their own, while there is room. */
static void add_others(struct source_files *t, struct source *s)
{
	const struct jit_code code = { .address = s->next,
				       .size = OTHERS_BYTES,
				       .from = 1,
				       .key = KEY_OF_OTHERS,
				       .name = "(other functions)" };

	if (reserve(t, s, code.size))
		(void)add_code(s, &code);
}

static struct source *find_source(const struct source_files *t, const char *name)
{
	struct source *s;

	map_for_each_of(&t->by_name, hash_bytes(name, strlen(name)), s)
	{
		if (!strcmp(s->name, name))
			return s;
	}
	return NULL;
}

bool source_files_have(const struct source_files *t, const char *name)
{
	return find_source(t, name) != NULL;
}

static struct source *source_of(struct source_files *t, const char *name)
{
	struct source *s = find_source(t, name);

	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->name = xstrdup(name);
	s->code = jit_new();
	s->next = PLACE_FIRST;
	map_add(&t->by_name, hash_bytes(name, strlen(name)), s);
	read_reserved(t, s);
	if (!s->is_foreign)
		read_places(t, s);
	if (s->reserved == RESERVED_UNKNOWN)
		s->reserved = s->next + RESERVED_UNKNOWN;
	s->next = MAX(s->next, (s->reserved + PLACE_ALIGN - 1) & ~(uint64_t)(PLACE_ALIGN - 1));
	return s;
}

/* Gives the function of @from a place. Returns its code, NULL if there is no room. */
static const struct jit_code *add_function(struct source_files *t, struct source *s,
					   const struct cookie_image *from)
{
	const struct cookie_function *f = from->function;
	_cleanup_free_ struct jit_line *lines = xcalloc(f->line_count + 1, sizeof(*lines));
	/* One more than the bytecode, for callers (evbuf_frame). */
	const struct jit_code code = { .address = s->next,
				       .size = f->bytes + 1ULL,
				       .from = 1,
				       .key = f->digest,
				       .name = f->name,
				       .lines = lines,
				       .line_count = f->line_count };
	size_t i;

	for (i = 0; i < f->line_count; i++)
		lines[i] = (struct jit_line){ code.address + f->lines[i].offset, f->lines[i].line,
					      java_names_source(from->path) };
	return reserve(t, s, code.size) ? add_code(s, &code) : NULL;
}

static bool has_room(const struct source_files *t, const struct source *s)
{
	const char *base = strrchr(s->name, '/');
	size_t most = base && base[1] == '<' ? FUNCTIONS_OF_STRING : FUNCTIONS_OF_FILE;

	return t->count < FUNCTIONS_MAX && t->bytes < BYTES_MAX && s->functions.count < most;
}

static const struct jit_code *place_in(struct source_files *t, struct source *s,
				       const struct cookie_image *source)
{
	const struct cookie_function *f = source->function;
	const struct jit_code *code;

	map_for_each_of(&s->functions, hash_function(f->name, f->digest), code)
	{
		if (code->key == f->digest && !strcmp(code->name, f->name))
			return code;
	}
	code = has_room(t, s) ? add_function(t, s, source) : NULL;
	if (!code) {
		t->capped++;
		return s->others;
	}
	t->count++;
	return code;
}

const struct jit_code *source_files_known(const struct source_files *t, uint64_t cookie)
{
	return map_get(&t->by_cookie, cookie);
}

const struct jit_code *source_files_place(struct source_files *t, const struct cookie_image *source,
					  const char *name)
{
	const struct jit_code *code = source_files_known(t, source->cookie);
	struct source *s;
	size_t bytes;

	if (code || !source->function)
		return code;
	s = source_of(t, name);
	bytes = jit_bytes(s->code);
	if (!s->others)
		add_others(t, s);
	code = place_in(t, s, source);
	t->bytes += jit_bytes(s->code) - bytes;
	if (t->by_cookie.count >= COOKIES_MAX)
		map_done(&t->by_cookie);
	if (code)
		(void)map_set(&t->by_cookie, source->cookie, (void *)code);
	return code;
}

static void write_source(struct source_files *t, struct source *s, uint64_t now_ns)
{
	struct jit_writing *job = jit_writing_new(s->code, 0);

	jit_writing_path(job, source_image_path(t->samples, s->name));
	jit_writing_result(job, &s->written);
	(void)jit_writer_add(t->writer, job);
	s->written_ns = now_ns;
}

/* Begins to write at most @most files that have got functions and were not written at @since_ns or
 * later. Returns whether there are any. */
static bool write_some(struct source_files *t, uint64_t now_ns, uint64_t since_ns, size_t most)
{
	size_t writes = 0;

	t->cannot_reserve = false;
	map_for_each (&t->by_name, slot) {
		struct source *s = slot->value;

		if (s->written.count == jit_count(s->code) ||
		    (s->written_ns && s->written_ns >= since_ns))
			continue;
		write_source(t, s, now_ns);
		if (++writes == most)
			break;
	}
	return writes > 0;
}

void source_files_write(struct source_files *t, uint64_t now_ns, bool all)
{
	if (all)
		jit_writer_wait(t->writer);
	else if (!jit_writer_is_idle(t->writer))
		return;
	(void)write_some(t, now_ns, all ? UINT64_MAX : now_ns - MIN(now_ns, write_every_ns) + 1,
			 all ? SIZE_MAX : WRITES_MAX);
	if (all)
		jit_writer_wait(t->writer);
}

bool source_files_dump(struct source_files *t, uint64_t now_ns, uint64_t since_ns)
{
	return !jit_writer_is_idle(t->writer) || write_some(t, now_ns, since_ns, WRITES_MAX);
}

bool source_files_are_writing(const struct source_files *t)
{
	return !jit_writer_is_idle(t->writer);
}

/* Adds the codes of @s to @codes, by their address in memory. */
static void add_codes(const struct source *s, struct map *codes)
{
	size_t i;

	for (i = 0; i < jit_count(s->code); i++)
		(void)map_set(codes, (uintptr_t)jit_at(s->code, i), (void *)s);
}

/* Forgets which cookies denote @codes. */
static void forget_cookies(struct source_files *t, const struct map *codes)
{
	struct map kept = MAP_INIT;

	map_for_each (&t->by_cookie, slot)
		if (!map_get(codes, (uintptr_t)slot->value))
			map_add(&kept, slot->key, slot->value);
	map_done(&t->by_cookie);
	t->by_cookie = kept;
}

/* Frees @s and takes it off the counts. */
static void remove_source(struct source_files *t, struct source *s)
{
	t->count -= s->functions.count;
	t->bytes -= jit_bytes(s->code);
	t->unwritten += s->written.failed;
	source_free(s);
}

void source_files_sweep(struct source_files *t, bool (*is_used)(const char *name, void *data),
			void *data)
{
	struct map all = t->by_name, codes = MAP_INIT, unused = MAP_INIT;

	t->by_name = MAP_INIT;
	map_for_each (&all, slot) {
		struct source *s = slot->value;
		bool is_kept = is_used(s->name, data);

		if (!is_kept)
			add_codes(s, &codes);
		if (is_kept || s->written.count != jit_count(s->code) ||
		    source_files_are_writing(t))
			map_add(&t->by_name, slot->key, s);
		else
			map_add(&unused, slot->key, s);
	}
	map_done(&all);
	forget_cookies(t, &codes);
	map_done(&codes);
	map_for_each (&unused, slot)
		remove_source(t, slot->value);
	map_done(&unused);
}

uint64_t source_files_capped(const struct source_files *t)
{
	return t->capped;
}
