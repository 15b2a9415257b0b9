/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/bpf_samples.h"

#include "base/mem.h"
#include "identity/cgroups.h"
#include "identity/cookie.h"
#include "driver/bpf/sampler_chains.h"
#include "driver/bpf/sampler_functions.h"
#include "driver/bpf/sampler_images.h"
#include "driver/bpf/waker_names.h"

#include <string.h>

static void on_image(const struct sample_image *image, void *data)
{
	const struct bpf_samples *d = data;

	sampler_images_add(d->images, image);
}

static void on_chain(const struct sample_chain *chain, void *data)
{
	const struct bpf_samples *d = data;

	if (d->chains)
		sampler_chains_add(d->chains, chain, d->now_ns);
}

/* Writes the name of code that a process has generated to the event buffer. */
static void put_generated(const struct bpf_samples *d, const struct sample_function *f)
{
	const struct sample_method *m = sample_function_method(f);
	_cleanup_free_ char *name = sampler_functions_generated(f);

	evbuf_generated(d->out, f->tgid, &(struct evbuf_generated){ m->code, m->bytes, name });
}

static void on_function(const struct sample_function *function, void *data)
{
	const struct bpf_samples *d = data;

	if (sample_function_is_generated(function))
		put_generated(d, function);
	else if (d->functions)
		sampler_functions_add(d->functions, function);
}

/* Has the memory compared before samples and chains there are looked at. */
static void on_doubt(const struct sample_doubt *doubt, void *data)
{
	static const struct sample_file none = { 0 };
	const struct cookie_mapped where = { .tgid = doubt->memory.tgid };
	const struct bpf_samples *d = data;
	bool is_file = memcmp(&doubt->file, &none, sizeof(none)) != 0;
	uint64_t offset = 0, cookie;

	cookie = is_file ? sampler_images_cookie(d->images, &doubt->file, where.tgid, d->now_ns)
			 : cookie_anon(d->cookies, where.tgid, doubt->memory.region.start,
				       doubt->memory.region.end, "anon");
	if (cookie == EVBUF_NO_COOKIE)
		return;
	cookie_doubt(d->cookies, cookie);
	(void)cookie_original(d->cookies, cookie, &where, &offset);
}

static uint32_t number_of(uint64_t chain, void *data)
{
	const struct bpf_samples *d = data;

	return d->chains ? sampler_chains_number(d->chains, chain) : 0;
}

static uint32_t epoch_of(uint64_t at_ns, void *data)
{
	const struct bpf_samples *d = data;

	return kernel_events_epoch(&d->codes, at_ns);
}

/* The application; EVBUF_NO_COOKIE if unknown. */
static uint64_t app_of(struct bpf_samples *d, const struct sample_key *key)
{
	switch ((enum sample_app)key->app_kind) {
	case SAMPLE_APP_FILE:
		return sampler_images_cookie(d->images, &key->app.file, key->tgid, d->now_ns);
	case SAMPLE_APP_THREAD:
		return cookie_thread(d->cookies, key->app.comm);
	case SAMPLE_APP_UNKNOWN:
	case SAMPLE_APP_COUNT_:
		break;
	}
	return EVBUF_NO_COOKIE;
}

static uint64_t region_cookie(struct bpf_samples *d, const struct sample_key *key)
{
	static const char *const labels[] = {
		[SAMPLE_ANON] = "anon",
		[SAMPLE_HEAP] = "[heap]",
		[SAMPLE_STACK] = "[stack]",
	};

	return cookie_anon(d->cookies, key->tgid, key->image.region.start, key->image.region.end,
			   labels[key->place]);
}

/* The image; EVBUF_NO_COOKIE if unknown. */
static uint64_t image_of(struct bpf_samples *d, const struct sample_key *key)
{
	switch ((enum sample_place)key->place) {
	case SAMPLE_FILE:
		return sampler_images_cookie(d->images, &key->image.file, key->tgid, d->now_ns);
	case SAMPLE_VDSO:
		return cookie_vdso(d->cookies);
	case SAMPLE_VDSO_32:
		return cookie_vdso_32(d->cookies, key->image.region.end);
	case SAMPLE_ANON:
	case SAMPLE_HEAP:
	case SAMPLE_STACK:
		return region_cookie(d, key);
	case SAMPLE_CODE_OBJECT:
		return sampler_functions_cookie(d->functions, key->image.region.start);
	case SAMPLE_WAKER:
		return waker_names_cookie(d->cookies, key);
	case SAMPLE_KERNEL:
	case SAMPLE_PLACE_COUNT_:
		break;
	}
	return EVBUF_NO_COOKIE;
}

static void set_context(struct bpf_samples *d, const struct sample_key *key, uint64_t app)
{
	struct evbuf_context context = {
		.cpu = key->cpu, .tgid = key->tgid, .tid = key->tid, .app = app
	};

	if (d->cgroups)
		context.cgroup = cgroups_cookie(d->cgroups, key->cgroup, d->now_ns);
	if (d->comms)
		context.comm = cookie_comm(d->cookies, key->comm);
	evbuf_context(d->out, &context);
}

/* Samples of one key. */
struct counted {
	const struct sample_key *key;
	uint32_t callers; /* their number, or 0 */
	uint64_t count;
	bool is_in_copy; /* of a file's text */
};

/* Writes the samples at @leaf to the event buffer, with their callers if requested. */
static void put(struct bpf_samples *d, const struct counted *s, const struct evbuf_frame *leaf)
{
	struct evbuf_trace trace = { .counter = s->key->counter, .weight = s->count };
	uint64_t aborted = evbuf_cut_chains(d->out);
	uint32_t callers = s->callers;

	if (d->chains)
		trace.end = sampler_chains_end(d->chains, callers);
	if (d->chains && s->is_in_copy && sampler_chains_end_in_copy(d->chains, callers)) {
		trace.end = CHAIN_END_MOVED;
		callers = 0;
	}
	if (d->chains)
		sampler_chains_put(d->chains, leaf, callers, &trace);
	else if (leaf->cookie == EVBUF_KERNEL)
		evbuf_kernel_sample(d->out, leaf->offset, s->key->counter, s->count);
	else
		evbuf_sample(d->out, leaf->cookie, leaf->offset, s->key->counter, s->count);
	perf_cpuset_totals(d->cpus, s->key->cpu)->backtrace_aborted +=
		evbuf_cut_chains(d->out) - aborted;
}

void bpf_samples_let_come(struct bpf_samples *s, uint64_t until_ns)
{
	struct kernel_code code;

	while (kernel_events_take(&s->codes, until_ns, &code)) {
		evbuf_kernel_code(s->out, code.start, code.length, code.cookie);
		if (s->chains)
			sampler_chains_tell_again(s->chains, code.start, code.length);
	}
}

/* Writes the samples whose place is no memory of a process: kernel code, or a waker. */
static void put_of_kernel(struct bpf_samples *d, const struct counted *s, uint64_t app)
{
	struct evbuf_frame leaf = { EVBUF_KERNEL, s->key->offset };

	bpf_samples_let_come(d, sample_key_moment(s->key));
	if (s->key->place == SAMPLE_WAKER)
		leaf = (struct evbuf_frame){ image_of(d, s->key), 0 };
	/* The place is known even if the application is not. */
	set_context(d, s->key, app == EVBUF_NO_COOKIE ? cookie_thread(d->cookies, "unknown") : app);
	put(d, s, &leaf);
}

static void on_sample(const struct sample_key *key, uint32_t callers, uint64_t count, void *data)
{
	struct counted s = { key, callers, count, false };
	struct bpf_samples *d = data;
	struct evbuf_frame leaf = { .offset = key->offset };
	uint64_t app = app_of(d, key), mapped;

	if (key->counter < d->offcpu)
		d->drained += count;
	if (key->place == SAMPLE_KERNEL || key->place == SAMPLE_WAKER) {
		put_of_kernel(d, &s, app);
		return;
	}
	leaf.cookie = image_of(d, key);
	if (leaf.cookie == EVBUF_NO_COOKIE) {
		if (key->counter >= d->offcpu)
			d->offcpu_no_path++;
		else
			d->lost_no_path += count;
		return;
	}
	mapped = leaf.cookie;
	leaf.cookie = cookie_original(d->cookies, mapped,
				      &(struct cookie_mapped){ .tgid = key->tgid }, &leaf.offset);
	s.is_in_copy = leaf.cookie != mapped;
	set_context(d, key, app);
	put(d, &s, &leaf);
}

void bpf_samples_open_chains(struct bpf_samples *s, struct sampler *sampler)
{
	s->functions = sampler_functions_new(sampler, s->cookies, "");
	s->chains = sampler_chains_new(&(struct sampler_chains_config){
		sampler, s->images, s->functions, s->cookies, s->out });
}

void bpf_samples_close_chains(struct bpf_samples *s)
{
	sampler_chains_free(s->chains);
	sampler_functions_free(s->functions);
	s->chains = NULL;
	s->functions = NULL;
}

void bpf_samples_count_scripts(const struct sampler *sampler, struct driver_stats *s)
{
	struct sample_counters events, switches;

	sampler_counters(sampler, SAMPLE_SLOT_EVENT, &events);
	sampler_counters(sampler, SAMPLE_SLOT_SWITCH, &switches);
#define X(name) s->name = events.name + switches.name;
	X(script_no_thread)
	X(script_bad_frame)
	X(script_bad_code)
	X(script_unreadable)
	X(script_ring_full)
#undef X
}

struct sampler_handler bpf_samples_handler(struct bpf_samples *s)
{
	return (struct sampler_handler){
		.image = on_image,
		.chain = on_chain,
		.function = on_function,
		.doubt = on_doubt,
		.sample = on_sample,
		.number = number_of,
		.epoch = epoch_of,
		.data = s,
	};
}
