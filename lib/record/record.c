/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/record.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "file/procfs.h"
#include "driver/wander.h"
#include "event/cpu_type.h"
#include "event/evderived.h"
#include "helper/relief.h"
#include "history/slice_file.h"
#include "identity/cgroups.h"
#include "record/store/sampled_image.h"
#include "record/feature.h"
#include "record/code/jitting.h"
#include "record/code/source_files.h"
#include "record/store/past.h"
#include "record/stat_writer.h"
#include "record/store/store.h"
#include "record/internal/chain_recorder.h"
#include "record/internal/container_namer.h"
#include "record/internal/sampled_names.h"
#include "record/internal/thread_namer.h"
#include "record/internal/transient.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned int bits;
} separations[] = {
	{ "none", RECORD_SEPARATE_NONE },     { "library", RECORD_SEPARATE_LIB },
	{ "lib", RECORD_SEPARATE_LIB },	      { "kernel", RECORD_SEPARATE_KERNEL },
	{ "thread", RECORD_SEPARATE_THREAD }, { "cpu", RECORD_SEPARATE_CPU },
	{ "cgroup", RECORD_SEPARATE_CGROUP }, { "comm", RECORD_SEPARATE_COMM },
	{ "all", RECORD_SEPARATE_ALL },
};

static int parse_separation(const char *part, void *data)
{
	unsigned int *bits = data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(separations); i++)
		if (!strcmp(part, separations[i].name)) {
			*bits |= separations[i].bits;
			return 0;
		}
	return -EINVAL;
}

int record_separate_parse(const char *text)
{
	unsigned int bits = 0;

	if (!*text || parse_list(text, ',', parse_separation, &bits) < 0)
		return -EINVAL;
	if (bits & RECORD_SEPARATE_KERNEL)
		bits |= RECORD_SEPARATE_LIB;
	return (int)bits;
}

char *record_separate_text(unsigned int bits)
{
	struct strbuf text = STRBUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(separations) && bits; i++) {
		if (!(separations[i].bits & bits))
			continue;
		strbuf_addf(&text, "%s%s", text.length ? "," : "", separations[i].name);
		bits &= ~separations[i].bits;
	}
	if (!text.length)
		strbuf_adds(&text, "none");
	return strbuf_take(&text);
}

/* Copies the events of the configuration, followed by those of the feature. */
static void copy_events(struct record *rec, const struct record_config *config,
			const struct evderived *derived)
{
	struct event *extra;

	rec->event_count = config->event_count;
	rec->events = xcalloc(config->event_count + IBS_EVENTS_MAX + 1, sizeof(*rec->events));
	if (config->event_count)
		memcpy(rec->events, config->events, config->event_count * sizeof(*rec->events));
	extra = rec->events + config->event_count;
	while (evderived_event(derived, rec->derived_count, &extra[rec->derived_count]))
		rec->derived_count++;
}

static bool wants_kernel(const struct record_config *config)
{
	size_t i;

	for (i = 0; i < config->event_count; i++)
		if (config->events[i].kernel)
			return true;
	return false;
}

static void open_kernel(struct record *rec, const struct record_config *config)
{
	struct kernel_images_config kernel = { .root = config->root,
					       .samples = rec->samples,
					       .vmlinux = config->vmlinux,
					       .start = config->kernel_start,
					       .end = config->kernel_end,
					       .absolute = config->no_vmlinux,
					       .wanted = wants_kernel(config),
					       .relief = rec->relief,
					       .binaries = rec->binaries };

	rec->kernel = kernel_images_new(&kernel);
}

static void open_store(struct record *rec, const struct record_config *config)
{
	bool clock = event_clock_only(config->events, config->event_count);
	struct store_config store = { .samples = rec->samples,
				      .events = rec->events,
				      .sample_events = config->event_count,
				      .cpu_type = cpu_type_detect(config->root, clock)->id,
				      .cpu_mhz = procfs_cpu_mhz(config->root),
				      .mapped_max = config->mapped_bytes_max,
				      .keep_ms = config->keep_ms,
				      .open_max = config->open_files_max,
				      .in_turns = config->turn,
				      .relief = rec->relief };

	rec->store = store_new(&store);
}

static void open_jitting(struct record *rec, const struct record_config *config)
{
	struct jitting_config jitting = { .root = config->root,
					  .samples = rec->samples,
					  .memory = config->jit_bytes_max,
					  .attacher = config->attacher,
					  .ops = config->ops,
					  .driver = config->driver,
					  .binaries = rec->binaries,
					  .store = rec->store,
					  .relief = rec->relief };

	rec->jitting = jitting_new(&jitting);
}

/* A feature's files are next to the sessions, as in OProfile 1.x. */
static void keep_next_to_sessions(struct record *rec)
{
	_cleanup_free_ char *directory = path_join(rec->session_dir, "samples");

	rec->feature->ops->keep_in(rec->feature, directory);
}

/* Makes the tables of cgroups and of names of threads. */
static void make_names(struct record *rec)
{
	rec->cgroups = sampled_names_new();
	rec->comms = sampled_names_new();
	rec->trans.cgroup = sampled_names_get(rec->cgroups, CGROUPS_UNKNOWN);
}

int record_new(const struct record_config *config, struct record **ret, struct error *err)
{
	_cleanup_(record_freep) struct record *rec = xcalloc(1, sizeof(*rec));
	static const struct evderived none;
	const struct evderived *derived = config->derived ?: &none;
	int r;

	rec->trans.weight = 1;
	rec->separate = config->separate;
	if (rec->separate & RECORD_SEPARATE_KERNEL)
		rec->separate |= RECORD_SEPARATE_LIB;
	rec->select = config->images != NULL;
	rec->cookies = config->cookies;
	rec->hot = config->hot;
	rec->turn = config->turn;
	rec->relief = config->relief;
	rec->wanders = config->wanders;
	rec->root = xstrdup(config->root ?: "");
	rec->session_dir = xstrdup(config->session_dir);
	rec->session_name = xstrdup(config->session_name);
	rec->command = config->command ? xstrdup(config->command) : NULL;
	rec->samples = session_samples(config->session_dir, config->session_name);
	rec->stat_writer = stat_writer_new(rec->samples);
	rec->feature = feature_new(derived, config->root);
	if (rec->feature && rec->feature->ops->keep_in)
		keep_next_to_sessions(rec);
	copy_events(rec, config, derived);
	rec->binaries = sampled_image_table_new(rec->samples, config->root, config->images,
						config->cookies, rec->relief);
	rec->sources = source_files_new(rec->samples);
	make_names(rec);
	r = sampled_image_open_manifest(rec->binaries, rec->session_dir, rec->session_name, err);
	if (r < 0)
		return r;
	open_store(rec, config);
	rec->trace = chain_recorder_new(
		&(struct chain_recorder_config){ .samples = rec->samples,
						 .events = rec->events,
						 .sample_events = config->event_count,
						 .has_history = config->keep_ms > 0,
						 .relief = rec->relief });
	open_kernel(rec, config);
	if (rec->separate & RECORD_SEPARATE_CGROUP)
		rec->containers = container_namer_new(rec->root, rec->samples);
	if (rec->separate & RECORD_SEPARATE_THREAD)
		rec->threads = thread_namer_new(rec->samples);
	if (config->jit)
		open_jitting(rec, config);
	*ret = STEAL(rec);
	return 0;
}

/* Writes counts that still wait for memory or descriptors. What is lost then is counted now. */
static void end_files(struct record *rec)
{
	uint64_t before = store_lost(rec->store, STORE_LOST_SAMPLES), lost;
	struct error err = ERROR_INIT;

	store_end(rec->store);
	lost = store_lost(rec->store, STORE_LOST_SAMPLES) - before;
	if (!lost)
		return;
	log_error("%" PRIu64 " samples that waited for memory or descriptors are lost (counted in "
		  "stats/lost_samplefile)",
		  lost);
	if (record_flush(rec, true, &err) < 0)
		log_error("%s", err.text);
}

void record_free(struct record *rec)
{
	if (!rec)
		return;
	if (rec->store) { /* NULL: record_new() failed */
		record_sync(rec, true);
		end_files(rec);
	}
	jitting_free(rec->jitting);
	strbuf_done(&rec->name);
	store_free(rec->store);
	chain_recorder_free(rec->trace);
	callers_table_done(&rec->callers);
	kernel_images_free(rec->kernel);
	source_files_free(rec->sources);
	sampled_image_table_free(rec->binaries);
	feature_free(rec->feature);
	container_namer_free(rec->containers);
	thread_namer_free(rec->threads);
	sampled_names_free(rec->cgroups);
	sampled_names_free(rec->comms);
	stat_writer_free(rec->stat_writer);
	free(rec->events);
	free(rec->root);
	free(rec->session_dir);
	free(rec->session_name);
	free(rec->samples);
	free(rec->command);
	free(rec);
}

/* When the first run into this session began; that is @now if there was none. */
static uint64_t began_at(const struct record *rec, uint64_t now)
{
	struct setup old = { 0 };
	uint64_t began;

	if (setup_read(rec->samples, &old, NULL) < 0)
		return now;
	began = old.began ?: old.started;
	setup_done(&old);
	return began ?: now;
}

int record_write_setup(const struct record *rec, const char *driver, struct error *err)
{
	bool clock = event_clock_only(rec->events, rec->event_count);
	struct setup s = { .driver = xstrdup(driver) };
	const struct event *e;
	int r;

	s.cpu_type = xstrdup(cpu_type_detect(rec->root, clock)->key);
	s.separate = record_separate_text(rec->separate);
	s.command = rec->command ? xstrdup(rec->command) : NULL;
	setup_describe_machine(&s, rec->root);
	if (event_user_only(rec->events, rec->event_count))
		s.rights = xstrdup("user space only");
	s.began = began_at(rec, s.started);
	s.wander = rec->wanders ? WANDER_MOST : 0;
	for (e = rec->events; e < rec->events + rec->event_count + rec->derived_count; e++)
		setup_add_event(&s, e->name, e->count, e->unit_mask, e->rate_hz);
	r = session_create(rec->session_dir, rec->session_name, err);
	if (r == 0)
		r = setup_write(rec->samples, &s, err);
	setup_done(&s);
	return r;
}

bool record_kernel_text(const struct record *rec, uint64_t *ret_start, uint64_t *ret_end)
{
	return kernel_images_text(rec->kernel, ret_start, ret_end);
}

void record_prepare(struct record *rec)
{
	kernel_images_prepare(rec->kernel);
}

bool record_slice_is_full(const struct record *rec)
{
	const struct past *past = store_past(rec->store);

	return past && past_is_full(past);
}

int record_end_slice(struct record *rec, const struct slice *slice, struct error *err)
{
	struct past *past = store_past(rec->store);

	struct slice own = *slice;
	int chains, counts;

	if (!past)
		return 0;
	relief_leave(rec->relief);
	counts = past_end_slice(past, &own, err);
	/* In any case: the next slice must not get these chains. The first error is reported. */
	chains = chain_recorder_end_slice(rec->trace, &own, counts < 0 ? NULL : err);
	relief_return(rec->relief);
	return counts < 0 ? counts : chains;
}

uint32_t record_generation(const struct record *rec)
{
	const struct past *past = store_past(rec->store);

	return past ? past_generation(past) : 0;
}

unsigned int record_can_shed(const struct record *rec)
{
	bool apart = rec->separate & (RECORD_SEPARATE_THREAD | RECORD_SEPARATE_CPU);

	return (rec->chains_seen ? RECORD_SHED_CHAINS : 0u) |
	       (rec->jitting ? RECORD_SHED_JIT : 0u) | (apart ? RECORD_SHED_THREADS : 0u);
}

void record_shed(struct record *rec, unsigned int what)
{
	if (what == rec->shed)
		return;
	rec->trans.size = 0;
	record_settle_shed(rec);
	if (what & ~rec->shed & RECORD_SHED_JIT && rec->jitting)
		jitting_settle(rec->jitting, clock_now_ns());
	if (what & ~rec->shed & RECORD_SHED_CHAINS)
		chain_recorder_close(rec->trace);
	rec->shed = what & record_can_shed(rec);
	rec->shed_since = rec->stats.samples;
}

void record_count_pause(struct record *rec)
{
	rec->stats.shed_pauses++;
}

void record_count_undone(struct record *rec)
{
	rec->stats.shed_undone++;
}

void record_end_pair(struct record *rec)
{
	chain_recorder_end_pair(rec->trace);
}

void record_yield_files(struct record *rec)
{
	rec->yield_tick = store_tick(rec->store);
	(void)record_tend_files(rec);
}

void record_renew_files(struct record *rec)
{
	rec->renew_tick = store_tick(rec->store);
}

bool record_renews(const struct record *rec)
{
	return rec->renew_tick;
}

/* Forgets the names of cgroups and threads, but for those of the current task: nothing refers to
 * them any more. */
static void forget_names(struct record *rec)
{
	const struct transient *t = &rec->trans;
	_cleanup_free_ char *cgroup = t->cgroup ? xstrdup(t->cgroup) : NULL;
	_cleanup_free_ char *comm = t->comm ? xstrdup(t->comm) : NULL;

	sampled_names_forget(rec->cgroups);
	sampled_names_forget(rec->comms);
	rec->trans.cgroup = sampled_names_get(rec->cgroups, cgroup);
	rec->trans.comm = sampled_names_get(rec->comms, comm);
}

/* Forgets what belongs to the session, and closes what is still open. */
static void forget_files(struct record *rec)
{
	source_files_forget(rec->sources);
	chain_recorder_close(rec->trace);
	if (store_past(rec->store))
		past_leave(store_past(rec->store));
	kernel_images_forget(rec->kernel);
	if (rec->containers)
		container_namer_forget(rec->containers);
	if (rec->threads)
		thread_namer_forget(rec->threads);
	sampled_image_forget(rec->binaries);
	forget_names(rec);
}

int record_close_files(struct record *rec, struct error *err)
{
	int r;

	record_sync(rec, true);
	end_files(rec);
	r = record_flush(rec, true, err);
	if (rec->jitting)
		jitting_forget(rec->jitting);
	store_close_all(rec->store);
	relief_leave(rec->relief);
	forget_files(rec);
	relief_return(rec->relief);
	rec->trans.app_known = false;
	rec->trans.app = NULL;
	rec->trans.size = 0;
	rec->flush_tick = rec->yield_tick = rec->renew_tick = 0;
	rec->session_ready = false;
	return r;
}

size_t record_hour_memory(const struct record *rec)
{
	const struct past *past = store_past(rec->store);

	return chain_recorder_memory(rec->trace) + (past ? past_memory(past) : 0);
}

size_t record_open_files(const struct record *rec, size_t *ret_mapped)
{
	size_t mapped, files = store_open_files(rec->store, &mapped);

	if (ret_mapped)
		*ret_mapped = mapped + record_hour_memory(rec);
	return files;
}
