/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random event buffers: what comes in is recorded or counted as lost. */
#include "record_bench.h"

#include "sfile/session.h"

#include <sys/mman.h>
#include <sys/syscall.h>

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 16;
}

/* Words of whole records of all kinds; returns the weight of the samples that are no callers. */
static uint64_t random_stream(uint64_t *words, size_t *ret_count, uint64_t seed)
{
	static const uint64_t codes[] = { EVBUF_KERNEL_ENTER,  EVBUF_USER_ENTER, EVBUF_USER_ENTER,
					  EVBUF_MODULE_LOADED, EVBUF_TRACE_END,	 EVBUF_XEN_ENTER };
	uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1, in = 0, weight = 1, dice;
	size_t n = 0;

	while (n < 6000) {
		dice = next_random(&state) % 100;
		if (dice < 60) {
			words[n++] = next_random(&state) % 3000 * 4;
			words[n++] = next_random(&state) % 50 ? next_random(&state) % 2 : 7;
			in += weight;
			weight = 1;
			continue;
		}
		words[n++] = ESC;
		if (dice < 85) {
			words[n++] = EVBUF_COOKIE_SWITCH;
			words[n++] = next_random(&state) % 25;
		} else if (dice < 93) {
			words[n++] = EVBUF_CTX_SWITCH;
			words[n++] = next_random(&state) % 5;
			words[n++] = next_random(&state) % 12;
			words[n++] = ESC;
			words[n++] = EVBUF_CTX_TGID;
			words[n++] = next_random(&state) % 3;
		} else if (dice < 96) {
			words[n++] = EVBUF_WEIGHT;
			words[n++] = weight = 1 + next_random(&state) % 9;
		} else if (dice < 97) {
			words[n++] = EVBUF_CALLERS;
			words[n++] = next_random(&state) % 5;
			words[n++] = next_random(&state) % CHAIN_END_COUNT_;
			words[n++] = 1 + next_random(&state) % 3;
			words[n++] = ESC;
			words[n++] = EVBUF_CALLER;
			words[n++] = next_random(&state) % 25;
			words[n++] = next_random(&state) % 3000 * 4;
			words[n++] = ESC;
			words[n++] = EVBUF_CALLED_BY;
			words[n] = words[n - 9];
			n++;
		} else {
			words[n++] = codes[next_random(&state) % ARRAY_SIZE(codes)];
		}
	}
	*ret_count = n;
	return in;
}

static int add_up(const char *path, const struct sname *name, void *data)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	const struct odb_node *nodes = NULL;
	uint64_t *sum = data;
	size_t i, count = 0;

	CHECK(!name->has_callee);
	CHECK_EQ(sfile_open(path, &sf, NULL), 0);
	if (sf)
		nodes = odb_nodes(sfile_odb(sf), &count);
	for (i = 0; i < count; i++)
		*sum += nodes[i].value;
	return 0;
}

static void define_images(struct bench *b)
{
	char none[] = "";
	uint64_t i;

	for (i = 1; i <= 20; i++) {
		_cleanup_free_ char *path = xasprintf("/bin/p%" PRIu64, i);

		cookie_define(b->cookies,
			      &(struct cookie_image){ .cookie = i,
						      .kind = i % 10 ? COOKIE_FILE : COOKIE_ANON,
						      .tgid = 1,
						      .start = 0,
						      .end = 0x10000 * i,
						      .file.device = 1,
						      .file.inode = i,
						      .path = i % 10 ? path : none });
	}
}

/* Feeds a stream in pieces of at most @piece words and holds files and counters together. */
static void balance(unsigned int separate, uint64_t seed, size_t piece, size_t mapped_max)
{
	static uint64_t words[6100];
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	uint64_t in, sum = 0, state = seed + 1;
	struct record_stats s;
	size_t i, n, count = 0;

	define_images(&b);
	b.config.separate = separate;
	b.config.mapped_bytes_max = mapped_max;
	bench_start(&b);
	in = random_stream(words, &count, seed);
	for (i = 0; i < count; i += n) {
		n = MIN(1 + next_random(&state) % piece, count - i);
		CHECK_EQ(record_words(words + i, n, b.rec), 0);
	}
	CHECK_EQ(record_flush(b.rec, true, NULL), 0);
	s = stats_of(&b);
	CHECK_EQ(session_walk(samples, add_up, NULL, &sum, NULL), 0);
	CHECK_EQ(record_stats_total(&s), in);
	CHECK_EQ(sum, s.samples - s.lost_samplefile);
	CHECK(s.samples > in / 2);
	CHECK(s.lost_samplefile && s.lost_no_context + s.lost_kernel && s.lost_counter);
	CHECK_EQ(session_stat_get(samples, "total_samples"), in);
	CHECK_EQ(s.incomplete_code, 0);
}

static void samples_in_are_samples_recorded_and_lost(void)
{
	static const unsigned int separations[] = { RECORD_SEPARATE_NONE, RECORD_SEPARATE_LIB,
						    RECORD_SEPARATE_ALL };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(separations); i++) {
		balance(separations[i], i, 6100, 0);
		balance(separations[i], i + 10, 7, 0);
	}
}

static void nothing_is_lost_where_few_files_can_be_open(void)
{
	balance(RECORD_SEPARATE_LIB, 1, 6100, 40000);
	balance(RECORD_SEPARATE_ALL, 2, 300, 10000);
}

/* The lines of @text in order; frees it. */
static char *sorted(char *text)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	char **lines = NULL, *save = NULL, *line;
	size_t count = 0, room = 0, i, j;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		array_grow(&lines, count + 1, &room);
		for (j = count++; j && strcmp(lines[j - 1], line) > 0; j--)
			lines[j] = lines[j - 1];
		lines[j] = line;
	}
	for (i = 0; i < count; i++)
		strbuf_addf(&out, "%s\n", lines[i]);
	free(lines);
	free(text);
	return strbuf_take(&out);
}

static char *files_of(size_t piece, size_t mapped_max, unsigned int open_max)
{
	static uint64_t words[6100];
	BENCH(b);
	uint64_t state = 5;
	size_t i, n, count = 0;

	define_images(&b);
	b.config.separate = RECORD_SEPARATE_LIB;
	b.config.mapped_bytes_max = mapped_max;
	b.config.open_files_max = open_max;
	bench_start(&b);
	(void)random_stream(words, &count, 3);
	count = 4000;
	for (i = 0; i < count; i += n) {
		n = MIN(1 + next_random(&state) % piece, count - i);
		CHECK_EQ(record_words(words + i, n, b.rec), 0);
		if (open_max)
			CHECK(record_open_files(b.rec, NULL) <= open_max + 1);
	}
	return sorted(listing(&b, "current"));
}

static void limits_and_cuts_do_not_change_what_is_recorded(void)
{
	_cleanup_free_ char *whole = files_of(6100, 0, 0);
	_cleanup_free_ char *cut = files_of(3, 0, 0);
	_cleanup_free_ char *small = files_of(50, 30000, 0);
	_cleanup_free_ char *few = files_of(50, 0, 8);

	CHECK(strlen(whole) > 1000);
	CHECK_STR(cut, whole);
	CHECK_STR(small, whole);
	CHECK_STR(few, whole);
}

static bool no_memory_for_files;

/* The library's, too. */
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (no_memory_for_files && fd >= 0 && flags & MAP_SHARED) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

/* They wait, but not for ever. */
static void what_waits_for_memory_at_the_end_is_counted(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	no_memory_for_files = true;
	evbuf_kernel_sample(b.buffer, 0xffffffff81000fff, 0, 5);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	CHECK_EQ(record_flush(b.rec, true, NULL), 0);
	CHECK_EQ(session_stat_get(samples, "lost_samplefile"), 0);
	record_free(STEAL(b.rec));
	no_memory_for_files = false;
	CHECK_EQ(session_stat_get(samples, "lost_samplefile"), 5);
}

TESTS(T(what_waits_for_memory_at_the_end_is_counted), T(samples_in_are_samples_recorded_and_lost),
      T(nothing_is_lost_where_few_files_can_be_open),
      T(limits_and_cuts_do_not_change_what_is_recorded))
