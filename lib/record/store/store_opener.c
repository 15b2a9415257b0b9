/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/store/store_opener.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"
#include "event/cpu_type.h"
#include "record/store/file_maker.h"
#include "record/store/sampled_image.h"
#include "sfile/sfile.h"
#include "sfile/sname.h"

#include <errno.h>
#include <string.h>

enum { CAUSES = 256 };
#define RETRY_NS NS_PER_S

struct store_opener {
	char *samples;
	const struct event *events;
	uint32_t cpu_type;
	double cpu_mhz;
	uint64_t retry_at; /* no file is opened before */
	uint64_t pardon;   /* retry times returned before this are void */
	uint64_t lacks_until;
	bool said[CAUSES], said_lack[CAUSES]; /* by errno */
	struct file_maker *maker;
};

struct store_opener *store_opener_new(const struct store_config *config)
{
	struct store_opener *o = xcalloc(1, sizeof(*o));

	o->samples = xstrdup(config->samples);
	o->events = config->events;
	o->cpu_type = config->cpu_type;
	o->cpu_mhz = config->cpu_mhz;
	o->maker = config->in_turns ? file_maker_new() : NULL;
	return o;
}

void store_opener_free(struct store_opener *o)
{
	if (!o)
		return;
	file_maker_free(o->maker);
	free(o->samples);
	free(o);
}

bool store_opener_may_try(const struct store_opener *o, uint64_t retry_at)
{
	uint64_t at = MAX(retry_at > o->pardon ? retry_at : 0, o->retry_at);

	return !at || clock_now_ns() >= at;
}

/* Returns the CPU type for the header of the event's files. Those of the clock, whose code is 0,
 * are of the type "timer" also if other events are sampled: so OProfile 1.x knows what they are. */
static uint32_t cpu_type_of(const struct store_opener *o, const struct event *e)
{
	return e->is_timer ? cpu_type_named("timer")->id : o->cpu_type;
}

void store_opener_describe(const struct store_opener *o, const struct store_key *key,
			   struct sname *ret_name, struct sfile_header *ret_header)
{
	const struct event *e = &o->events[key->event];

	*ret_name = (struct sname){ .app = key->app->image,
				    .image = key->image->image,
				    .event = e->name,
				    .count = (int32_t)e->count,
				    .unit_mask = (int32_t)e->unit_mask,
				    .task = key->task };
	*ret_header = (struct sfile_header){ .cpu_type = cpu_type_of(o, e),
					     .event = e->code,
					     .unit_mask = e->unit_mask,
					     .count = (uint32_t)e->count,
					     .is_kernel = key->image->is_kernel,
					     .cpu_mhz = o->cpu_mhz,
					     .mtime = key->image->mtime,
					     .anon_start = key->image->image.start };
}

/* Describes the file as above, and returns its path; caller frees. */
static char *describe(const struct store_opener *o, const struct store_key *key,
		      struct sfile_header *ret)
{
	_cleanup_free_ char *mangled = NULL;
	struct sname name;

	store_opener_describe(o, key, &name, ret);
	mangled = sname_mangle(&name);
	return path_join(o->samples, mangled);
}

int store_opener_open(struct store_opener *o, const struct store_key *key, struct sfile **ret,
		      struct error *err)
{
	struct sfile_header header;
	_cleanup_free_ char *path = describe(o, key, &header);

	return sfile_create(path, &header, ret, err);
}

bool store_opener_ask(struct store_opener *o, const struct store_key *key, struct store_file *file)
{
	struct sfile_header header;
	char *path;

	if (store_opener_is_alone(o))
		return false;
	path = describe(o, key, &header);
	return file_maker_ask(o->maker, path, &header, file);
}

bool store_opener_is_alone(const struct store_opener *o)
{
	return !o->maker || file_maker_is_absent(o->maker);
}

bool store_opener_take(struct store_opener *o, struct made_file *ret)
{
	return o->maker && file_maker_take(o->maker, ret);
}

void store_opener_wait(struct store_opener *o)
{
	if (o->maker)
		file_maker_wait(o->maker);
}

/* Returns whether this cause has not been logged yet. */
static bool is_news(bool said[CAUSES], int code)
{
	int cause = MIN(-code, CAUSES - 1);
	bool news = !said[cause];

	said[cause] = true;
	return news;
}

uint64_t store_opener_failed(struct store_opener *o, int code, const struct error *err)
{
	uint64_t at = clock_now_ns() + RETRY_NS;

	if (is_news(o->said, code))
		log_error("%s: its samples are lost (counted in stats/lost_samplefile)", err->text);
	if (error_is_of_machine(code))
		o->retry_at = at;
	return at;
}

void store_opener_lacks(struct store_opener *o, int code, const struct error *err)
{
	o->lacks_until = clock_now_ns() + RETRY_NS;
	if (is_news(o->said_lack, code))
		log_info("%s: its samples wait in memory; if too many wait, they are lost (counted "
			 "in "
			 "stats/lost_samplefile)",
			 err->text);
}

bool store_opener_is_lacking(const struct store_opener *o)
{
	return o->lacks_until && clock_now_ns() < o->lacks_until;
}

void store_opener_complain(struct store_opener *o, const struct store_key *key, int code)
{
	_cleanup_free_ char *path = NULL;
	struct sfile_header header;

	if (!is_news(o->said, code))
		return;
	path = describe(o, key, &header);
	log_error("cannot write %s: %s: its samples are lost (counted in stats/lost_samplefile)",
		  path, strerror(-code));
}

void store_opener_retry(struct store_opener *o)
{
	o->retry_at = o->lacks_until = 0;
	o->pardon = clock_now_ns() + RETRY_NS;
}

void store_opener_forget(struct store_opener *o)
{
	memset(o->said, 0, sizeof(o->said));
	memset(o->said_lack, 0, sizeof(o->said_lack));
	store_opener_retry(o);
}
