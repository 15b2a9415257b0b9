/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/sampler.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "bpf/sample.skel.h"
#include "driver/bpf/sampler_test.h"
#include "symbol/kallsyms.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { LEFT_MAX = 65536 }; /* tasks off their CPUs */
enum { RING_BYTES = 1 << 20, RING_BYTES_OF_CPU = 1 << 20, RING_BYTES_MAX = 64 << 20 };

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
	size_t cpu_count, gate_count;
	size_t places, keys; /* number of places where CPUs count, and of keys at each */
	uint64_t kernel_bytes;
	struct counted *list; /* counts of the last drain */
	size_t room;
	bool round_ended; /* the last round has ended but is not drained yet */
	size_t filling;	  /* number of keys at which a place is nearly full */
	struct sample_counters *per_cpu[SAMPLE_SLOT_COUNT_]; /* as last read */
	const struct sampler_handler *handler;		     /* during a drain */
};

/* Silences libbpf, which prints many lines on a failure. */
static int print_quietly(enum libbpf_print_level level, const char *format, va_list ap)
{
	char text[512];
	int n;

	if (level == LIBBPF_DEBUG || !log_wants(LOG_LEVEL_DEBUG))
		return 0;
	n = vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	log_debug("%s", text);
	return n;
}

static bool is_locked_down(void)
{
	_cleanup_free_ char *text = NULL;

	return path_read("", "/sys/kernel/security/lockdown", &text, NULL) > 0 &&
	       strstr(text, "[confidentiality]");
}

/* Writes to @err why loading failed with @code. */
static int explain(int code, struct error *err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return error_set(err, code, "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	if (is_locked_down())
		return error_set(err, code, "lockdown=confidentiality forbids BPF");
	if (code == -EPERM)
		return error_set(err, code, "BPF needs CAP_BPF and CAP_PERFMON");
	if (code == -EACCES)
		return error_set(err, code, "this kernel's verifier rejects the BPF program");
	return error_errno(err, code, "the BPF program cannot be loaded");
}

/* Bytes of the ring, which call chains go through. */
static uint32_t ring_bytes(const struct sampler_config *config)
{
	uint32_t bytes = RING_BYTES, wanted = RING_BYTES;

	if (config->depth)
		wanted += RING_BYTES_OF_CPU * (uint32_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
	while (bytes < wanted && bytes < RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

/* The number of key slots: a power of two, at least the number of keys. */
static size_t key_slots(const struct sampler *s)
{
	size_t slots = 1;

	while (slots < s->keys)
		slots *= 2;
	return slots;
}

/* Sets the sizes of the maps, which are fixed once the program is loaded. */
static int set_sizes(struct sampler *s, const struct sampler_config *config)
{
	size_t slots = s->places / s->cpu_count; /* that count */
	bool chains = config->depth > 0;
	const struct {
		struct bpf_map *map;
		size_t entries;
	} sizes[] = {
		{ s->skeleton->maps.counts, 2 * s->places * s->keys },
		{ s->skeleton->maps.key_slots, s->places * key_slots(s) },
		{ s->skeleton->maps.gates, s->gate_count },
		{ s->skeleton->maps.scratches, SAMPLE_SLOT_COUNT_ },
		{ s->skeleton->maps.unwindings, slots },
		{ s->skeleton->maps.counters, SAMPLE_SLOT_COUNT_ },
		{ s->skeleton->maps.left, config->offcpu ? LEFT_MAX : 1 },
		{ s->skeleton->maps.ring, ring_bytes(config) },
		{ s->skeleton->maps.chains, chains ? SAMPLER_CHAINS_MAX : 1 },
		{ s->skeleton->maps.table_numbers, chains ? SAMPLE_TABLES_MAX : 1 },
		{ s->skeleton->maps.tables, chains ? SAMPLE_TABLES_MAX : 1 },
		{ s->skeleton->maps.pages, chains ? SAMPLE_PAGES_MAX : 1 },
		{ s->skeleton->maps.rules, chains ? UNWIND_RULES_MAX + 1 : 1 },
		{ s->skeleton->maps.found, chains ? slots * s->cpu_count : 1 },
	};
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(sizes) && r == 0; i++)
		r = bpf_map__set_max_entries(sizes[i].map, (uint32_t)sizes[i].entries);
	return r;
}

/* Disables programs that are not needed, so that only needed ones can make loading fail. */
static void choose_programs(struct sampler *s, const struct sampler_config *config)
{
	(void)bpf_program__set_autoload(s->skeleton->progs.follow_fork, config->follow);
	(void)bpf_program__set_autoload(s->skeleton->progs.follow_exec, config->follow);
	(void)bpf_program__set_autoload(s->skeleton->progs.follow_exit, config->follow);
	(void)bpf_program__set_autoload(s->skeleton->progs.follow_free, config->follow);
	(void)bpf_program__set_autoload(s->skeleton->progs.offcpu_switch, config->offcpu);
}

/* Sets the constants of the program, which are fixed once it is loaded. */
static int configure(struct sampler *s, const struct sampler_config *config)
{
	uint64_t sched_start = 0, sched_end = 0;

	if (config->offcpu)
		kallsyms_scheduler("", &sched_start, &sched_end);
	s->skeleton->rodata_config->config = (struct sample_config){
		.follow = config->follow,
		.keys = (uint32_t)s->keys,
		.key_slots = (uint32_t)key_slots(s),
		.places = (uint32_t)s->places,
		.wake_at = (uint32_t)(s->keys / 2),
		.wake_at_bytes = ring_bytes(config) / 2,
		.depth = MIN(config->depth, (unsigned int)SAMPLE_DEPTH_MAX),
		.by_frame_pointers = config->by_frame_pointers,
		.pass_on = config->pass_on,
		.cgroups = config->cgroups,
		.offcpu_blocked = config->offcpu_blocked,
		.cpus = (uint32_t)s->cpu_count,
		.sched_start = sched_start,
		.sched_end = sched_end,
	};
	choose_programs(s, config);
	return set_sizes(s, config);
}

void sampler_stretch(struct sampler *s, unsigned int cpu, uint32_t stretch)
{
	if (cpu < s->cpu_count)
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

const struct sampler_maps *sampler_maps(const struct sampler *s)
{
	return &s->maps;
}

/* Returns the memory of all maps, which is fixed when they are loaded. */
static uint64_t map_bytes(const struct sampler *s)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	bpf_object__for_each_map(map, s->skeleton->obj)
	{
		_cleanup_free_ char *path = xasprintf("/proc/self/fdinfo/%d", bpf_map__fd(map));
		_cleanup_free_ char *text = NULL;
		const char *line;
		uint64_t memory;

		if (bpf_map__map_flags(map) & BPF_F_MMAPABLE ||
		    path_read(NULL, path, &text, NULL) < 0)
			continue;
		line = strstr(text, "\nmemlock:\t");
		if (line && (line += strlen("\nmemlock:\t"), parse_dec(&line, &memory) == 0))
			bytes += memory;
	}
	return bytes;
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

static int on_message(void *data, void *message, size_t size)
{
	const struct sampler_handler *h = ((struct sampler *)data)->handler;
	const struct sample_image *image = message;
	const struct sample_chain *chain = message;

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
	default: /* SAMPLE_WAKE needs no action */
		break;
	}
	return 0;
}

static size_t counts_bytes(const struct sampler *s)
{
	return 2 * s->places * s->keys * sizeof(*s->counts);
}

static struct sampler_maps descriptors(const struct sample *skeleton)
{
	return (struct sampler_maps){
		.chains = bpf_map__fd(skeleton->maps.chains),
		.chunks = bpf_map__fd(skeleton->maps.chunks),
		.pages = bpf_map__fd(skeleton->maps.pages),
		.rules = bpf_map__fd(skeleton->maps.rules),
		.table_numbers = bpf_map__fd(skeleton->maps.table_numbers),
		.tables = bpf_map__fd(skeleton->maps.tables),
		.wants = bpf_map__fd(skeleton->maps.wants),
	};
}

/* Maps and initialises the memory shared with the loaded program. */
static int share_memory(struct sampler *s)
{
	unsigned int cpu, slot;

	s->maps = descriptors(s->skeleton);
	s->control = &s->skeleton->data_control->control;
	for (slot = 0; slot < SAMPLE_SLOT_COUNT_; slot++)
		s->per_cpu[slot] = xcalloc(s->cpu_count, sizeof(*s->per_cpu[slot]));
	s->gates = sampler_map_memory(bpf_map__fd(s->skeleton->maps.gates),
				      s->gate_count * sizeof(*s->gates));
	if (!s->gates)
		return -errno;
	s->counts = sampler_map_memory(bpf_map__fd(s->skeleton->maps.counts), counts_bytes(s));
	if (!s->counts)
		return -errno;
	for (cpu = 0; cpu < s->cpu_count; cpu++)
		sampler_stretch(s, cpu, STRETCH_ONE);
	sampler_set_text(s, 0, UINT64_MAX);
	s->ring = ring_buffer__new(bpf_map__fd(s->skeleton->maps.ring), on_message, s, NULL);
	return s->ring ? 0 : -errno;
}

/* Lets the program note the executables of all running processes. Because it writes nothing, the
 * kernel pauses (EAGAIN) after each million tasks. */
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

	(void)libbpf_set_print(print_quietly);
	r = libbpf_num_possible_cpus();
	if (r < 0)
		return error_errno(err, r, "cannot read the number of possible CPUs");
	s->cpu_count = (size_t)r;
	s->gate_count = s->cpu_count * SAMPLE_SLOT_COUNT_;
	s->skeleton = sample__open();
	if (!s->skeleton)
		return explain(-errno, err);
	s->places = s->cpu_count * (config->offcpu ? SAMPLE_SLOT_SWITCH + 1 : 1);
	s->keys = config->keys;
	s->filling = config->keys / 8;
	r = configure(s, config);
	if (r == 0)
		r = sample__load(s->skeleton);
	if (r == 0)
		r = share_memory(s);
	if (r == 0)
		r = sample__attach(s->skeleton);
	if (r == 0)
		r = visit_tasks(s);
	if (r < 0)
		return explain(r, err);
	r = sampler_test_self(bpf_program__fd(s->skeleton->progs.test_self), s->control, err);
	if (r < 0)
		return r;
	s->kernel_bytes = map_bytes(s);
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
		(void)munmap(s->gates, s->gate_count * sizeof(*s->gates));
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

	for (i = 0; i < s->gate_count; i++) {
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

	for (i = 0; i < s->gate_count; i++)
		__atomic_store_n(&s->gates[i].used[!(was & 1)], 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->control->memory, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->control->round, was + 1, __ATOMIC_SEQ_CST);
	settle(s);
	s->round_ended = true;
}

/* Lists the counts of a finished round; returns the number of keys. */
static size_t list_counts(struct sampler *s, uint32_t round)
{
	const struct sample_count *all = s->counts + (round & 1) * s->places * s->keys;
	size_t place, count = 0, i;

	for (place = 0; place < s->places; place++, all += s->keys) {
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
		r = (x->cgroup > y->cgroup) - (x->cgroup < y->cgroup);
	if (r == 0)
		r = memcmp(&x->app, &y->app, sizeof(x->app));
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

	for (i = 0; i < s->places; i++)
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
	if (handler->epoch && c->key->place == SAMPLE_KERNEL)
		c->epoch = handler->epoch(c->key->image.moment.at_ns, handler->data);
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
	for (i = 0; i < s->cpu_count; i++)
		for (k = 0; k < words; k++)
			sum[k] += ((const uint64_t *)&per_cpu[i])[k];
}

void sampler_cpu_counters(const struct sampler *s, unsigned int cpu, struct sample_counters *ret)
{
	*ret = cpu < s->cpu_count ? s->per_cpu[SAMPLE_SLOT_EVENT][cpu]
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
	(void)bpf_map_delete_elem(bpf_map__fd(s->skeleton->maps.images), file);
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

size_t sampler_offcpu_end(struct sampler *s, const struct sampler_handler *handler)
{
	uint32_t counter = __atomic_exchange_n(&s->control->offcpu, 0, __ATOMIC_SEQ_CST), tid;
	struct sample_left left;
	uint64_t now_ns, us;
	size_t count = 0;
	int map = bpf_map__fd(s->skeleton->maps.left);

	if (!counter)
		return 0;
	settle(s);
	now_ns = clock_now_ns();
	while (bpf_map_get_next_key(map, NULL, &tid) == 0) {
		if (bpf_map_lookup_elem(map, &tid, &left) == 0 && now_ns > left.since_ns) {
			us = (now_ns - left.since_ns + 500) / 1000;
			left.key.counter = (uint8_t)(counter - 1);
			count++;
			handler->sample(&left.key, handler->number(left.key.chain, handler->data),
					us, handler->data);
		}
		if (bpf_map_delete_elem(map, &tid) < 0)
			break;
	}
	return count;
}
