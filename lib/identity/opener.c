/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/opener.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "identity/internal/opener_wire.h"
#include "parser/parser.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LANE_TABLES, /* in the order of parser_sandbox() */
	LANE_OTHERS,
	LANES,

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
	struct avoided *oldest = o->avoided;
	size_t i;

	for (i = 0; i < AVOIDED_MAX; i++) {
		struct avoided *a = &o->avoided[i];

		if (a->seconds && a->owner == owner && (owner || a->device == device))
			return a;
		if (a->until_ns < oldest->until_ns)
			oldest = a;
	}
	if (!make)
		return NULL;
	*oldest = (struct avoided){ .owner = owner, .device = device };
	return oldest;
}

static bool is_avoided(struct opener *o, const struct opener_request *r)
{
	const struct avoided *a;
	bool is_any = false, is;
	size_t i;

	(void)pthread_mutex_lock(&o->lock);
	for (i = 0; i < AVOIDED_MAX && !is_any; i++)
		is_any = o->avoided[i].until_ns > 0;
	a = is_any ? find_avoided(o, owner_of(r->tgid), r->image.file.device, false) : NULL;
	is = a && clock_now_ns() < a->until_ns;
	(void)pthread_mutex_unlock(&o->lock);
	return is;
}

static void avoid(struct opener *o, const struct opener_request *r)
{
	struct avoided *a;

	(void)pthread_mutex_lock(&o->lock);
	a = find_avoided(o, owner_of(r->tgid), r->image.file.device, true);
	a->seconds = a->seconds ? MIN(2 * a->seconds, (unsigned int)AVOID_MOST_S) : AVOID_FIRST_S;
	a->until_ns = clock_now_ns() + a->seconds * NS_PER_S;
	(void)pthread_mutex_unlock(&o->lock);
}

/* --- requests --- */

/* Has @what done with the file of @image. Returns the worker's result, or -errno without one. */
static int ask(struct opener *o, enum opener_what what, const struct cookie_image *image,
	       const struct cookie_mapped *where, struct opener_answer *ret)
{
	struct opener_request request = { .what = what,
					  .tgid = where->tgid,
					  .start = where->start,
					  .end = where->end,
					  .image = *image };
	size_t size = strlen(image->path) + 1;
	unsigned int lane = what == OPENER_TABLE ? LANE_TABLES : LANE_OTHERS;
	struct sandbox_reply reply;
	struct error why = ERROR_INIT;
	int r;

	if (size > sizeof(request.path))
		return -ENAMETOOLONG;
	if (is_avoided(o, &request))
		return -EHOSTDOWN;
	memcpy(request.path, image->path, size);
	r = sandbox_call(o->sandbox, lane, &request, offsetof(struct opener_request, path) + size,
			 -1, &reply, &why);
	if (r == -ETIME)
		avoid(o, &request);
	if (r < 0 && r != -ECANCELED)
		parser_give_up(o->parser, image->path, why.text);
	if (r < 0)
		return r;
	if (reply.size != sizeof(*ret))
		return -EBADMSG;
	memcpy(ret, reply.memory, sizeof(*ret));
	ret->text[sizeof(ret->text) - 1] = '\0';
	return reply.code;
}

static void take_image(const struct opener_answer *a, struct cookie_image *image)
{
	image->version = a->image.version;
	if (image->version.build_id.size > sizeof(image->version.build_id.bytes))
		image->version.build_id.size = 0;
	image->file.generation = a->image.file.generation;
	image->verified = a->image.verified;
	free(image->host);
	image->host = a->has_text ? xstrdup(a->text) : NULL;
}

int opener_identify(struct opener *o, struct cookie_image *image, const struct cookie_mapped *where)
{
	struct opener_answer a;
	int r = ask(o, OPENER_IDENTIFY, image, where, &a);

	image->identified = true;
	if (r == 0)
		take_image(&a, image);
	return r;
}

bool opener_changed(struct opener *o, struct cookie_image *image, const struct cookie_mapped *where)
{
	struct opener_answer a;

	if (ask(o, OPENER_CHANGED, image, where, &a) < 0 || !a.is_so)
		return false;
	take_image(&a, image);
	return true;
}

bool opener_text_copy(struct opener *o, const struct cookie_image *memory,
		      const struct cookie_mapped *where, struct text_copy *ret)
{
	struct opener_answer a;

	if (ask(o, OPENER_COPY, memory, where, &a) < 0 || !a.is_so)
		return false;
	*ret = a.copy;
	ret->path = xstrdup(a.text);
	return true;
}

int opener_table(struct opener *o, const struct cookie_image *image,
		 const struct cookie_mapped *where, struct unwind_rules *rules,
		 struct unwind_table **ret)
{
	struct opener_answer a;
	int r = ask(o, OPENER_TABLE, image, where, &a);

	if (r == 0)
		r = parser_table_take(o->parser, a.table_size, rules, ret);
	return r;
}
