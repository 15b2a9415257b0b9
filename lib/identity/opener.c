/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/opener.h"

#include "base/clock.h"
#include "base/mem.h"
#include "helper/sandbox.h"
#include "identity/internal/opener_wire.h"
#include "parser/parser.h"
#include "symbol/function_file.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LANE_TABLES, /* in the order of parser_sandbox() */
	LANE_OTHERS,
	LANE_JIT,
	LANE_FUNCTIONS,
	LANES,
	LANES_SOON = 1 << LANE_OTHERS | 1 << LANE_FUNCTIONS, /* as in parser.c */

	ASLEEP_MS = 2000,   /* after which an answer is late */
	AVOID_FIRST_S = 60, /* how long who made us wait is not asked about */
	AVOID_MOST_S = 3600,
	AVOIDED_MAX = 64,
};

/* Whose files made us wait. */
struct avoided {
	uid_t owner;	 /* of the process */
	uint64_t device; /* of the file; counts for root only */
	uint64_t until_ns;
	unsigned int seconds; /* last time; 0: a free place */
};

struct opener {
	struct sandbox *sandbox;
	struct parser *parser;
	pthread_mutex_t lock; /* over the next */
	struct avoided avoided[AVOIDED_MAX];
};

int opener_new(struct parser *parser, struct opener **ret, struct error *err)
{
	struct sandbox_config config = { .name = "oprofile-opener",
					 .lanes = LANES,
					 .soon = LANES_SOON,
					 .room = sizeof(struct opener_answer),
					 .time_ms = ASLEEP_MS,
					 .serve = opener_serve,
					 .data = parser,
					 .opens = true };
	struct sandbox *sandbox;
	int r;

	config.back = parser_sandbox(parser, &config.back_lane);
	r = sandbox_new(&config, &sandbox, err);
	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->sandbox = sandbox;
	(*ret)->parser = parser;
	(void)pthread_mutex_init(&(*ret)->lock, NULL);
	return 0;
}

void opener_stop(struct opener *o)
{
	if (o)
		sandbox_stop(o->sandbox);
}

void opener_free(struct opener *o)
{
	if (!o)
		return;
	sandbox_free(o->sandbox);
	(void)pthread_mutex_destroy(&o->lock);
	free(o);
}

/* --- who made us wait --- */

static uid_t owner_of(uint32_t tgid)
{
	char path[32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%u", tgid);
	return tgid && stat(path, &st) == 0 ? st.st_uid : (uid_t)-1;
}

/* The place for files on @device of @owner's processes: one in use or, for @make, another one. */
static struct avoided *find_avoided(struct opener *o, uid_t owner, uint64_t device, bool make)
{
	/* Root has everything, and an owner who is not known may be anybody. */
	bool is_user = owner && owner != (uid_t)-1;
	struct avoided *oldest = o->avoided;
	size_t i;

	for (i = 0; i < AVOIDED_MAX; i++) {
		struct avoided *a = &o->avoided[i];

		if (a->seconds && a->owner == owner && (is_user || a->device == device))
			return a;
		if (a->until_ns < oldest->until_ns)
			oldest = a;
	}
	if (!make)
		return NULL;
	*oldest = (struct avoided){ .owner = owner, .device = device };
	return oldest;
}

/* Who is to be avoided if the request @r hangs. */
static struct avoided *find_avoided_of(struct opener *o, const struct opener_request *r, bool make)
{
	uid_t owner = r->owner != UINT32_MAX ? r->owner : owner_of(r->tgid);

	return find_avoided(o, owner, r->image.file.device, make);
}

static bool is_avoided(struct opener *o, const struct opener_request *r)
{
	const struct avoided *a;
	bool is_any = false, is;
	size_t i;

	(void)pthread_mutex_lock(&o->lock);
	for (i = 0; i < AVOIDED_MAX && !is_any; i++)
		is_any = o->avoided[i].until_ns > 0;
	a = is_any ? find_avoided_of(o, r, false) : NULL;
	is = a && clock_now_ns() < a->until_ns;
	(void)pthread_mutex_unlock(&o->lock);
	return is;
}

static void avoid(struct opener *o, const struct opener_request *r)
{
	struct avoided *a;

	(void)pthread_mutex_lock(&o->lock);
	a = find_avoided_of(o, r, true);
	a->seconds = a->seconds ? MIN(2 * a->seconds, (unsigned int)AVOID_MOST_S) : AVOID_FIRST_S;
	a->until_ns = clock_now_ns() + a->seconds * NS_PER_S;
	(void)pthread_mutex_unlock(&o->lock);
}

/* --- requests --- */

static unsigned int lane_of(enum opener_what what)
{
	switch (what) {
	case OPENER_TABLE:
	case OPENER_CODE:
	case OPENER_COPIED:
		return LANE_TABLES;
	case OPENER_JIT_ROOT:
	case OPENER_JIT_FIND:
	case OPENER_JIT_READ:
		return LANE_JIT;
	case OPENER_VERSION:
	case OPENER_FUNCTIONS:
	case OPENER_LINES:
		return LANE_FUNCTIONS;
	case OPENER_IDENTIFY:
	case OPENER_CHANGED:
	case OPENER_COPY:
		break;
	}
	return LANE_OTHERS;
}

/* Has @request, about the file @name, served with the descriptor @fd (-1: none). Returns the
 * worker's result with the descriptor that came back or -1 in *@ret_fd, or -errno. */
static int call(struct opener *o, struct opener_request *request, const char *name, int fd,
		struct opener_answer *ret, int *ret_fd)
{
	size_t size = strlen(name) + 1;
	struct sandbox_reply reply;
	struct error why = ERROR_INIT;
	int r;

	if (size > sizeof(request->path))
		return -ENAMETOOLONG;
	if (is_avoided(o, request))
		return -EHOSTDOWN;
	memcpy(request->path, name, size);
	r = sandbox_call(o->sandbox, lane_of(request->what), request,
			 offsetof(struct opener_request, path) + size, fd, &reply, &why);
	if (r == -ETIME)
		avoid(o, request);
	if (r < 0 && r != -ECANCELED)
		parser_give_up(o->parser, name, why.text);
	if (r < 0)
		return r;
	*ret_fd = reply.fd;
	if (reply.size != sizeof(*ret))
		return -EBADMSG;
	memcpy(ret, reply.memory, sizeof(*ret));
	ret->text[sizeof(ret->text) - 1] = '\0';
	return reply.code;
}

static struct opener_request request_for(enum opener_what what, const struct cookie_image *image,
					 const struct cookie_mapped *where)
{
	return (struct opener_request){ .what = what,
					.tgid = where->tgid,
					.owner = UINT32_MAX,
					.start = where->start,
					.end = where->end,
					.image = *image };
}

/* Has @what done with the file of @image. Returns the worker's result, or -errno without one. */
static int ask(struct opener *o, enum opener_what what, const struct cookie_image *image,
	       const struct cookie_mapped *where, struct opener_answer *ret)
{
	struct opener_request request = request_for(what, image, where);
	_cleanup_close_ int none = -1;

	return call(o, &request, image->path, -1, ret, &none);
}

static void take_image(const struct opener_answer *a, struct cookie_image *image)
{
	image->version = a->image.version;
	if (image->version.build_id.size > sizeof(image->version.build_id.bytes))
		image->version.build_id.size = 0;
	image->file.generation = a->image.file.generation;
	image->verified = a->image.verified;
	image->settled = a->image.settled;
	free(image->host);
	image->host = a->has_text ? xstrdup(a->text) : NULL;
}

/* Has an image identified by a question of the kind @what. */
static int identify(struct opener *o, enum opener_what what, struct cookie_image *image,
		    const struct cookie_mapped *where)
{
	struct opener_answer a;
	int r = ask(o, what, image, where, &a);

	image->identified = true;
	if (r == 0)
		take_image(&a, image);
	return r;
}

int opener_identify(struct opener *o, struct cookie_image *image, const struct cookie_mapped *where)
{
	return identify(o, OPENER_IDENTIFY, image, where);
}

int opener_version(struct opener *o, struct cookie_image *image, const struct cookie_mapped *where)
{
	return identify(o, OPENER_VERSION, image, where);
}

bool opener_changed(struct opener *o, struct cookie_image *image, const struct cookie_mapped *where)
{
	struct opener_answer a;

	if (ask(o, OPENER_CHANGED, image, where, &a) < 0 || !a.is_so)
		return false;
	take_image(&a, image);
	return true;
}

int opener_text_copy(struct opener *o, const struct cookie_image *memory,
		     const struct cookie_mapped *where, struct text_copy *ret)
{
	struct opener_answer a;

	if (ask(o, OPENER_COPY, memory, where, &a) < 0 || a.is_gone)
		return -ESRCH;
	if (!a.is_so)
		return 0;
	*ret = a.copy;
	ret->path = xstrdup(a.text);
	return 1;
}

int opener_table(struct opener *o, const struct cookie_image *image,
		 const struct cookie_mapped *where, struct unwind_rules *rules,
		 struct unwind_table **ret)
{
	struct opener_answer a;
	int r = ask(o, OPENER_TABLE, image, where, &a);

	if (r == 0)
		r = parser_table_take(o->parser, a.size, rules, ret);
	return r;
}

int opener_table_bytes(struct opener *o, const struct cookie_image *image,
		       const struct cookie_mapped *where, void **ret, size_t *ret_size)
{
	struct opener_answer a;
	int r = ask(o, OPENER_TABLE, image, where, &a);

	if (r < 0)
		return r;
	*ret_size = a.size;
	*ret = parser_table_copy(o->parser, ret_size);
	return 0;
}

int opener_code(struct opener *o, const struct cookie_mapped *where, uint8_t *ret)
{
	char name[] = "memory of a process";
	const struct cookie_image memory = { .path = name };
	struct opener_answer a;
	int r = ask(o, OPENER_CODE, &memory, where, &a);

	if (r == 0)
		memcpy(ret, a.page, sizeof(a.page));
	return r;
}

int opener_copied(struct opener *o, const struct cookie_mapped *where, uint64_t *ret_part,
		  uint64_t *ret_offset)
{
	char name[] = "memory of a process";
	const struct cookie_image memory = {
		.kind = COOKIE_ANON, .path = name, .start = where->start, .end = where->end
	};
	struct opener_answer a;
	int r = ask(o, OPENER_COPIED, &memory, where, &a);

	if (r < 0 || !a.is_so)
		return r < 0 ? r : -ENOENT;
	*ret_part = a.copy.start;
	*ret_offset = a.copy.shift;
	return 0;
}

int opener_functions(struct opener *o, const struct cookie_image *image,
		     const struct cookie_mapped *where, struct function_table *ret,
		     void **ret_bytes)
{
	struct opener_answer a;
	int r = ask(o, OPENER_FUNCTIONS, image, where, &a);

	if (r < 0)
		return r;
	ret->owner = a.owner;
	ret->size = a.size;
	ret->bytes = *ret_bytes = parser_functions_copy(o->parser, &ret->size);
	return 0;
}

int opener_lines(struct opener *o, const struct cookie_image *image,
		 const struct cookie_mapped *where, const struct parser_places *places,
		 struct function_table *ret)
{
	struct opener_request request = request_for(OPENER_LINES, image, where);
	_cleanup_close_ int none = -1;
	struct opener_answer a;
	int r;

	request.places = *places;
	r = call(o, &request, image->path, -1, &a, &none);
	if (r < 0)
		return r;
	*ret = (struct function_table){ .size = a.size, .owner = a.owner };
	ret->bytes = parser_functions_copy(o->parser, &ret->size);
	return 0;
}

int opener_jit_root(struct opener *o, const struct jit_files_query *query)
{
	struct opener_request request = { .what = OPENER_JIT_ROOT,
					  .tgid = query->tgid,
					  .owner = query->owner };
	_cleanup_free_ char *name = xasprintf("root directory of process %u", query->tgid);
	struct opener_answer a;
	int found = -1, r = call(o, &request, name, -1, &a, &found);

	return r < 0 ? r : found < 0 ? -EBADMSG : found;
}

int opener_jit_find(struct opener *o, int root, const struct jit_files_query *query, char **ret)
{
	struct opener_request request = {
		.what = OPENER_JIT_FIND, .tgid = query->tgid, .owner = query->owner, .jit = *query
	};
	_cleanup_free_ char *name = xasprintf("JIT files of process %u", query->tgid);
	_cleanup_close_ int found = -1;
	struct opener_answer a;
	int r = call(o, &request, name, root, &a, &found);

	if (r < 0 || found < 0)
		return r < 0 ? r : -EBADMSG;
	*ret = xstrdup(a.text);
	return STEAL_FD(found);
}

int opener_jit_read(struct opener *o, const struct opener_jit *from, void **ret, size_t *ret_size)
{
	struct opener_request request = { .what = OPENER_JIT_READ,
					  .tgid = from->tgid,
					  .owner = from->owner,
					  .state = from->state,
					  .now = from->now };
	_cleanup_close_ int none = -1;
	struct opener_answer a;
	int r = call(o, &request, from->name, from->fd, &a, &none);

	if (r < 0)
		return r;
	*ret_size = a.size;
	*ret = parser_jit_copy(o->parser, ret_size);
	return 0;
}
