/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how fast the event buffer is converted to sample files, on one core. The stream is that
 * of a machine with 32 CPUs, 1,000 processes and 300 images, generated chunk by chunk in memory as
 * a driver would pass it. CPU buffers come in turn, with a few samples per task; tasks, images and
 * offsets have a Zipf distribution. Times are CPU seconds of recording alone; generating the stream
 * is measured separately.
 *
 *	bench_record [MILLIONS_OF_SAMPLES [DIRECTORY]]
 */
#include "base/hash.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "identity/cookie.h"
#include "stream/evbuf.h"
#include "record/record.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum {
	CPUS = 32,
	PROCESSES = 1000,
	PROGRAMS = 100, /* the first cookies are applications, the rest libraries */
	IMAGES = 300,
	LIBRARIES_EACH = 12,
	BUFFER_WORDS = 131072,
	CPU_RUN = 250, /* samples of one CPU in a row: 1 kHz, synchronised 4 times a second */
	SAMPLE_PERCENT_KERNEL = 20,
	KERNEL_ADDRESSES = 32768
};

#define KERNEL_START 0xffffffff81000000ULL
#define KERNEL_END   0xffffffff82200000ULL

struct process {
	uint32_t app;			    /* cookie */
	uint32_t libraries[LIBRARIES_EACH]; /* cookies */
};

struct generator {
	uint64_t state; /* of the random numbers */
	struct process processes[PROCESSES];
	uint32_t addresses[IMAGES + 1]; /* distinct ones that an image is sampled at */
	struct evbuf *buffer;
	uint64_t made; /* samples */
	struct record *record;
	uint64_t words;	     /* passed to record_words() */
	double record_cpu_s; /* spent there */
};

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint32_t random_u32(struct generator *g)
{
	g->state ^= g->state << 13;
	g->state ^= g->state >> 7;
	g->state ^= g->state << 17;
	return (uint32_t)(g->state >> 32);
}

/* A rank below @n, the first ones by far the most likely: probability about 1/rank. */
static uint32_t zipf(struct generator *g, uint32_t n)
{
	float u = (float)(random_u32(g) >> 8) * (1.0f / 16777216.0f);
	uint32_t rank = (uint32_t)exp2f(u * log2f((float)n + 1)) - 1;

	return MIN(rank, n - 1);
}

/* Spreads ranks over an image: neighbours in rank are none in address. */
static uint64_t address(uint32_t rank, uint32_t n)
{
	return 4 * ((uint64_t)rank * 2654435761u % n);
}

/* A few images are large, most are small. */
static void make_machine(struct generator *g)
{
	uint32_t i, l;

	for (i = 1; i <= IMAGES; i++)
		g->addresses[i] = i % 30 == 1 ? 32768 : i % 6 == 1 ? 8192 : 2048;
	for (i = 0; i < PROCESSES; i++) {
		g->processes[i].app = 1 + zipf(g, PROGRAMS);
		g->processes[i].libraries[0] = PROGRAMS + 1; /* libc */
		for (l = 1; l < LIBRARIES_EACH; l++)
			g->processes[i].libraries[l] = PROGRAMS + 1 + zipf(g, IMAGES - PROGRAMS);
	}
}

static int take_words(const uint64_t *words, size_t count, void *data)
{
	struct generator *g = data;
	double start = cpu_seconds();
	int r = record_words(words, count, g->record);

	g->words += count;
	g->record_cpu_s += cpu_seconds() - start;
	return r;
}

/* One task's turn on a CPU. */
static void make_run(struct generator *g, uint32_t cpu)
{
	uint32_t n = 1 + random_u32(g) % 9, pid = zipf(g, PROCESSES);
	const struct process *p = &g->processes[pid];
	uint32_t cookie = p->app, i, dice;

	evbuf_context(g->buffer, &(struct evbuf_context){
					 .cpu = cpu, .tgid = pid, .tid = pid, .app = p->app });
	for (i = 0; i < n; i++) {
		dice = random_u32(g) % 100;
		g->made++;
		if (dice < SAMPLE_PERCENT_KERNEL) {
			evbuf_kernel_sample(g->buffer,
					    KERNEL_START + address(zipf(g, KERNEL_ADDRESSES),
								   KERNEL_ADDRESSES),
					    0, 1);
			continue;
		}
		if (dice < 45) /* else it stays where it is */
			cookie = dice < 32 ? p->app : p->libraries[zipf(g, LIBRARIES_EACH)];
		evbuf_sample(g->buffer, cookie,
			     0x1000 + address(zipf(g, g->addresses[cookie]), g->addresses[cookie]),
			     0, 1);
	}
}

static void generate(struct generator *g, uint64_t samples)
{
	uint32_t cpu = 0;
	uint64_t end;

	while (g->made < samples) {
		for (end = g->made + CPU_RUN; g->made < end;)
			make_run(g, cpu);
		cpu = (cpu + 1) % CPUS;
	}
	(void)evbuf_flush(g->buffer);
}

static struct cookie_table *make_cookies(void)
{
	struct cookie_table *t = cookie_table_new();
	uint32_t i;

	for (i = 1; i <= IMAGES; i++) {
		_cleanup_free_ char *path =
			xasprintf(i <= PROGRAMS ? "/usr/bin/program-%u"
						: "/usr/lib/x86_64-linux-gnu/libexample-%u.so",
				  i);

		cookie_define(t, &(struct cookie_image){ .cookie = i,
							 .kind = COOKIE_FILE,
							 .identified = true,
							 .file.device = 8,
							 .file.inode = i,
							 .version.mtime = 1,
							 .path = path });
	}
	return t;
}

/* Feeds the stream and prints what it took; 0 or 1. */
static int measure(const char *what, unsigned int separate, uint64_t samples, const char *dir)
{
	struct generator *g = xcalloc(1, sizeof(*g));
	struct cookie_table *cookies = make_cookies();
	struct event event;
	struct record_config config = { .session_dir = dir,
					.session_name = "current",
					.events = &event,
					.event_count = 1,
					.separate = separate,
					.vmlinux = "/boot/vmlinux",
					.kernel_start = KERNEL_START,
					.kernel_end = KERNEL_END,
					.cookies = cookies };
	struct record_stats stats;
	struct rusage usage;
	struct error err = ERROR_INIT;
	double start = cpu_seconds(), all, wrong;
	size_t files, mapped;

	event_timer(&event, 1000, true, true);
	g->state = 0x9e3779b97f4a7c15ULL;
	g->buffer = evbuf_new(BUFFER_WORDS, take_words, g);
	make_machine(g);
	if (record_new(&config, &g->record, &err) < 0) {
		(void)fprintf(stderr, "bench_record: %s\n", err.text);
		return 1;
	}
	generate(g, samples);
	all = cpu_seconds() - start;
	record_stats(g->record, &stats);
	files = record_open_files(g->record, &mapped);
	wrong = (double)g->made - (double)(stats.samples - stats.lost_samplefile);
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("%s: %.1f M samples, %.2f words a sample: %.1f M samples/s, %.0f ns a sample; "
	       "%.0f%% of the CPU time went into making the stream; %zu files open, %zu MiB "
	       "mapped, "
	       "peak RSS %ld MiB; %.0f samples not recorded\n",
	       what, (double)g->made / 1e6, (double)g->words / (double)g->made,
	       (double)g->made / g->record_cpu_s / 1e6, g->record_cpu_s / (double)g->made * 1e9,
	       100 * (all - g->record_cpu_s) / all, files, mapped >> 20, usage.ru_maxrss >> 10,
	       wrong);
	evbuf_free(g->buffer);
	record_free(g->record);
	cookie_table_free(cookies);
	free(g);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	const char *base = argc > 2 ? argv[2] : getenv("TMPDIR");
	_cleanup_free_ char *one = path_join(base ? base : "/tmp", "bench_record.none");
	_cleanup_free_ char *two = path_join(base ? base : "/tmp", "bench_record.kernel");
	uint64_t millions = 100;
	int r;

	if (argc > 1 && parse_u64(argv[1], 1, 100000, &millions) < 0)
		return 2;
	(void)path_remove_tree(one, NULL);
	(void)path_remove_tree(two, NULL);
	r = measure("--separate=none", RECORD_SEPARATE_NONE, millions * 1000000, one);
	if (r == 0)
		r = measure("--separate=kernel", RECORD_SEPARATE_LIB | RECORD_SEPARATE_KERNEL,
			    millions * 1000000, two);
	(void)path_remove_tree(one, NULL);
	(void)path_remove_tree(two, NULL);
	return r;
}
