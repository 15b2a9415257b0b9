/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/profile/binary/binary.c: what binaries borrow from a gather stays valid when images are added
 * to it; and of the gather itself, that it notices when its session is replaced. */
#include "test.h"

#include "profile/binary/binary.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/select/gather.h"
#include "profile/select/spec.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "symbol/symcache.h"
#include "symbol/symtab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sys/stat.h>

static const struct sfile_header header = { 0 };

/* A profile of this program: its samples, and the gather of them. */
struct bench {
	char *dir, *cache_dir;
	struct gather *gather;
	struct symcache *cache;
};

static void bench_init(struct bench *b)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	_cleanup_free_ char *path = NULL;
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	struct error err = ERROR_INIT;
	struct spec spec = { 0 };

	/* Freed memory shows nothing of what it held. */
	(void)mallopt(M_PERTURB, 0x5a);
	*b = (struct bench){ .dir = test_directory() };
	self[MAX(n, (ssize_t)0)] = '\0';
	path = xasprintf("%s/samples/current/{root}%s/{dep}/{root}%s/TIMER.0.0.all.all.all", b->dir,
			 self, self);
	CHECK_EQ(session_create(b->dir, "current", &err), 0);
	CHECK_EQ(sfile_create(path, &header, &sf, &err), 0);
	CHECK_EQ(odb_add(sfile_odb(sf), 0x1000, 1), 0);
	CHECK_EQ(gather_files(&spec, b->dir, false, &b->gather, &err), 0);
	CHECK_EQ(b->gather->image_count, 1);
	b->cache_dir = path_join(b->dir, "cache");
	b->cache = symcache_open(b->cache_dir, SYMCACHE_CAP);
}

static void bench_done(struct bench *b)
{
	symcache_close(b->cache);
	gather_free(b->gather);
	free(b->cache_dir);
	test_directory_donep(&b->dir);
}
#define BENCH(b)                                                                                   \
	_cleanup_(bench_done) struct bench b;                                                      \
	bench_init(&b)

/* So many images that those before them move. */
static void add_images(struct gather *g, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		char *name = xasprintf("/no/such/%zu", i);

		(void)gather_add_image(
			g, &(struct gather_image){ .id = { .kind = SNAME_ROOT,
							   .name = arena_strdup(&g->arena, name) },
						   .display = "added",
						   .shown = "added",
						   .suffix = "" });
		free(name);
	}
}

static void binaries_of_a_gather_that_grew_are_freed(void)
{
	static const bool rows[] = { false, true };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		BENCH(b);
		const struct binaries_config config = { .keep = rows[i] };
		struct binaries *bs = binaries_new(b.gather, &config);
		struct binary binary;

		binary_open(bs, 0, &header, &binary);
		CHECK(binary.symtab != NULL);
		binary_close(&binary);
		add_images(b.gather, 100000);
		binaries_free(bs);
	}
}

/* With more images than a session can have, two are apart by all bits of their numbers. */
static void frames_of_very_many_images_are_apart(void)
{
	enum { OTHER = 0x10000 };
	BENCH(b);
	_cleanup_(container_done) struct container rows;
	_cleanup_(binaries_freep) struct binaries *bs = NULL;
	struct chain_frames_config config = { .gather = b.gather, .rows = &rows };
	struct chain_frames *frames;
	const uint32_t *ids;
	uint32_t first;

	add_images(b.gather, OTHER);
	container_init(&rows, 1);
	config.binaries = bs = binaries_new(b.gather, &(struct binaries_config){ 0 });
	frames = chain_frames_new(&config);
	CHECK_EQ(chain_frames_find(frames, 0, 0x1000, CODE_SAMPLED, &ids), 1);
	first = ids[0];
	CHECK_EQ(chain_frames_find(frames, OTHER, 0x1000, CODE_SAMPLED, &ids), 1);
	CHECK(ids[0] != first);
	CHECK_EQ(chain_frames_find(frames, 0, 0x1000, CODE_SAMPLED, &ids), 1);
	CHECK_EQ(ids[0], first);
	chain_frames_free(frames);
}

static void kept_binaries_are_opened_once(void)
{
	BENCH(b);
	_cleanup_(binaries_freep) struct binaries *bs =
		binaries_new(b.gather, &(struct binaries_config){ .keep = true });
	struct binary first, second;

	binary_open(bs, 0, &header, &first);
	const struct symtab *symtab = first.symtab;

	binary_close(&first);
	binary_open(bs, 0, &header, &second);
	CHECK(second.symtab == symtab);
	CHECK_EQ(binaries_opened(bs), 1);
	binary_close(&second);
}

static void only_what_is_certainly_the_same_is_lent(void)
{
	static const struct {
		uint8_t first, second; /* build-ids; 0: none */
		bool is_lent;
	} rows[] = { { 1, 1, true }, { 1, 2, false }, { 0, 0, false }, { 1, 0, false } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		BENCH(a);
		BENCH(b);
		struct manifest_image known[2] = {
			{ .version.build_id = { { rows[i].first }, rows[i].first ? 1 : 0 } },
			{ .version.build_id = { { rows[i].second }, rows[i].second ? 1 : 0 } }
		};
		_cleanup_(binaries_freep) struct binaries *first = NULL, *second = NULL;
		struct binary binary;

		a.gather->images[0].manifest = &known[0];
		b.gather->images[0].manifest = &known[1];
		first = binaries_new(a.gather, &(struct binaries_config){ .keep = true });
		CHECK(!binaries_lends(first));
		binary_open(first, 0, &header, &binary);
		CHECK_EQ(binaries_lends(first), rows[i].first != 0);
		second = binaries_new(b.gather,
				      &(struct binaries_config){ .keep = true, .lender = first });
		binary_open(second, 0, &header, &binary);
		binary_close(&binary);
		CHECK_EQ(binaries_opened(second), rows[i].is_lent ? 0 : 1);
	}
}

/* Overwrites a page of the only table in the cache. */
static void damage_table(const char *cache_dir)
{
	enum { PAGE = 4096 };
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *junk = xcalloc(1, PAGE);
	DIR *d = opendir(cache_dir);
	struct dirent *entry;
	struct stat st;
	int fd;

	while (d && (entry = readdir(d)))
		if (!path && strstr(entry->d_name, ".sym"))
			path = path_join(cache_dir, entry->d_name);
	if (d)
		(void)closedir(d);
	fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 8 * PAGE);
	CHECK_EQ(pwrite(fd, junk, PAGE, st.st_size / 2 / PAGE * PAGE), PAGE);
	(void)close(fd);
}

/* How many symbols of @st differ from those of @right. */
static size_t differences(const struct symtab *right, const struct symtab *st)
{
	size_t i, n = 0;

	CHECK_EQ(symtab_count(st), symtab_count(right));
	for (i = 0; i < symtab_count(right); i++) {
		const struct symbol *a = symtab_at(right, i), *b = symtab_at(st, i);

		n += a->offset != b->offset || a->end != b->end || strcmp(a->name, b->name) != 0;
	}
	return n;
}

/* A table from the cache is read again from its file if a page turns out to be damaged: by then
 * other images may have moved the one that it belongs to. */
static void a_damaged_table_is_read_again_after_the_gather_grew(void)
{
	BENCH(b);
	const struct binaries_config config = { .cache = b.cache, .symbols_only = true };
	_cleanup_(binaries_freep) struct binaries *bs = NULL;
	struct sfile_header other = { 0 };
	struct binary right, cached;

	add_images(b.gather, 30);
	bs = binaries_new(b.gather, &config);

	binary_open(bs, 0, &header, &right);
	CHECK_EQ(symcache_stats(b.cache)->stored, 1);
	damage_table(b.cache_dir);
	binary_open(bs, 0, &other, &cached);
	CHECK_EQ(symcache_stats(b.cache)->hits, 1);
	other.is_kernel = true; /* the caller's, for the next image */
	add_images(b.gather, 1000);
	CHECK(symtab_count(right.symtab) > 500);
	CHECK_EQ(differences(right.symtab, cached.symtab), 0);
	binary_close(&cached);
	CHECK_EQ(symcache_stats(b.cache)->damaged, 1);
	binary_close(&right);
}

/* A report of it is not right, even if nothing else says so. */
static void a_session_that_is_emptied_meanwhile_is_noticed(void)
{
	_cleanup_(bench_done) struct bench b;
	struct error err = ERROR_INIT;
	bool is_gone = false;

	bench_init(&b);
	CHECK_EQ(gather_check_there(b.gather, &err), 0);
	CHECK_EQ(session_rename(b.dir, "current", "saved", NULL), 0);
	CHECK_EQ(gather_check_there(b.gather, &err), -ESTALE);
	CHECK_EQ(session_create(b.dir, "current", NULL), 0);
	CHECK_EQ(gather_check_there(b.gather, &err), -ESTALE);
	CHECK(strstr(err.text, "samples/current: emptied, renamed or deleted"));
	gather_warn_file(b.gather, &err, &is_gone);
	CHECK(is_gone);
}

TESTS(T(binaries_of_a_gather_that_grew_are_freed), T(frames_of_very_many_images_are_apart),
      T(kept_binaries_are_opened_once), T(only_what_is_certainly_the_same_is_lent),
      T(a_damaged_table_is_read_again_after_the_gather_grew),
      T(a_session_that_is_emptied_meanwhile_is_noticed))
