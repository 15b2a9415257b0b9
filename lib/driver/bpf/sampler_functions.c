/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/sampler_functions.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "driver/bpf/sampler.h"
#include "identity/cookie.h"
#include "interpreter/java_lines.h"
#include "interpreter/java_names.h"
#include "interpreter/php_names.h"
#include "interpreter/python_lines.h"
#include "interpreter/ruby_lines.h"
#include "interpreter/ruby_names.h"
#include "symbol/demangle.h"

#include <bpf/bpf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
	FUNCTIONS_MAX = 1 << 16,
	FUNCTION_BYTES_MAX = 64 << 20, /* of memory for their names and lines */
	COMPONENT_MAX = 200,
	PHP_LINES_MAX = 1 << 16, /* of a function */
};

struct sampler_functions {
	const struct sampler *sampler;
	struct cookie_table *cookies;
	char *root;
	struct map by_id; /* id: cookie, as a pointer */
};

struct sampler_functions *sampler_functions_new(const struct sampler *sampler,
						struct cookie_table *cookies, const char *root)
{
	struct sampler_functions *t = xcalloc(1, sizeof(*t));

	t->sampler = sampler;
	t->cookies = cookies;
	t->root = xstrdup(root ? root : "");
	return t;
}

void sampler_functions_free(struct sampler_functions *t)
{
	if (!t)
		return;
	map_done(&t->by_id);
	free(t->root);
	free(t);
}

/* --- texts --- */

static void add_utf8(struct strbuf *b, uint32_t c)
{
	char bytes[4];
	size_t n = 0;

	if (c < 0x20 || c == 0x7f || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = '?';
	if (c < 0x80) {
		bytes[n++] = (char)c;
	} else if (c < 0x800) {
		bytes[n++] = (char)(0xc0 | c >> 6);
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[n++] = (char)(0xe0 | c >> 12);
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		bytes[n++] = (char)(0xf0 | c >> 18);
		bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	}
	strbuf_add(b, bytes, n);
}

/* Adds UTF-8 of at most @bytes bytes, up to a NUL; what is no character becomes a question mark. */
static void add_text_of_utf8(struct strbuf *b, const char *text, uint32_t bytes)
{
	_cleanup_free_ char *copy = xstrndup(text, bytes);
	const char *at;
	size_t n;

	for (at = copy; *at; at += n ? n : 1) {
		n = text_utf8_length(at);
		if (n > 1)
			strbuf_add(b, at, n);
		else
			add_utf8(b, n ? (uint32_t)*at : '?');
	}
}

/* Adds the text of @bytes bytes at @text in UTF-8; control characters become question marks. */
static void add_text(struct strbuf *b, const char *text, uint32_t bytes, uint8_t width)
{
	uint32_t i, c = 0, step = width == 2 || width == 4 ? width : 1;

	if (width == SAMPLE_TEXT_UTF8) {
		add_text_of_utf8(b, text, MIN(bytes, (uint32_t)SAMPLE_FUNCTION_TEXT));
		return;
	}

	for (i = 0; i + step <= MIN(bytes, (uint32_t)SAMPLE_FUNCTION_TEXT); i += step) {
		c = 0;
		memcpy(&c, text + i, step);
		add_utf8(b, c);
	}
}

/* Adds a component of a path, of at most COMPONENT_MAX bytes, which cannot be taken for a part of
 * the name of a sample file. ".." removes the last one instead. */
static void add_component(struct strbuf *path, const char *name, size_t length)
{
	bool is_up = length == 2 && !strncmp(name, "..", 2);
	const char *last = is_up && path->length ? strrchr(path->text, '/') : NULL;

	if (last)
		strbuf_cut(path, (size_t)(last - path->text));
	if (!length || is_up || (length == 1 && *name == '.'))
		return;
	strbuf_adds(path, *name == '{' ? "/_" : "/");
	if (*name == '{')
		name++, length--;
	strbuf_add(path, name, MIN(length, (size_t)COMPONENT_MAX));
}

/* The name of the class of a method. Caller frees. */
static char *class_of(const struct sample_function *f)
{
	_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;
	const struct sample_method *m = sample_function_method(f);

	add_text_of_utf8(&name, m->class_name, MIN(m->class_bytes, (uint32_t)SAMPLE_FUNCTION_TEXT));
	return xstrdup(strbuf_text(&name));
}

/* The name that a language has for the source file @text, as an absolute path or in brackets. NULL:
 * @text itself. Caller frees. */
static char *name_of_language(const struct sample_function *f, const char *text)
{
	_cleanup_free_ char *class = NULL;

	switch ((enum interpreter_kind)f->language) {
	case INTERPRETER_PHP:
		return php_names_file(text);
	case INTERPRETER_RUBY:
		return ruby_names_file(text);
	case INTERPRETER_JAVA:
		class = class_of(f);
		return java_names_file(class, text);
	case INTERPRETER_NONE:
	case INTERPRETER_PYTHON:
	case INTERPRETER_COUNT_:
		break;
	}
	return NULL;
}

/* The name of a source file: an absolute path, or in brackets (<string>), which are no file. A
 * relative path begins in the process's directory. Caller frees. */
static char *source_name(const struct sampler_functions *t, const struct sample_function *f)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT, path = STRBUF_INIT;
	_cleanup_free_ char *link = xasprintf("%s/proc/%u/cwd", t->root, f->tgid), *name = NULL;
	const char *at, *end;
	char cwd[PATH_MAX];
	ssize_t n;

	add_text(&text, f->file, f->file_bytes, f->file_width);
	name = name_of_language(f, strbuf_text(&text));
	at = name ? name : strbuf_text(&text);
	n = *at != '/' && *at != '<' ? readlink(link, cwd, sizeof(cwd)) : 0;
	if (n > 1)
		strbuf_add(&path, cwd, (size_t)n);
	for (; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '/');
		add_component(&path, at, (size_t)(end - at));
	}
	return path.length ? strbuf_take(&path) : xstrdup("/[python]");
}

/* --- functions --- */

/* The cookie of a function called @name, which counts for all functions of a kind. */
static uint64_t cookie_for_all(const struct sampler_functions *t, const char *name)
{
	const struct cookie_function function = { .name = (char *)name,
						  .bytes = COOKIE_CODE_BYTES_MAX,
						  .digest = COOKIE_DIGEST_SET };

	return cookie_source(t->cookies, "/[python]", &function);
}

/* Makes room for another id. */
static void make_room(struct sampler_functions *t)
{
	if (t->by_id.count >= FUNCTIONS_MAX)
		sampler_functions_forget(t);
}

/* Fills in the lines of a function, which is defined in one and has one place for each. */
static void fill_php(const struct sample_function *f, struct cookie_function *ret)
{
	uint32_t i, count = MIN(f->code_bytes, (uint32_t)PHP_LINES_MAX);

	ret->bytes = count;
	ret->digest = hash_add(f->line, f->code_bytes);
	if (!f->line)
		return; /* written in C */
	ret->lines = xcalloc(count, sizeof(*ret->lines));
	for (i = 0; i < count; i++)
		ret->lines[i] = (struct function_line){ i, f->line + i };
	ret->line_count = count;
}

/* The same from the line table of a function; its places are words. */
static void fill_ruby(const struct sample_function *f, struct cookie_function *ret)
{
	const uint32_t bytes = MIN(f->lines_bytes, (uint32_t)SAMPLE_FUNCTION_LINES);
	struct ruby_lines lines = { 0 };

	ret->bytes = MIN(f->code_bytes, (uint32_t)COOKIE_CODE_BYTES_MAX);
	ret->digest = hash_add(f->line, f->code_bytes);
	if (!f->line)
		return; /* written in C */
	ruby_lines_decode(&lines, ret->bytes, f->line, span_of(f->lines, bytes));
	ret->digest =
		hash_add(hash_bytes(lines.rows, lines.count * sizeof(*lines.rows)), ret->digest);
	ret->lines = lines.rows;
	ret->line_count = lines.count;
}

/* The same from the line table of a method. */
static void fill_java(const struct sample_function *f, struct cookie_function *ret)
{
	const uint32_t head = offsetof(struct sample_method, lines);
	const char *table = sample_function_method(f)->lines;
	struct java_lines lines = { 0 };
	size_t bytes = f->lines_bytes > head ? f->lines_bytes - head : 0;

	bytes = MIN(bytes, sizeof(sample_function_method(f)->lines));
	ret->bytes = f->code_bytes ? MIN(f->code_bytes, (uint32_t)COOKIE_CODE_BYTES_MAX) : 1;
	bytes = java_lines_decode(&lines, f->version, ret->bytes, span_of(table, bytes));
	ret->digest = hash_add(hash_bytes(table, bytes), f->code_bytes);
	ret->lines = lines.rows;
	ret->line_count = lines.count;
}

/* Fills in the lines of a function from its line table. */
static void fill_python(const struct sample_function *f, struct cookie_function *ret)
{
	const uint32_t bytes = MIN(f->lines_bytes, (uint32_t)SAMPLE_FUNCTION_LINES);
	struct python_lines lines = { 0 };
	uint32_t code_bytes;

	python_lines_decode(&lines, f->version, f->line, span_of(f->lines, bytes));
	code_bytes = MAX(f->code_bytes, lines.end);
	ret->bytes = MIN(code_bytes, (uint32_t)COOKIE_CODE_BYTES_MAX);
	ret->lines = lines.rows;
	ret->line_count = lines.count;
	ret->digest = hash_add(hash_add(hash_bytes(f->lines, bytes), f->line), f->code_bytes);
}

/* The name of a method of Java. Caller frees. */
static char *method_name(const struct sample_function *f, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf signature = STRBUF_INIT;
	const struct sample_method *m = sample_function_method(f);
	_cleanup_free_ char *class = class_of(f);

	add_text_of_utf8(&signature, m->signature,
			 MIN(m->signature_bytes, (uint32_t)SAMPLE_FUNCTION_TEXT));
	return java_names_method(class, name, strbuf_text(&signature));
}

/* The name of a function. Caller frees. */
static char *function_name(const struct sample_function *f)
{
	_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT, class = STRBUF_INIT;

	add_text(&name, f->name, f->name_bytes, f->name_width);
	if (f->language == INTERPRETER_JAVA)
		return method_name(f, strbuf_text(&name));
	if (f->language != INTERPRETER_PHP)
		return xstrdup(strbuf_text(&name));
	add_text(&class, f->lines, f->lines_bytes, SAMPLE_TEXT_UTF8);
	return php_names_function(strbuf_text(&class), strbuf_text(&name));
}

char *sampler_functions_generated(const struct sample_function *f)
{
	_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;
	_cleanup_free_ char *method = NULL;
	char *text;

	if (!sample_function_is_generated(f))
		return NULL;
	add_text(&name, f->name, f->name_bytes, f->name_width);
	if (!sample_function_method(f)->class_bytes)
		return xstrdup(strbuf_text(&name));
	method = method_name(f, strbuf_text(&name));
	text = demangle_method(method);
	return text ?: STEAL(method);
}

static uint64_t cookie_of(struct sampler_functions *t, const struct sample_function *f)
{
	_cleanup_free_ char *file = source_name(t, f), *name = function_name(f);
	struct cookie_function function = { .name = name, .language = f->language };
	uint64_t cookie;

	if (f->language == INTERPRETER_PHP)
		fill_php(f, &function);
	else if (f->language == INTERPRETER_RUBY)
		fill_ruby(f, &function);
	else if (f->language == INTERPRETER_JAVA)
		fill_java(f, &function);
	else
		fill_python(f, &function);
	function.digest |= COOKIE_DIGEST_SET;
	cookie = cookie_source(t->cookies, file, &function);
	free(function.lines);
	return cookie;
}

void sampler_functions_add(struct sampler_functions *t, const struct sample_function *f)
{
	bool has_room = cookie_function_bytes(t->cookies) < FUNCTION_BYTES_MAX;
	uint64_t cookie = has_room ? cookie_of(t, f) : cookie_for_all(t, "(other functions)");

	make_room(t);
	(void)map_set(&t->by_id, f->id, (void *)(uintptr_t)cookie);
}

bool sampler_functions_are_large(const struct sampler_functions *t)
{
	return cookie_function_bytes(t->cookies) >= FUNCTION_BYTES_MAX / 4 * 3;
}

static void send_again(const struct sampler_functions *t, uint64_t id)
{
	size_t i;

	for (i = 0; i < SAMPLE_CHAIN_SLOTS; i++)
		(void)bpf_map_delete_elem(sampler_maps(t->sampler)->functions[i], &id);
}

bool sampler_functions_knows(const struct sampler_functions *t, uint64_t id)
{
	return map_get(&t->by_id, id) != NULL;
}

uint64_t sampler_functions_cookie(struct sampler_functions *t, uint64_t id)
{
	uint64_t cookie = (uintptr_t)map_get(&t->by_id, id);

	if (cookie)
		return cookie;
	send_again(t, id);
	return cookie_for_all(t, "(function not read)");
}

void sampler_functions_forget(struct sampler_functions *t)
{
	map_for_each (&t->by_id, slot)
		send_again(t, slot->key);
	map_done(&t->by_id);
}
