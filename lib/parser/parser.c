/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parser/parser.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "elf/elf_build_id.h"
#include "elf/elffile.h"
#include "jit/jit.h"
#include "parser/internal/parser_tokens.h"
#include "parser/internal/parser_wire.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	LANE_TABLES,
	LANE_OTHERS,
	LANE_JIT,
	LANE_FUNCTIONS,
	LANES_OF_OPENER, /* the same, for files that another process opens */
	LANES = 2 * LANES_OF_OPENER,
	/* What is asked of these must be known before a process ends. */
	LANES_SOON = 1 << (LANES_OF_OPENER + LANE_OTHERS) | 1 << (LANES_OF_OPENER + LANE_FUNCTIONS),

	ROOM = 128 << 20, /* of an answer: the tables of the largest programs have 20 MiB */
	TIME_MS = 10000,
	NOTES_MAX = 16, /* files reported by name in one parser_tell() */
};

struct parser {
	struct sandbox *sandbox;
	struct parser_tokens tokens;	      /* of the thread that has tables built */
	struct parser_tokens function_tokens; /* of the one that has functions read */
	struct parser_home home;
	bool in_opener; /* this process opens the files for another one */
	uint64_t lost;	/* atomic, as is the next */
	bool said_refused;
	pthread_mutex_t lock; /* for all members below */
	char *notes[NOTES_MAX];
	size_t note_count;
	uint64_t more; /* further ones, without name */
};

int parser_new(struct parser **ret, struct error *err)
{
	static const struct sandbox_config config = { .name = "oprofile-parser",
						      .lanes = LANES,
						      .soon = LANES_SOON,
						      .room = ROOM,
						      .time_ms = TIME_MS,
						      .serve = parser_serve };
	struct sandbox *sandbox;
	int r = sandbox_new(&config, &sandbox, err);

	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->sandbox = sandbox;
	parser_home_find(&(*ret)->home);
	(void)pthread_mutex_init(&(*ret)->lock, NULL);
	return 0;
}

void parser_free(struct parser *p)
{
	if (!p)
		return;
	sandbox_free(p->sandbox);
	while (p->note_count)
		free(p->notes[--p->note_count]);
	parser_tokens_done(&p->tokens);
	parser_tokens_done(&p->function_tokens);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}

/* The path of the open file @fd; caller frees. */
static char *name_of(int fd)
{
	char link[64], name[4096];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	return n < 0 ? xstrdup("a file") : xstrndup(name, (size_t)n);
}

/* Keeps @line, which it takes, for parser_tell(). */
static void note(struct parser *p, char *line)
{
	(void)pthread_mutex_lock(&p->lock);
	if (p->note_count < NOTES_MAX)
		p->notes[p->note_count++] = line;
	else
		free(line), p->more++;
	(void)pthread_mutex_unlock(&p->lock);
}

void parser_give_up(struct parser *p, const char *name, const char *why)
{
	__atomic_add_fetch(&p->lost, 1, __ATOMIC_RELAXED);
	note(p, xasprintf("%s: %s; ignored from now on", name, why));
}

/* Notes that a file is given up. */
static void give_up(struct parser *p, int fd, const char *why)
{
	_cleanup_free_ char *name = name_of(fd);

	parser_give_up(p, name, why);
}

/* Notes the first refusal of a system call to the worker. */
static void note_refused(struct parser *p, int fd, const char *call)
{
	_cleanup_free_ char *name = NULL;

	if (__atomic_exchange_n(&p->said_refused, true, __ATOMIC_RELAXED))
		return;
	name = name_of(fd);
	note(p, xasprintf("%s: reading it led to the system call '%s', which was refused "
			  "(seccomp); please report this bug",
			  name, call));
}

/* Has a request served. The answer in *@ret may still be changed by the worker. */
static int ask(struct parser *p, unsigned int lane, const struct parser_request *request, int fd,
	       struct span *ret)
{
	struct sandbox_reply reply;
	struct error why = ERROR_INIT;
	int r;

	if (p->in_opener)
		lane = sandbox_adopted_lane(p->sandbox);
	r = sandbox_call(p->sandbox, lane, request, sizeof(*request), fd, &reply, &why);

	if (r < 0) {
		give_up(p, fd, why.text);
		return r;
	}
	if (*reply.refused)
		note_refused(p, fd, reply.refused);
	*ret = span_of(reply.memory, reply.size);
	return reply.code;
}

/* Handles an answer that an intact worker cannot have given. */
static int check(struct parser *p, int fd, int r)
{
	if (r < 0)
		give_up(p, fd, "the process that read it gave an invalid answer");
	return r;
}

int parser_build_id(struct parser *p, int fd, struct build_id *ret)
{
	const struct parser_request request = { .what = PARSER_BUILD_ID };
	struct span in;
	int r;

	if (!p)
		return elf_build_id_read_fd(fd, ret);
	r = ask(p, LANE_OTHERS, &request, fd, &in);
	return r < 0 ? r : check(p, fd, parser_take_build_id(in, ret));
}

static int build_here(int fd, struct unwind_rules *rules, struct unwind_table **ret,
		      struct error *err)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	int copy = dup(fd), r;

	if (copy < 0)
		return error_errno(err, -errno, "cannot reopen a file");
	r = elffile_open_fd(copy, "file", &ef, err);
	return r < 0 ? r : unwind_table_build(ef, rules, ret, err);
}

/* A file and the process that has it mapped; 0: none. */
struct mapped {
	int fd;
	uint32_t tgid;
	const struct parser_places *places; /* of PARSER_LINES, or NULL */
};

/* Has all of a file read, if its owner has time left. */
static int ask_whole(struct parser *p, enum parser_what what, struct mapped file, struct span *ret)
{
	static const struct parser_places none;
	const struct parser_request request = { .what = what, .places = *(file.places ?: &none) };
	const bool is_table = what == PARSER_TABLE;
	struct parser_tokens *tokens = is_table ? &p->tokens : &p->function_tokens;
	uint64_t begin_ns = clock_now_ns();
	uint64_t owner;
	struct stat st;
	int r;

	if (fstat(file.fd, &st) < 0)
		return -errno;
	owner = parser_owner(&p->home, &st, file.tgid);
	if (!parser_tokens_left(tokens, owner, begin_ns))
		return -EDQUOT;
	r = ask(p, is_table ? LANE_TABLES : LANE_FUNCTIONS, &request, file.fd, ret);
	parser_tokens_spend(tokens, owner, clock_now_ns() - begin_ns);
	return r;
}

int parser_table(struct parser *p, int fd, struct unwind_rules *rules, struct unwind_table **ret,
		 struct error *err)
{
	struct span in;
	int r;

	if (!p)
		return build_here(fd, rules, ret, err);
	r = ask_whole(p, PARSER_TABLE, (struct mapped){ fd }, &in);
	if (r == 0)
		r = check(p, fd, parser_take_table(in, rules, ret));
	sandbox_drop(p->sandbox, LANE_TABLES);
	return r < 0 ? error_set(err, r, "no unwind table") : 0;
}

int parser_functions(struct parser *p, int fd, void **ret, size_t *ret_size)
{
	struct span in;
	int r = p ? ask_whole(p, PARSER_FUNCTIONS, (struct mapped){ fd }, &in) : -EOPNOTSUPP;

	if (r < 0)
		return r;
	*ret_size = in.left;
	*ret = xmemdup(in.at, in.left);
	sandbox_drop(p->sandbox, LANE_FUNCTIONS);
	return 0;
}

struct sandbox *parser_sandbox(const struct parser *p, unsigned int *ret_lane)
{
	*ret_lane = LANES_OF_OPENER;
	return p->sandbox;
}

void parser_open_for_another(struct parser *p)
{
	p->in_opener = true;
}

static int leave(struct parser *p, enum parser_what what, struct mapped file, size_t *ret_size)
{
	struct span in = { 0 };
	int r = ask_whole(p, what, file, &in);

	*ret_size = in.left;
	return r;
}

int parser_table_leave(struct parser *p, int fd, uint32_t tgid, size_t *ret_size)
{
	return leave(p, PARSER_TABLE, (struct mapped){ fd, tgid }, ret_size);
}

int parser_functions_leave(struct parser *p, int fd, uint32_t tgid, size_t *ret_size)
{
	return leave(p, PARSER_FUNCTIONS, (struct mapped){ fd, tgid }, ret_size);
}

int parser_lines_leave(struct parser *p, int fd, uint32_t tgid, const struct parser_places *places,
		       size_t *ret_size)
{
	return leave(p, PARSER_LINES, (struct mapped){ fd, tgid, places }, ret_size);
}

int parser_table_take(struct parser *p, size_t size, struct unwind_rules *rules,
		      struct unwind_table **ret)
{
	const unsigned int lane = LANES_OF_OPENER + LANE_TABLES;
	struct span in;
	int r;

	in = span_of(sandbox_left(p->sandbox, lane, &size), size);
	r = parser_take_table(in, rules, ret);
	sandbox_drop(p->sandbox, lane);
	return r;
}

/* A copy of what was left in @lane of the opener. */
static void *copy_left(struct parser *p, unsigned int lane, size_t *size)
{
	void *copy = xmemdup(sandbox_left(p->sandbox, LANES_OF_OPENER + lane, size), *size);

	sandbox_drop(p->sandbox, LANES_OF_OPENER + lane);
	return copy;
}

void *parser_table_copy(struct parser *p, size_t *size)
{
	return copy_left(p, LANE_TABLES, size);
}

int parser_table_parse(const void *bytes, size_t size, struct unwind_rules *rules,
		       struct unwind_table **ret)
{
	return parser_take_table(span_of(bytes, size), rules, ret);
}

int parser_jit_leave(struct parser *p, int fd, const struct jit_source_state *from, uint64_t now,
		     size_t *ret_size)
{
	const struct parser_request request = { .what = PARSER_JIT, .now = now, .state = *from };
	struct span in = { 0 };
	int r = ask(p, LANE_JIT, &request, fd, &in);

	*ret_size = in.left;
	return r;
}

void *parser_jit_copy(struct parser *p, size_t *size)
{
	return copy_left(p, LANE_JIT, size);
}

void *parser_functions_copy(struct parser *p, size_t *size)
{
	return copy_left(p, LANE_FUNCTIONS, size);
}

int64_t parser_jit_take(struct parser *p, const void *bytes, size_t size, struct jit_source *s,
			struct jit *j, struct error *err)
{
	struct jit_source_state before, state;
	struct jit_sink sink;
	int64_t n = 0;
	int r;

	jit_sink_of(j, &sink);
	jit_source_state(s, &before);
	r = check(p, jit_source_fd(s),
		  parser_take_jit(span_of(bytes, size), &sink, &state, &n, err));
	if (r < 0)
		return error_set(err, r, "%s: could not be read safely", jit_source_name(s));
	/* A worker that goes back would never end. */
	if (n > 0 && state.offset < before.offset)
		return error_set(err, -EBADMSG, "%s: read backwards", jit_source_name(s));
	jit_source_resume(s, &state);
	if (n < 0)
		return error_prefix(err, "%s", jit_source_name(s));
	return state.offset > before.offset ? n : 0;
}

/* Reads one portion; returns the bytes read, 0 at the end, or -errno. */
static int64_t read_portion(struct parser *p, struct jit_source *s, struct jit *j, uint64_t now,
			    struct error *err)
{
	struct parser_request request = { .what = PARSER_JIT, .now = now };
	_cleanup_free_ void *bytes = NULL;
	struct span in;
	int r;

	jit_source_state(s, &request.state);
	r = ask(p, LANE_JIT, &request, jit_source_fd(s), &in);
	if (r < 0)
		return error_set(err, r, "%s: could not be read safely", jit_source_name(s));
	bytes = xmemdup(in.at, in.left);
	return parser_jit_take(p, bytes, in.left, s, j, err);
}

int64_t parser_jit(struct parser *p, struct jit_source *s, struct jit *j, uint64_t now,
		   struct error *err)
{
	struct jit_sink sink;

	if (!jit_source_grew(s))
		return 0;
	if (p)
		return read_portion(p, s, j, now, err);
	jit_sink_of(j, &sink);
	return jit_source_read_some(s, &sink, now, PARSER_JIT_PORTION, err);
}

int parser_pages(struct parser *p, int fd, const struct parser_pages *pages, void *ret)
{
	const struct parser_request request = { .what = PARSER_PAGES, .pages = *pages };
	struct span in;
	int r;

	if (!p)
		return parser_read_pages(fd, pages, ret);
	r = ask(p, LANE_OTHERS, &request, fd, &in);
	if (r == 0 && in.left != (size_t)pages->count * PARSER_PAGE_BYTES)
		r = check(p, fd, -EBADMSG);
	if (r == 0)
		memcpy(ret, in.at, in.left);
	return r;
}

uint64_t parser_cpu(struct parser *p)
{
	return p ? sandbox_cpu(p->sandbox) : 0;
}

uint64_t parser_memory(struct parser *p)
{
	return p ? sandbox_memory(p->sandbox) : 0;
}

uint64_t parser_lost(struct parser *p)
{
	return p ? __atomic_load_n(&p->lost, __ATOMIC_RELAXED) : 0;
}

void parser_tell(struct parser *p)
{
	char *notes[NOTES_MAX];
	size_t count, i;
	uint64_t more;

	if (!p)
		return;
	(void)pthread_mutex_lock(&p->lock);
	count = p->note_count;
	memcpy(notes, p->notes, sizeof(notes));
	more = p->more;
	p->note_count = 0;
	p->more = 0;
	(void)pthread_mutex_unlock(&p->lock);
	for (i = 0; i < count; i++) {
		log_warn("%s", notes[i]);
		free(notes[i]);
	}
	if (more)
		log_warn("the same for %llu more files", (unsigned long long)more);
}
