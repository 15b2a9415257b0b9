/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program in the kernel from outside; skips where such a program cannot be had. */
#include "test.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "identity/cookie.h"
#include "stream/evbuf.h"
#include "interpreter/function_line.h"
#include "perf/perf_event.h"
#include "driver/bpf/bpf_sweep.h"
#include "driver/bpf/sampler.h"
#include "driver/bpf/sampler_chains.h"
#include "driver/bpf/sampler_functions.h"
#include "driver/bpf/sampler_images.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

static struct sampler *open_sampler(const struct sampler_config *config, struct error *err)
{
	struct sampler *s = NULL;

	return sampler_new(config, &s, err) < 0 ? NULL : s;
}

/* An image message with the names of @names, each with its NUL, the last of the path first. */
static struct sample_image *image_of(const char *names, size_t length)
{
	struct sample_image *image = xcalloc(1, sizeof(*image));

	memcpy(image->path, names, length);
	image->length = (uint32_t)length;
	return image;
}

static void paths_are_put_together_from_the_end(void)
{
	static const char names[] = "libc.so.6\0lib\0usr";
	_cleanup_free_ struct sample_image *image = image_of(names, sizeof(names));
	_cleanup_free_ char *path = sampler_image_path(image);

	CHECK_STR(path, "/usr/lib/libc.so.6");
}

static void a_path_that_is_cut_says_so(void)
{
	static const char names[] = "b\0a";
	_cleanup_free_ struct sample_image *image = image_of(names, sizeof(names));
	_cleanup_free_ char *path = NULL;

	image->truncated = 1;
	path = sampler_image_path(image);
	CHECK_STR(path, "/.../a/b");
}

static void a_memfd_is_called_as_the_kernel_calls_it(void)
{
	static const char names[] = "memfd:x";
	_cleanup_free_ struct sample_image *image = image_of(names, sizeof(names));
	_cleanup_free_ char *path = NULL;

	image->nameless = 1;
	path = sampler_image_path(image);
	CHECK_STR(path, "/memfd:x (deleted)");
}

static void one_file_under_two_identities_has_two_cookies(void)
{
	static const char names[] = "x";
	struct cookie_table *cookies = cookie_table_new();
	struct sampler_images *images = sampler_images_new("/nowhere", cookies);
	_cleanup_free_ struct sample_image *image = image_of(names, sizeof(names));
	struct sample_file other = { .inode = 6, .device = 8 << 20 | 1 };
	const struct cookie_image *known;
	uint64_t cookie;

	image->file = image->seen = (struct sample_file){ .inode = 5, .device = 8 << 20 | 1 };
	sampler_images_add(images, image);
	cookie = sampler_images_cookie(images, &image->file, 1, 0);
	known = cookie_lookup(cookies, cookie);
	CHECK(known && known->file.device == ((uint64_t)8 << 32 | 1) && known->file.inode == 5);
	CHECK_EQ(sampler_images_cookie(images, &other, 1, 0), EVBUF_NO_COOKIE);
	/* Told again, it is the same. */
	sampler_images_add(images, image);
	CHECK_EQ(sampler_images_cookie(images, &image->file, 1, 0), cookie);
	sampler_images_free(images);
	cookie_table_free(cookies);
}

struct sum {
	uint64_t samples, images, keys;
};

static void add_sample(const struct sample_key *key, uint32_t callers, uint64_t count, void *data)
{
	(void)key, (void)callers;
	((struct sum *)data)->samples += count;
}

static void add_image(const struct sample_image *image _unused_, void *data)
{
	((struct sum *)data)->images++;
}

static void pass_chain(const struct sample_chain *chain, void *data)
{
	(void)chain, (void)data;
}

/* Spins for so long, draining all the while. */
static void spin_and_drain(struct sampler *s, const struct sampler_handler *handler, double seconds)
{
	double begin = (double)clock() / CLOCKS_PER_SEC;

	while ((double)clock() / CLOCKS_PER_SEC < begin + seconds)
		sampler_drain(s, handler);
}

static void no_count_is_lost_between_the_rounds(void)
{
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s =
		open_sampler(&(struct sampler_config){ .keys = 4096 }, &err);
	struct perf_attrs attrs = { .sample_bytes = 4096 };
	struct sample_counters totals;
	struct sum sum = { 0 };
	const struct sampler_handler handler = {
		.image = add_image, .chain = pass_chain, .sample = add_sample, .data = &sum
	};
	_cleanup_close_ int fd = -1, link = -1;
	struct event event;

	if (!s)
		SKIP("no BPF here");
	event_timer(&event, 3989, true, true);
	fd = perf_event_open_sampling(&attrs, &event, -1, (unsigned int)MAX(sched_getcpu(), 0));
	if (fd < 0)
		SKIP("no event opens");
	link = sampler_attach(fd, 0, s);
	CHECK(link >= 0);
	CHECK_EQ(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	spin_and_drain(s, &handler, 0.3);
	CHECK_EQ(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	sampler_drain(s, &handler);
	sampler_counters(s, SAMPLE_SLOT_EVENT, &totals);
	printf("# %llu samples, %llu images\n", (unsigned long long)sum.samples,
	       (unsigned long long)sum.images);
	CHECK(sum.samples > 100);
	CHECK(sum.images > 0);
	CHECK_EQ(sum.samples + totals.no_mapping + totals.no_tree + totals.filtered +
			 totals.map_full,
		 totals.received);
}

/* Goes round a few instructions, for so long. */
static void spin(double seconds)
{
	double begin = (double)clock() / CLOCKS_PER_SEC;
	volatile uint32_t i;

	while ((double)clock() / CLOCKS_PER_SEC < begin + seconds)
		for (i = 0; i < 10000000; i++)
			;
}

static void add_key(const struct sample_key *key, uint32_t callers, uint64_t count, void *data)
{
	struct sum *sum = data;

	(void)key, (void)callers;
	sum->keys++;
	sum->samples += count;
}

static void what_is_the_same_is_counted_together(void)
{
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s =
		open_sampler(&(struct sampler_config){ .keys = 4096 }, &err);
	struct perf_attrs attrs = { .sample_bytes = 4096 };
	struct sum sum = { 0 };
	const struct sampler_handler handler = {
		.image = add_image, .chain = pass_chain, .sample = add_key, .data = &sum
	};
	_cleanup_close_ int fd = -1, link = -1;
	struct event event;
	int i;

	if (!s)
		SKIP("no BPF here");
	event_timer(&event, 3989, true, true);
	fd = perf_event_open_sampling(&attrs, &event, 0, -1);
	if (fd < 0)
		SKIP("no event opens");
	link = sampler_attach(fd, 0, s);
	CHECK(link >= 0);
	CHECK_EQ(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	/* What the rounds before have left is not found again. */
	for (i = 0; i < 4; i++) {
		sum = (struct sum){ 0 };
		spin(0.1);
		sampler_drain(s, &handler);
		printf("# %llu samples of %llu keys\n", (unsigned long long)sum.samples,
		       (unsigned long long)sum.keys);
		CHECK(sum.samples > 4 * sum.keys);
	}
}

static int keep_words(const uint64_t *words, size_t count, void *data)
{
	struct strbuf *text = data;
	size_t i;

	for (i = 0; i < count; i++)
		strbuf_addf(text, words[i] == EVBUF_ESCAPE ? "- " : "%" PRIx64 " ", words[i]);
	return 0;
}

/* What comes of a sample with the callers @id. */
static const char *words_of(struct sampler_chains *chains, struct evbuf *out, struct strbuf *text,
			    uint64_t id)
{
	const struct evbuf_frame leaf = { EVBUF_KERNEL, 0x10 };
	uint32_t number = sampler_chains_number(chains, id);

	sampler_chains_put(chains, &leaf, number,
			   &(struct evbuf_trace){ 0, 1, sampler_chains_end(chains, number) });
	strbuf_clear(text);
	CHECK_EQ(evbuf_flush(out), 0);
	return strbuf_text(text);
}

static void callers_are_a_number_unless_spelt_out(void)
{
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s =
		open_sampler(&(struct sampler_config){ .keys = 4096, .depth = 64 }, &err);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	static struct sample_chain told = { .kind = SAMPLE_CHAIN,
					    .id = 77,
					    .end = CHAIN_END_COMPLETE,
					    .kernel_count = 2,
					    .words = 2,
					    .data = { 0x20, 0x30 } };
	struct evbuf *out = evbuf_new(256, keep_words, &text);
	struct sampler_chains *chains;

	if (!s)
		SKIP("no BPF here");
	chains = sampler_chains_new(&(struct sampler_chains_config){ .sampler = s, .out = out });
	CHECK_STR(words_of(chains, out, &text, 77), "- 8 - 4 10 0 - 21 e - 9 ");
	sampler_chains_add(chains, &told, 0);
	CHECK_EQ(evbuf_flush(out), 0);
	CHECK_STR(words_of(chains, out, &text, 77), "- 8 10 0 - 25 1 ");
	sampler_chains_spell_out(chains, true);
	CHECK_STR(words_of(chains, out, &text, 77), "- 8 10 0 - 21 e - 9 ");
	sampler_chains_add(chains, &told, 0);
	CHECK_STR(words_of(chains, out, &text, 77), "- 8 10 0 20 0 30 0 - 21 0 - 9 ");
	sampler_chains_spell_out(chains, false);
	sampler_chains_add(chains, &told, 0);
	CHECK_EQ(evbuf_flush(out), 0);
	CHECK_STR(words_of(chains, out, &text, 77), "- 8 10 0 - 25 1 ");
	sampler_chains_free(chains);
	evbuf_free(out);
}

/* A chain that came before the names of its functions is sent again, but not for ever. */
static void a_chain_without_names_is_sent_again(void)
{
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s =
		open_sampler(&(struct sampler_config){ .keys = 4096, .depth = 64 }, &err);
	const struct sample_frame frame = { .place_offset = (uint64_t)SAMPLE_CODE_OBJECT
							    << SAMPLE_FRAME_PLACE_SHIFT,
					    .image.region.start = 5 };
	static struct sample_chain told = { .kind = SAMPLE_CHAIN,
					    .id = 77,
					    .words = SAMPLE_FRAME_WORDS };
	static struct sample_function function = { .kind = SAMPLE_FUNCTION,
						   .id = 5,
						   .name_bytes = 1,
						   .file_bytes = 2,
						   .name = "f",
						   .file = "/f" };
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct cookie_table *cookies = cookie_table_new();
	struct evbuf *out = evbuf_new(1 << 16, keep_words, &text);
	struct sampler_functions *functions;
	struct sampler_chains *chains;
	uint64_t value[64] = { 0 };
	int map, i;

	if (!s)
		SKIP("no BPF here");
	map = sampler_maps(s)->chains[sample_chain_slot(told.id)];
	functions = sampler_functions_new(s, cookies, "");
	chains = sampler_chains_new(&(struct sampler_chains_config){
		.sampler = s, .functions = functions, .cookies = cookies, .out = out });
	memcpy(told.data, &frame, sizeof(frame));
	CHECK_EQ(bpf_map_update_elem(map, &told.id, value, BPF_ANY), 0);
	sampler_chains_add(chains, &told, 0);
	CHECK(bpf_map_lookup_elem(map, &told.id, value) < 0);
	for (i = 0; i < 100; i++) {
		CHECK_EQ(bpf_map_update_elem(map, &told.id, value, BPF_ANY), 0);
		sampler_chains_add(chains, &told, 0);
	}
	CHECK_EQ(bpf_map_lookup_elem(map, &told.id, value), 0);
	CHECK_EQ(bpf_map_delete_elem(map, &told.id), 0);
	told.id += 1ULL << 32;
	sampler_functions_add(functions, &function);
	CHECK_EQ(bpf_map_update_elem(map, &told.id, value, BPF_ANY), 0);
	sampler_chains_add(chains, &told, 0);
	CHECK_EQ(bpf_map_lookup_elem(map, &told.id, value), 0);
	sampler_chains_free(chains);
	sampler_functions_free(functions);
	evbuf_free(out);
	cookie_table_free(cookies);
}

/* A few functions with long tables of lines are reason enough, too. */
static void functions_that_take_much_memory_are_swept(void)
{
	enum { LINES = 1 << 16, FUNCTIONS = 128 };
	_cleanup_free_ struct function_line *lines = xcalloc(LINES, sizeof(*lines));
	struct bpf_samples samples = { .cookies = cookie_table_new(), .now_ns = NS_PER_S };
	struct cookie_function function = {
		.name = (char *)"f", .bytes = 1, .lines = lines, .line_count = LINES
	};
	struct bpf_sweep sweep = { 0 };
	uint64_t i;

	samples.functions = sampler_functions_new(NULL, samples.cookies, "");
	for (i = 0; i < FUNCTIONS; i++) {
		CHECK_EQ(bpf_sweep(&sweep, NULL, &samples), 0);
		if (sweep.stage != BPF_SWEEP_OFF)
			break;
		function.digest = COOKIE_DIGEST_SET + i;
		(void)cookie_source(samples.cookies, "/srv/app.py", &function);
	}
	CHECK(i > FUNCTIONS / 2 && i < FUNCTIONS);
	sampler_functions_free(samples.functions);
	cookie_table_free(samples.cookies);
}

TESTS(T(paths_are_put_together_from_the_end), T(a_path_that_is_cut_says_so),
      T(a_memfd_is_called_as_the_kernel_calls_it), T(one_file_under_two_identities_has_two_cookies),
      T(no_count_is_lost_between_the_rounds), T(what_is_the_same_is_counted_together),
      T(callers_are_a_number_unless_spelt_out), T(a_chain_without_names_is_sent_again),
      T(functions_that_take_much_memory_are_swept))
