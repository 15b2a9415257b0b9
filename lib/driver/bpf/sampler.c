/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/sampler.h"

#include "base/mem.h"
#include "bpf/sample.skel.h"
#include "driver/bpf/offcpu_left.h"
#include "driver/bpf/sampler_test.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct counted {
	const struct sample_key *key;
	uint64_t count;
	uint32_t callers, epoch;
};

struct sampler {
	struct sample *skeleton;
	struct ring_buffer *ring;
	struct sampler_maps maps;
	struct sample_control *control; /* shared with the program */
	struct sample_gate *gates;	/* shared, by CPU and slot */
	struct sample_count *counts;	/* shared, by round and place */
	struct sampler_sizes sizes;
	uint64_t kernel_bytes;
	struct counted *list; /* counts of the last drain */
	size_t room;
	bool round_ended; /* the last round has ended but is not drained yet */
	size_t filling;	  /* number of keys at which a place is nearly full */
	struct sample_counters *per_cpu[SAMPLE_SLOT_COUNT_]; /* as last read */
	const struct sampler_handler *handler;		     /* during a drain */
};

void sampler_stretch(struct sampler *s, unsigned int cpu, uint32_t stretch)
{
	if (cpu < s->sizes.cpus)
		__atomic_store_n(&s->gates[cpu].stretch, MAX(stretch, (uint32_t)STRETCH_ONE),
				 __ATOMIC_SEQ_CST);
}

void sampler_set_text(struct sampler *s, uint64_t start, uint64_t end)
{
	__atomic_store_n(&s->control->text_start, start, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->control->text_bytes, end - start, __ATOMIC_SEQ_CST);
}

bool sampler_is_passing(const struct sampler *s, uint64_t address)
{
	return address - s->control->text_start >= s->control->text_bytes;
}

uint32_t sampler_tables(const struct sampler *s)
{
	return s->sizes.tables;
}

uint32_t sampler_codes_max(const struct sampler *s)
{
	return s->sizes.codes;
}

void sampler_set_codes(struct sampler *s, uint32_t count)
{
	s->control->codes = count;
}

void sampler_renew_names(struct sampler *s)
{
	(void)__atomic_fetch_add(&s->control->names, 1, __ATOMIC_SEQ_CST);
}

const struct sampler_maps *sampler_maps(const struct sampler *s)
{
	return &s->maps;
}

uint64_t sampler_kernel_bytes(const struct sampler *s)
{
	return s->kernel_bytes;
}

void *sampler_map_memory(int map, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct ring_buffer *sampler_rings(const int *maps, size_t count,
				  int (*on_message)(void *data, void *message, size_t bytes),
				  void *data)
{
	struct ring_buffer *rings = ring_buffer__new(maps[0], on_message, data, NULL);
	size_t i;
	int r;

	for (i = 1; i < count && rings; i++) {
		r = ring_buffer__add(rings, maps[i], on_message, data);
		if (r < 0) {
			ring_buffer__free(rings);
			errno = -r;
			rings = NULL;
		}
	}
	return rings;
}

static int on_message(void *data, void *message, size_t size)
{
	const struct sampler_handler *h = ((struct sampler *)data)->handler;
	const struct sample_image *image = message;
	const struct sample_chain *chain = message;
	const struct sample_function *function = message;

	if (!h || size < sizeof(uint32_t))
		return 0;
	switch (*(const uint32_t *)message) {
	case SAMPLE_IMAGE:
		if (size >= offsetof(struct sample_image, path) &&
		    size >= offsetof(struct sample_image, path) + image->length)
			h->image(image, h->data);
		break;
	case SAMPLE_CHAIN:
		if (size >= offsetof(struct sample_chain, data) &&
		    size >= offsetof(struct sample_chain, data) + chain->words * sizeof(uint64_t))
			h->chain(chain, h->data);
		break;
	case SAMPLE_FUNCTION:
		if (h->function && size >= offsetof(struct sample_function, lines) &&
		    size >= offsetof(struct sample_function, lines) + function->lines_bytes)
			h->function(function, h->data);
		break;
	case SAMPLE_DOUBT:
		if (h->doubt && size >= sizeof(struct sample_doubt))
			h->doubt(message, h->data);
		break;
	default: /* SAMPLE_WAKE needs no action */
		break;
	}
	return 0;
}

static size_t counts_bytes(const struct sampler *s)
{
	return 2 * s->sizes.places * s->sizes.keys * sizeof(*s->counts);
}

static struct sampler_maps descriptors(const struct sample *skeleton)
{
	return (struct sampler_maps){
		.chunks = bpf_map__fd(skeleton->maps.chunks),
		.codes = bpf_map__fd(skeleton->maps.codes),
		.copies = bpf_map__fd(skeleton->maps.copies),
		.executables = bpf_map__fd(skeleton->maps.executables),
		.followed = skeleton->rodata_config->config.follow
				    ? bpf_map__fd(skeleton->maps.followed)
				    : -1,
		.left = bpf_map__fd(skeleton->maps.left),
		.pages = bpf_map__fd(skeleton->maps.pages),
		.interpreters = bpf_map__fd(skeleton->maps.interpreters),
		.rules = bpf_map__fd(skeleton->maps.rules),
		.table_numbers = bpf_map__fd(skeleton->maps.table_numbers),
		.tables = bpf_map__fd(skeleton->maps.tables),
		.chains = { [SAMPLE_SLOT_EVENT] = bpf_map__fd(skeleton->maps.event_chains),
			    [SAMPLE_SLOT_SWITCH] = bpf_map__fd(skeleton->maps.switch_chains) },
		.functions = { [SAMPLE_SLOT_EVENT] = bpf_map__fd(skeleton->maps.event_functions),
			       [SAMPLE_SLOT_SWITCH] =
				       bpf_map__fd(skeleton->maps.switch_functions) },
		.wants = { [SAMPLE_SLOT_EVENT] = bpf_map__fd(skeleton->maps.event_wants),
			   [SAMPLE_SLOT_SWITCH] = bpf_map__fd(skeleton->maps.switch_wants) },
	};
}

/* The kernel's number of the program @fd; 0, which no program has, if it cannot be read. */
static uint32_t program_number(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &bytes) < 0 ? 0 : info.id;
}

/* Maps and initialises the memory shared with the loaded program. */
static int share_memory(struct sampler *s)
{
	const int rings[] = { bpf_map__fd(s->skeleton->maps.event_ring),
			      bpf_map__fd(s->skeleton->maps.switch_ring),
			      bpf_map__fd(s->skeleton->maps.process_ring) };
	unsigned int cpu, slot;

	s->maps = descriptors(s->skeleton);
	s->control = &s->skeleton->data_control->control;
	s->control->program = program_number(bpf_program__fd(s->skeleton->progs.take_sample));
	for (slot = 0; slot < SAMPLE_SLOT_COUNT_; slot++)
		s->per_cpu[slot] = xcalloc(s->sizes.cpus, sizeof(*s->per_cpu[slot]));
	s->gates = sampler_map_memory(bpf_map__fd(s->skeleton->maps.gates),
				      s->sizes.gates * sizeof(*s->gates));
	if (!s->gates)
		return -errno;
	s->counts = sampler_map_memory(bpf_map__fd(s->skeleton->maps.counts), counts_bytes(s));
	if (!s->counts)
		return -errno;
	for (cpu = 0; cpu < s->sizes.cpus; cpu++)
		sampler_stretch(s, cpu, STRETCH_ONE);
	sampler_set_text(s, 0, UINT64_MAX);
	s->ring = sampler_rings(rings, ARRAY_SIZE(rings), on_message, s);
	return s->ring ? 0 : -errno;
}

/* Has the program note what all processes execute. The kernel pauses (EAGAIN) now and then. */
static int visit_tasks(const struct sampler *s)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(s->skeleton->links.app_each));
	ssize_t n = -1;
	char end;

	while (fd >= 0 && (n = read(fd, &end, sizeof(end))) < 0 && errno == EAGAIN)
		;
	return n < 0 ? -errno : 0;
}

int sampler_new(const struct sampler_config *config, struct sampler **ret, struct error *err)
{
	_cleanup_(sampler_freep) struct sampler *s = xcalloc(1, sizeof(*s));
	int r;

	r = sampler_load(config, &s->sizes, &s->skeleton, err);
	if (r < 0)
		return r;
	s->filling = config->keys / 8;
	r = share_memory(s);
	if (r == 0)
		r = sample__attach(s->skeleton);
	if (r == 0)
		r = visit_tasks(s);
	if (r < 0)
		return sampler_load_explain(r, err);
	r = sampler_test_self(bpf_program__fd(s->skeleton->progs.test_self), s->control, err);
	if (r < 0)
		return r;
	s->kernel_bytes = sampler_load_bytes(s->skeleton);
	*ret = STEAL(s);
	return 0;
}

void sampler_free(struct sampler *s)
{
	size_t i;

	if (!s)
		return;
	ring_buffer__free(s->ring);
	if (s->gates)
		(void)munmap(s->gates, s->sizes.gates * sizeof(*s->gates));
	if (s->counts)
		(void)munmap(s->counts, counts_bytes(s));
	sample__destroy(s->skeleton);
	for (i = 0; i < SAMPLE_SLOT_COUNT_; i++)
		free(s->per_cpu[i]);
	free(s->list);
	free(s);
}

int sampler_attach(int fd, unsigned int counter, void *sampler)
{
	const struct sampler *s = sampler;
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = counter);
	int link = bpf_link_create(bpf_program__fd(s->skeleton->progs.take_sample), fd,
				   BPF_PERF_EVENT, &opts);

	return link < 0 ? -errno : link;
}

int sampler_fd(const struct sampler *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

/* Waits until no CPU runs the program with the previously active map. An interrupt takes a few
 * microseconds; a virtual CPU that is not scheduled takes longer. */
static void settle(const struct sampler *s)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	uint64_t passes;
	size_t i;

	for (i = 0; i < s->sizes.gates; i++) {
		passes = __atomic_load_n(&s->gates[i].passes, __ATOMIC_SEQ_CST);
		while (passes & 1 &&
		       __atomic_load_n(&s->gates[i].passes, __ATOMIC_SEQ_CST) == passes)
			(void)nanosleep(&pause, NULL);
	}
}

void sampler_forget_tables(const struct sampler *s)
{
	(void)__atomic_fetch_add(&s->control->tables, 1, __ATOMIC_SEQ_CST);
	settle(s);
}

void sampler_end_round(struct sampler *s)
{
	uint32_t was = s->control->round;
	size_t i;

	for (i = 0; i < s->sizes.gates; i++)
		__atomic_store_n(&s->gates[i].used[!(was & 1)], 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->control->memory, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->control->round, was + 1, __ATOMIC_SEQ_CST);
	settle(s);
	s->round_ended = true;
}

/* Lists the counts of a finished round; returns the number of keys. */
static size_t list_counts(struct sampler *s, uint32_t round)
{
	const struct sample_count *all = s->counts + (round & 1) * s->sizes.places * s->sizes.keys;
	size_t place, count = 0, i;

	for (place = 0; place < s->sizes.places; place++, all += s->sizes.keys) {
		size_t n = s->gates[place].used[round & 1];

		array_grow(&s->list, count + n, &s->room);
		for (i = 0; i < n; i++)
			s->list[count++] = (struct counted){ &all[i].key, all[i].count, 0, 0 };
	}
	return count;
}

/* Orders by epoch, then by the parts of the context, those costliest to change first. Callers found
 * soon after each other have close numbers, and much in common. */
static int compare(const void *a, const void *b)
{
	const struct counted *p = a, *q = b;
	const struct sample_key *x = p->key, *y = q->key;
	int r = (p->epoch > q->epoch) - (p->epoch < q->epoch);

	if (r == 0)
		r = (x->cpu > y->cpu) - (x->cpu < y->cpu);
	if (r == 0)
		r = (x->tgid > y->tgid) - (x->tgid < y->tgid);
	if (r == 0)
		r = (x->tid > y->tid) - (x->tid < y->tid);
	if (r == 0)
		r = ((x->cgroup > y->cgroup) - (x->cgroup < y->cgroup))
			    ?: memcmp(x->comm, y->comm, sizeof(x->comm));
	r = r ? r : memcmp(&x->app, &y->app, sizeof(x->app));
	if (r == 0)
		r = (p->callers > q->callers) - (p->callers < q->callers);
	if (r == 0)
		r = memcmp(&x->image, &y->image, sizeof(x->image));
	return r ? r : (x->offset > y->offset) - (x->offset < y->offset);
}

void sampler_listen(struct sampler *s, const struct sampler_handler *handler)
{
	s->handler = handler;
	(void)ring_buffer__consume(s->ring);
	s->handler = NULL;
}

bool sampler_is_filling(const struct sampler *s)
{
	unsigned int odd = s->control->round & 1;
	size_t i;

	for (i = 0; i < s->sizes.places; i++)
		if (__atomic_load_n(&s->gates[i].used[odd], __ATOMIC_RELAXED) >= s->filling)
			return true;
	return false;
}

bool sampler_met_memory(const struct sampler *s)
{
	return __atomic_load_n(&s->control->memory, __ATOMIC_RELAXED);
}

/* Fills in the number and epoch of @c from the handler. */
static void ask(struct counted *c, const struct sampler_handler *handler)
{
	if (handler->number)
		c->callers = handler->number(c->key->chain, handler->data);
	if (handler->epoch && sample_key_moment(c->key))
		c->epoch = handler->epoch(sample_key_moment(c->key), handler->data);
}

void sampler_drain(struct sampler *s, const struct sampler_handler *handler)
{
	size_t i, n;

	if (!s->round_ended)
		sampler_end_round(s);
	s->round_ended = false;
	sampler_listen(s, handler);
	n = list_counts(s, s->control->round - 1);
	for (i = 0; i < n; i++)
		ask(&s->list[i], handler);
	if (n)
		qsort(s->list, n, sizeof(*s->list), compare);
	for (i = 0; i < n; i++)
		handler->sample(s->list[i].key, s->list[i].callers, s->list[i].count,
				handler->data);
}

uint32_t sampler_drains(const struct sampler *s)
{
	return __atomic_load_n(&s->control->round, __ATOMIC_RELAXED);
}

void sampler_counters(const struct sampler *s, enum sample_slot slot, struct sample_counters *ret)
{
	struct sample_counters *per_cpu = s->per_cpu[slot];
	const uint32_t key = slot;
	uint64_t *sum = (uint64_t *)ret;
	size_t i, k, words = sizeof(*ret) / sizeof(*sum);

	*ret = (struct sample_counters){ 0 };
	if (bpf_map_lookup_elem(bpf_map__fd(s->skeleton->maps.counters), &key, per_cpu) < 0)
		return;
	for (i = 0; i < s->sizes.cpus; i++)
		for (k = 0; k < words; k++)
			sum[k] += ((const uint64_t *)&per_cpu[i])[k];
}

void sampler_cpu_counters(const struct sampler *s, unsigned int cpu, struct sample_counters *ret)
{
	*ret = cpu < s->sizes.cpus ? s->per_cpu[SAMPLE_SLOT_EVENT][cpu]
				   : (struct sample_counters){ 0 };
}

int sampler_identify(const struct sampler *s, int fd, struct sample_file *ret)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	/* The program only looks for code. */
	void *p = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	int r;

	if (p == MAP_FAILED)
		return -errno;
	r = sampler_test_address(bpf_program__fd(s->skeleton->progs.test_self), s->control,
				 (uintptr_t)p);
	(void)munmap(p, bytes);
	if (r == 0)
		*ret = s->control->test_file;
	return r;
}

void sampler_forget_image(struct sampler *s, const struct sample_file *file)
{
	const struct bpf_map *images[] = { s->skeleton->maps.event_images,
					   s->skeleton->maps.switch_images,
					   s->skeleton->maps.process_images };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(images); i++)
		(void)bpf_map_delete_elem(bpf_map__fd(images[i]), file);
}

int sampler_follow(struct sampler *s, uint32_t tgid, enum sample_follow state)
{
	const uint32_t value = state;
	int followed = bpf_map__fd(s->skeleton->maps.followed);

	if (bpf_map_update_elem(followed, &tgid, &value, BPF_NOEXIST) < 0)
		return errno == EEXIST ? 0 : -errno;
	(void)__atomic_fetch_add(&s->control->followed, 1, __ATOMIC_SEQ_CST);
	return 0;
}

bool sampler_any_followed(const struct sampler *s)
{
	return __atomic_load_n(&s->control->followed, __ATOMIC_SEQ_CST) > 0;
}

void sampler_offcpu(struct sampler *s, unsigned int counter)
{
	__atomic_store_n(&s->control->offcpu, counter + 1, __ATOMIC_SEQ_CST);
}

size_t sampler_offcpu_end(struct sampler *s, const struct sampler_handler *h,
			  struct offcpu_squares squares[SAMPLE_OFFCPU_EVENTS])
{
	const struct sample_config *config = &s->skeleton->rodata_config->config;
	const struct offcpu_left from = { .left = bpf_map__fd(s->skeleton->maps.left),
					  .wakers = bpf_map__fd(s->skeleton->maps.wakers),
					  .min_us = config->offcpu_min_us };
	uint32_t counter = __atomic_exchange_n(&s->control->offcpu, 0, __ATOMIC_SEQ_CST);

	if (!counter)
		return 0;
	settle(s);
	return offcpu_left_take(&from, counter - 1, h, squares);
}
