/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/transient.h"

#include "base/log.h"
#include "helper/relief.h"
#include "identity/cookie.h"
#include "jit/jit_code.h"
#include "record/store/sampled_image.h"
#include "record/feature.h"
#include "record/code/jitting.h"
#include "record/code/source_files.h"
#include "record/store/store.h"
#include "record/internal/chain_recorder.h"
#include "record/internal/container_namer.h"
#include "record/internal/thread_namer.h"
#include "record/record.h"

/* The place that a sample counts at, or the counter of its loss. */
struct found {
	struct place place;
	struct sampled_image *app;
	uint64_t *lost; /* NULL: not lost */
};

/* The next sample creates the session's directory again if it was moved away. */
static void ensure_session(struct record *rec)
{
	struct error err = ERROR_INIT;

	if (sampled_image_open_manifest(rec->binaries, rec->session_dir, rec->session_name, &err) <
	    0)
		log_error("%s", err.text);
	rec->session_ready = true;
}

/* The place of the function that the image's cookie denotes; NULL if it has none. The cookie may be
 * forgotten already. */
static const struct jit_code *source_place(const struct record *rec,
					   const struct sampled_image *image)
{
	const struct jit_code *code = source_files_known(rec->sources, rec->trans.image_cookie);
	const struct cookie_image *source;

	if (code)
		return code;
	source = cookie_lookup(rec->cookies, rec->trans.image_cookie);
	if (!source)
		return NULL;
	relief_leave(rec->relief);
	code = source_files_place(rec->sources, source, image->image.name);
	relief_return(rec->relief);
	return code;
}

/* Finds the place of @pc, an offset in the bytecode of the image's function. An offset that cannot
 * be right counts at the function's end: what follows is the place of another one. */
static void find_source_place(struct record *rec, uint64_t pc, struct found *f)
{
	const struct jit_code *code = source_place(rec, f->place.image);
	struct sampled_image *image = f->place.image;

	if (!code)
		f->lost = &rec->stats.lost_samplefile;
	else if (pc < code->size)
		f->place = (struct place){ image, -code->address, 0, code->size };
	else
		f->place = (struct place){ image, pc - (code->address + code->size - 1), pc, 1 };
}

static void find_user_place(struct record *rec, uint64_t pc, struct found *f)
{
	const struct transient *t = &rec->trans;
	struct sampled_image *image;

	if (t->image_cookie == EVBUF_NO_COOKIE) {
		image = sampled_image_of_region(rec->binaries, t->tgid, pc);
		if (!image)
			f->lost = &rec->stats.lost_no_mapping;
		else
			f->place = (struct place){ image, image->image.start, image->image.start,
						   image->image.end - image->image.start };
		return;
	}
	image = t->image_cookie == EVBUF_INVALID_COOKIE
			? NULL
			: sampled_image_of_cookie(rec->binaries, t->image_cookie);
	if (!image)
		f->lost = &rec->stats.lost_samplefile;
	f->place = (struct place){ .image = image };
}

static struct sampled_image *current_app(struct record *rec)
{
	struct transient *t = &rec->trans;
	bool valid = t->app_cookie != EVBUF_NO_COOKIE && t->app_cookie != EVBUF_INVALID_COOKIE;

	if (!t->app_known) {
		t->app = valid ? sampled_image_of_cookie(rec->binaries, t->app_cookie) : NULL;
		t->app_known = true;
	}
	return t->app;
}

/* Finds the application image: that of the process, or the sample's own image if libraries are not
 * separated. An anonymous region cannot be an application in a file name. */
static void find_app(struct record *rec, struct sampled_image *app, struct found *f)
{
	struct sampled_image *image = f->place.image;
	unsigned int apart = image->is_kernel ? RECORD_SEPARATE_KERNEL : RECORD_SEPARATE_LIB;
	bool is_region = image->image.kind == SNAME_ANON;

	if (image->is_kernel && !app)
		f->lost = &rec->stats.lost_no_app_for_kernel_sample;
	else if (rec->select && (!app || !app->selected))
		f->lost = &rec->stats.filtered;
	else if (!is_region && !(rec->separate & apart))
		f->app = image;
	else if (app && app->image.kind != SNAME_ANON)
		f->app = app;
	else if (is_region)
		f->lost = &rec->stats.lost_no_app_for_user_sample;
	else
		f->app = image;
}

static void find_place(struct record *rec, uint64_t pc, struct found *f)
{
	if (_unlikely_(!rec->session_ready))
		ensure_session(rec);
	switch (rec->trans.mode) {
	case MODE_NONE:
		f->lost = &rec->stats.lost_no_context;
		return;
	case MODE_XEN:
		f->lost = &rec->stats.lost_kernel;
		return;
	case MODE_USER:
		find_user_place(rec, pc, f);
		break;
	case MODE_KERNEL:
		kernel_images_find(rec->kernel, pc, &f->place);
		break;
	}
	if (!f->lost)
		find_app(rec, current_app(rec), f);
	/* Only now: what is filtered is not lost, and takes no place. */
	if (!f->lost && f->place.image->is_source)
		find_source_place(rec, pc, f);
	if (rec->containers)
		container_namer_see(rec->containers, rec->trans.cgroup);
	if (rec->threads && rec->trans.comm && !(rec->shed & RECORD_SHED_THREADS))
		thread_namer_see(rec->threads, rec->trans.tgid, rec->trans.tid, rec->trans.comm);
}

/* The cgroup that samples are counted under; NULL if they are not separated by cgroup. */
static const char *cgroup_of(const struct record *rec)
{
	return rec->separate & RECORD_SEPARATE_CGROUP ? rec->trans.cgroup : NULL;
}

/* The name of the thread that samples are counted under; NULL if they are not separated by it. */
static const char *comm_of(const struct record *rec)
{
	return rec->separate & RECORD_SEPARATE_COMM && !(rec->shed & RECORD_SHED_THREADS)
		       ? rec->trans.comm
		       : NULL;
}

static struct store_key key_of(const struct record *rec, const struct found *f, size_t event)
{
	const struct transient *t = &rec->trans;
	unsigned int separate = rec->shed & RECORD_SHED_THREADS ? 0 : rec->separate;
	bool thread = separate & RECORD_SEPARATE_THREAD;

	return (struct store_key){
		.app = f->app,
		.image = f->place.image,
		.event = (uint32_t)event,
		.task = { .tgid = thread ? (int64_t)t->tgid : SNAME_ALL,
			  .tid = thread ? (int64_t)t->tid : SNAME_ALL,
			  .cpu = separate & RECORD_SEPARATE_CPU ? (int64_t)t->cpu : SNAME_ALL,
			  .cgroup = cgroup_of(rec),
			  .comm = comm_of(rec) },
	};
}

/* Adds the next frame of a chain. */
static void add_frame(struct record *rec, uint64_t pc, const struct found *f)
{
	struct chain_recorder_place place = { f->lost ? NULL : f->place.image, pc - f->place.base };

	if (place.image && rec->jitting && place.image->image.kind == SNAME_ANON &&
	    !(rec->shed & RECORD_SHED_JIT))
		jitting_place(rec->jitting, &place.image, &place.key);
	chain_recorder_frame(rec->trace, &place);
}

/* Adds the caller of the last frame. */
static void add_caller(struct record *rec, uint64_t pc, const struct found *f)
{
	add_frame(rec, pc, f);
	if (f->lost)
		rec->stats.arcs_no_mapping += rec->trans.trace_weight;
}

void sample_add_caller(struct record *rec, const struct evbuf_frame *frame)
{
	struct transient *t = &rec->trans;
	enum transient_mode mode = t->mode;
	uint64_t cookie = t->image_cookie;
	struct found f = { 0 };

	t->mode = frame->cookie == EVBUF_KERNEL ? MODE_KERNEL : MODE_USER;
	t->image_cookie = frame->cookie;
	find_place(rec, frame->offset, &f);
	add_caller(rec, frame->offset, &f);
	t->mode = mode;
	t->image_cookie = cookie;
}

/* Queues a sample in anonymous memory until its JIT code is known. */
static bool wait_for_code(struct record *rec, uint64_t pc, const struct found *f,
			  const struct store_key *at, uint64_t weight)
{
	const struct sname_image *image = &f->place.image->image;

	if (!rec->jitting || image->kind != SNAME_ANON)
		return false;
	if (rec->shed & RECORD_SHED_JIT) {
		rec->stats.shed_jit += weight;
		return false;
	}
	return jitting_add(rec->jitting, at, image->start + (pc - f->place.base), weight);
}

/* Adds the sample to the file of its place, and sets the shortcut to that file. */
static void add_flat(struct record *rec, uint64_t pc, uint64_t counter, const struct found *f,
		     uint64_t weight)
{
	struct transient *t = &rec->trans;
	struct store_key at = key_of(rec, f, (size_t)counter);
	struct store_file *file;

	if (wait_for_code(rec, pc, f, &at, weight))
		return;
	file = store_get(rec->store, &at);
	if (!file) {
		rec->stats.lost_samplefile += weight;
		return;
	}
	store_add(rec->store, file, pc - f->place.base, weight);
	note_hot(rec, pc, weight);
	if (t->tracing != TRACE_OFF)
		return;
	t->file = file;
	t->counter = counter;
	t->base = f->place.base;
	t->low = f->place.low;
	t->size = f->place.size ? f->place.size : UINT64_MAX;
}

/* Starts a chain with its innermost frame. */
static void begin_chain(struct record *rec, uint64_t pc, uint64_t counter, const struct found *f,
			uint64_t weight)
{
	struct transient *t = &rec->trans;
	struct store_key key = key_of(rec, f, (size_t)counter);
	/* Chains store the application even if sample files are not separated by it. */
	struct chain_recorder_owner owner = { .app = current_app(rec),
					      .event = key.event,
					      .task = key.task };

	t->tracing = TRACE_ON;
	t->trace_weight = weight;
	rec->chains_seen = true;
	if (rec->shed & RECORD_SHED_CHAINS) {
		rec->stats.shed_chains += weight;
		return;
	}
	chain_recorder_begin(rec->trace, &owner, weight);
	add_frame(rec, pc, f);
}

/* Counts the innermost frame, or a sample without a chain. */
static void add_leaf(struct record *rec, uint64_t pc, uint64_t counter, struct found *f,
		     uint64_t weight)
{
	struct transient *t = &rec->trans;

	if (f->lost && f->lost != &rec->stats.lost_samplefile) {
		*f->lost += weight;
	} else {
		rec->stats.samples += weight;
		rec->stats.kernel_samples += t->mode == MODE_KERNEL ? weight : 0;
		if (f->lost)
			*f->lost += weight;
		else
			add_flat(rec, pc, counter, f, weight);
	}
	if (t->tracing == TRACE_START)
		begin_chain(rec, pc, counter, f, weight);
}

/* Adds a count that the driver made of a feature's event. */
static void add_counted(struct record *rec, uint64_t pc, uint64_t counter, const struct found *f,
			uint64_t weight)
{
	struct store_file *file = NULL;
	struct store_key at;

	if (!f->lost) {
		at = key_of(rec, f, (size_t)counter);
		file = store_get(rec->store, &at);
	}
	rec->feature->ops->counted(rec->feature, weight);
	if (file)
		store_add(rec->store, file, pc - f->place.base, weight);
	else
		rec->stats.extended_lost++;
	if (rec->trans.tracing == TRACE_START)
		begin_chain(rec, pc, counter, f, weight);
}

/* Returns whether @counter is a feature's event that the driver counts. */
static bool is_counted(const struct record *rec, uint64_t counter)
{
	return rec->feature && rec->feature->ops->counted && counter >= rec->event_count &&
	       counter - rec->event_count < rec->derived_count;
}

void sample_add(struct record *rec, uint64_t pc, uint64_t counter)
{
	struct transient *t = &rec->trans;
	struct found f = { 0 };
	uint64_t weight = t->weight;
	bool counted;

	t->weight = 1;
	t->size = 0;
	counted = is_counted(rec, counter);
	if (counter >= rec->event_count && !counted) {
		rec->stats.lost_counter += weight;
		return;
	}
	find_place(rec, pc, &f);
	if (t->tracing == TRACE_ON)
		add_caller(rec, pc, &f);
	else if (counted)
		add_counted(rec, pc, counter, &f, weight);
	else
		add_leaf(rec, pc, counter, &f, weight);
}

/* A feature's sample while the feature counts its events. */
struct featuring {
	struct record *rec;
	const struct found *found;
	bool lost;
};

static void count_event(size_t index, uint64_t pc, uint64_t value, void *data)
{
	struct featuring *x = data;
	struct record *rec = x->rec;
	struct store_key at = key_of(rec, x->found, rec->event_count + index);
	struct store_file *file = store_get(rec->store, &at);

	if (!file)
		x->lost = true;
	else
		store_add(rec->store, file, pc - x->found->place.base, value);
}

static void drop_event(size_t index, uint64_t pc, uint64_t value, void *data)
{
	(void)index, (void)pc, (void)value, (void)data;
}

void sample_add_feature(struct record *rec, uint64_t code, const uint64_t *words)
{
	struct found f = { 0 };
	struct featuring x = { .rec = rec, .found = &f };

	rec->trans.size = 0;
	find_place(rec, words[0], &f);
	if (rec->feature->ops->keep && !f.lost) {
		const struct transient *t = &rec->trans;

		relief_leave(rec->relief);
		rec->feature->ops->keep(rec->feature,
					&(struct feature_where){ t->cpu, t->tgid, t->tid,
								 t->app_cookie, t->image_cookie },
					code, words);
		relief_return(rec->relief);
	}
	rec->feature->ops->sample(rec->feature, code, words, f.lost ? drop_event : count_event, &x);
	if (f.lost || x.lost)
		rec->stats.extended_lost++;
}
