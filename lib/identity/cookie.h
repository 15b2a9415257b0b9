/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cookies: small numbers for images, as the kernel's dcookies were. The driver makes them, record
 * looks them up. An image is identified (size, mtime, build-id) at its first sample, while the
 * process that mapped it can still show the file.
 *
 * The table owns everything; what it returns is borrowed until cookie_sweep() or
 * cookie_table_free(). A number that was swept is not given out again.
 */
#pragma once

#include "base/map.h"
#include "identity/cookie_image.h"

#include <stddef.h>

struct cookie_table;
struct finder;
struct function_store;
struct opener;
struct parser;
struct parser_places;

/* Makes an empty table; caller frees. */
struct cookie_table *cookie_table_new(void);
/* Has files read by @parser from now on (parser/parser.h), which is borrowed; NULL: here. */
void cookie_table_parser(struct cookie_table *t, struct parser *parser);
/* Has files looked at by @finder (identity/finder.h), which is borrowed, from now on, so that
 * nobody waits for them; NULL: here. What is known of an image then comes with cookie_settle(). */
void cookie_table_finder(struct cookie_table *t, struct finder *finder);
/* Keeps the functions of the files that are sampled from now on in @store, which is borrowed
 * (symbol/function_store.h). The parser and the finder must be known. */
void cookie_keep_in(struct cookie_table *t, struct function_store *store);
/* Without a finder: reads the functions of files that were identified, for some milliseconds or,
 * with @all, of all. */
void cookie_read_functions(struct cookie_table *t, bool all);
/* Who reads files; borrowed, may be NULL. */
struct parser *cookie_parser(const struct cookie_table *t);
/* Who opens them, if that is another process; borrowed, or NULL. */
struct opener *cookie_opener(const struct cookie_table *t);
/* Frees it with all images; NULL is fine. */
void cookie_table_free(struct cookie_table *t);

/* The cookie of the file seen under @path; made if it is new. */
uint64_t cookie_file(struct cookie_table *t, const struct file_identity *file, const char *path);
/* The cookie of anonymous memory; a region that grew in place keeps its cookie. */
uint64_t cookie_anon(struct cookie_table *t, uint32_t tgid, uint64_t start, uint64_t end,
		     const char *label);
/* The same, but 0 if there is none yet. */
uint64_t cookie_find_anon(const struct cookie_table *t, uint32_t tgid, uint64_t start,
			  const char *label);
/* The cookie of the vdso. */
uint64_t cookie_vdso(struct cookie_table *t);
/* The cookie of that of 32-bit processes, of @size bytes: memory "[vdso32]" of no process. */
uint64_t cookie_vdso_32(struct cookie_table *t, uint64_t size);
/* Whether @image is the latter. */
bool cookie_is_vdso_32(const struct cookie_image *image);
/* The cookie of kernel threads called @name (what follows a slash or colon is cut off). */
uint64_t cookie_thread(struct cookie_table *t, const char *name);

/* The cookie of threads called @name, whole. */
uint64_t cookie_comm(struct cookie_table *t, const char *name);

/* The cookie of the cgroup at @path. */
uint64_t cookie_cgroup(struct cookie_table *t, const char *path);

/* The cookie of code in the kernel called @symbol, a BPF program. */
uint64_t cookie_code(struct cookie_table *t, const char *symbol);

/* The cookie of a function of the source file @path; a copy is taken. */
uint64_t cookie_source(struct cookie_table *t, const char *path,
		       const struct cookie_function *function);

/* Sets a cookie as a recorded stream has it; a copy is taken, an older one replaced. */
void cookie_define(struct cookie_table *t, const struct cookie_image *image);

/* The image of @cookie, or NULL. */
const struct cookie_image *cookie_lookup(const struct cookie_table *t, uint64_t cookie);

/* Looks for size, mtime and build-id of a file image, once: through /proc/PID/map_files, the path
 * below /proc/PID/root, the path itself, whichever is the file that was mapped. */
void cookie_identify(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where);
/* Notes that code of a file image was sampled, and keeps its functions (cookie_keep_in()), once. It
 * was identified, or will be. */
void cookie_keep(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where);
/* With a finder: has the functions of a file image read that was executed, as it may be gone when
 * its first sample comes; but not of more than 128 files in a second, and 64 of one user. */
void cookie_executed(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where);

/* With a finder: keeps the lines of a file at its hottest places (hot_code.h), of which there are
 * more by and by. */
void cookie_keep_lines(struct cookie_table *t, uint64_t cookie,
		       const struct parser_places *hottest);

/* The cookie to count under: @cookie, or, where its file was changed in place since it was
 * identified, a new one, identified. Looks at the file no more than every few seconds. */
uint64_t cookie_renew(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where,
		      uint64_t now_ns);

/* Notes that a process may have put something else into the memory @cookie, or in its place: it is
 * no copy until cookie_original() has looked again. Any other cookie is ignored, also 0. */
void cookie_doubt(struct cookie_table *t, uint64_t cookie);

/* The cookie of the file whose text was copied to the memory @cookie, anonymous or a memfd, in
 * which case *@offset in that memory becomes the offset in the file; else @cookie. Looks at process
 * @where->tgid, which has the memory mapped; at a copy again after two seconds. */
uint64_t cookie_original(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where,
			 uint64_t *offset);

/* How often that was not done when due: only so much memory is looked at in a second. */
uint64_t cookie_copies_late(const struct cookie_table *t);

/* Takes the finder's answers that have come. */
void cookie_settle(struct cookie_table *t);
/* The number of the finder's last question on which the name of a sample may depend; 0: none. */
uint64_t cookie_asked(const struct cookie_table *t);
/* Waits at most @ms for the answer to question @number, and takes none. Meanwhile another thread
 * may use the table. */
void cookie_wait(const struct cookie_table *t, uint64_t number, int ms);
/* The same, and takes the answers that have come; whether that one has. */
bool cookie_await(struct cookie_table *t, uint64_t number, int ms);

/* Begins another age: images that nobody asks for from now on are swept. */
void cookie_age(struct cookie_table *t);
/* Forgets the images that were not asked for in this age, and the files that were never identified,
 * unless the cookie is a key of @in_use (may be NULL); returns how many. */
size_t cookie_sweep(struct cookie_table *t, const struct map *in_use);
/* Whether, from now on, cookie_sweep() does nothing, because somebody still looks at images. Their
 * paths on the host change all the same. */
void cookie_hold(struct cookie_table *t, bool on);

/* Bytes of memory that the cookies of functions take. */
size_t cookie_function_bytes(const struct cookie_table *t);

/* Number of cookies. */
size_t cookie_count(const struct cookie_table *t);
/* The @i-th in order of making. */
const struct cookie_image *cookie_at(const struct cookie_table *t, size_t i);
