/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "file/copy.h"
#include "elf/elffile.h"
#include "sfile/manifest.h"
#include "symbol/smartname.h"
#include "symbol/symtab.h"
#include "profile/profile.h"
#include "profile/binary/binary.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"
#include "profile/select/by_image.h"
#include "profile/rows/populate.h"
#include "profile/print/report.h"
#include "profile/select/samples.h"
#include "profile/rows/sort.h"
#include "profile/select/spec.h"
#include "profile/xml/xml.h"
#include "sfile/session.h"
#include "sfile/sname.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int parse(const char *const *words, struct spec *ret, struct error *err)
{
	size_t n = 0;

	while (words[n])
		n++;
	return spec_parse((char *const *)words, n, ret, err);
}

static void specifications_parse(void)
{
	static const struct {
		const char *words[3];
		int r;
		enum spec_tag tag;
		const char *value; /* the first one of the tag */
		size_t count;
	} rows[] = {
		{ { "image:a,b" }, 0, SPEC_IMAGE, "a", 2 },
		{ { "image:a\\,b" }, 0, SPEC_IMAGE, "a,b", 1 },
		{ { "image:a\\b" }, 0, SPEC_IMAGE, "a\\b", 1 },
		{ { "/usr/bin/x:y", "z" }, 0, SPEC_PATH, "/usr/bin/x:y", 2 },
		{ { "cpu:0,all" }, 0, SPEC_CPU, "0", 2 },
		{ { "unit-mask:0x1f" }, 0, SPEC_UNIT_MASK, "0x1f", 1 },
		{ { "session-exclude:x" }, 0, SPEC_SESSION_EXCLUDE, "x", 1 },
		{ { "archive:a,b" }, 0, SPEC_ARCHIVE, "a", 2 },
		{ { "archive:a", "archive:b" }, 0, SPEC_ARCHIVE, "a", 2 },
		{ { "cpu:zero" }, -EINVAL },
		{ { "cpu:" }, -EINVAL },
		{ { "cpu:," }, -EINVAL },
		{ { "cpu:1", "cpu:2" }, -EINVAL },
		{ { "evnt:X" }, -EINVAL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spec spec;
		struct error err = ERROR_INIT;
		int r = parse(rows[i].words, &spec, &err);

		if (!CHECK(r == rows[i].r))
			printf("# row %zu: %s\n", i, err.text);
		if (r < 0)
			continue;
		CHECK_STR(spec_value(&spec, rows[i].tag), rows[i].value);
		CHECK_EQ(spec.of[rows[i].tag].count, rows[i].count);
		spec_done(&spec);
	}
}

static void specifications_select(void)
{
	const struct sname name = {
		.app = { .kind = SNAME_ROOT, .name = "/usr/bin/xmms" },
		.image = { .kind = SNAME_ROOT, .name = "/lib/libc.so.6" },
		.event = "CPU_CLK",
		.count = 100000,
		.unit_mask = (int32_t)0x80000001,
		.task = { 7, 8, SNAME_ALL, NULL },
	};
	static const struct {
		const char *words[3];
		int rejected_by;
	} rows[] = {
		{ { NULL }, -1 },
		{ { "/usr/bin/xmms" }, -1 },
		{ { "libc.so.6" }, -1 },
		{ { "libc" }, SPEC_PATH },
		{ { "libc*" }, -1 },
		{ { "image:xmms", "lib-image:*/libc.so.*" }, -1 },
		{ { "image:libc.so.6" }, SPEC_IMAGE },
		{ { "image-exclude:xmms" }, SPEC_IMAGE_EXCLUDE },
		{ { "image-exclude:libc.so.6" }, SPEC_IMAGE_EXCLUDE },
		{ { "lib-image-exclude:xmms" }, -1 },
		{ { "lib-image-exclude:libc.so.6" }, SPEC_LIB_IMAGE_EXCLUDE },
		{ { "event:CPU_CLK,OTHER", "count:100000" }, -1 },
		{ { "event:OTHER" }, SPEC_EVENT },
		{ { "event:all" }, -1 },
		{ { "count:5" }, SPEC_COUNT },
		{ { "unit-mask:0x80000001" }, -1 },
		{ { "tgid:7", "tid:8,9" }, -1 },
		{ { "tid:9" }, SPEC_TID },
		{ { "cpu:0" }, SPEC_CPU },
		{ { "cpu:all" }, -1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spec spec;

		CHECK_EQ(parse(rows[i].words, &spec, NULL), 0);
		if (!CHECK(spec_reject(&spec, &name) == rows[i].rejected_by))
			printf("# row %zu\n", i);
		spec_done(&spec);
	}
}

static void samples_are_sorted_few_or_many(void)
{
	static const size_t counts[] = { 0, 1, 2, 255, 256, 5000 };
	size_t c, i;

	for (c = 0; c < ARRAY_SIZE(counts); c++) {
		struct samples s = SAMPLES_INIT;
		uint64_t x = 1, sum = 0, sorted_sum = 0;

		s.samples = xcalloc(counts[c] + 1, sizeof(*s.samples));
		s.room = counts[c] + 1;
		for (i = 0; i < counts[c]; i++) {
			x = x * 6364136223846793005 + 1442695040888963407;
			s.samples[s.count++] = (struct sample){ x >> (i % 3 * 20), 1, (uint32_t)i };
			sum += x >> (i % 3 * 20);
		}
		samples_sort(&s);
		for (i = 0; i < s.count; i++) {
			sorted_sum += s.samples[i].offset;
			CHECK(i == 0 || s.samples[i - 1].offset <= s.samples[i].offset);
		}
		CHECK_EQ(s.count, counts[c]);
		CHECK(sum == sorted_sum);
		samples_done(&s);
	}
}

static void write_samples(const char *samples, const char *below, const uint64_t *pairs)
{
	_cleanup_free_ char *path = path_join(samples, below);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	struct error err = ERROR_INIT;

	if (!CHECK(sfile_create(path, &(struct sfile_header){ .cpu_type = 4 }, &sf, &err) == 0)) {
		printf("# %s\n", err.text);
		return;
	}
	for (; pairs[1]; pairs += 2)
		CHECK_EQ(odb_add(sfile_odb(sf), pairs[0], (uint32_t)pairs[1]), 0);
}

/* A profile and its rows. */
struct pipeline {
	struct profile *profile;
	struct container container;
	struct populate_stats stats;
};

static bool run(const char *directory, const struct populate_config *config, unsigned int merge,
		struct pipeline *ret)
{
	struct profile_config where = { .session_dir = directory, .merge = merge };
	struct populate_job job = { .config = config, .out = &ret->container };
	struct error err = ERROR_INIT;

	*ret = (struct pipeline){ 0 };
	if (profile_open(&where, 0, NULL, &ret->profile, &err) < 0) {
		printf("# %s\n", err.text);
		return CHECK(false);
	}
	job.gather = ret->profile->gather;
	job.classes = &ret->profile->classes;
	job.by_image = &ret->profile->by_image;
	job.binaries = ret->profile->binaries;
	container_init(&ret->container, ret->profile->classes.count);
	populate_images(&job);
	ret->stats = job.stats;
	return true;
}

static void done(struct pipeline *p)
{
	container_done(&p->container);
	profile_close(p->profile);
}

static char *elf_fixture(const char *name)
{
	return xasprintf("%s/tests/fixtures/elf/%s", getenv("OP_BUILD_ROOT"), name);
}

/* The first symbol's name in the report of the only image of a session, with its cached symbols;
 * caller frees. */
static char *only_name(const char *directory)
{
	const struct profile_config where = { .session_dir = directory,
					      .symbol_cache = true,
					      .binaries = { .symbols_only = true } };
	_cleanup_(profile_closep) struct profile *p = NULL;
	struct sfile_header header = { .cpu_type = 4 };
	struct error err = ERROR_INIT;
	char *name = NULL;
	struct binary b;

	if (!CHECK(profile_open(&where, 0, NULL, &p, &err) == 0))
		return NULL;
	binary_open(p->binaries, p->gather->files[0].image, &header, &b);
	if (b.symtab && symtab_count(b.symtab))
		name = xstrdup(symtab_at(b.symtab, 0)->name);
	binary_close(&b);
	return name;
}

/* A program that is rebuilt before the first report. */
static void kept_symbols_survive_their_file(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *samples = session_samples(directory, "current");
	_cleanup_free_ char *fixture = elf_fixture("lib.so");
	_cleanup_free_ char *path = path_join(directory, "lib.so");
	_cleanup_free_ char *cache = path_join(directory, "cache");
	_cleanup_free_ char *below =
		xasprintf("{root}%s/{dep}/{root}%s/TIMER.0.0.all.all.all", path, path);
	_cleanup_free_ char *before = NULL, *after = NULL;
	_cleanup_(manifest_closep) struct manifest *m = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct manifest_image image = { .path = path };
	struct error err = ERROR_INIT;

	CHECK_EQ(setenv("OPROFILE_SYMBOL_CACHE", cache, 1), 0);
	write_samples(samples, below, (const uint64_t[]){ 0x1000, 2, 0, 0 });
	if (!CHECK(copy_file(fixture, 0, path, &err) == 0 && elffile_open(path, &ef, &err) == 0 &&
		   manifest_open(samples, true, &m, &err) == 0))
		return;
	image.version.build_id = *elffile_build_id(ef);
	CHECK(manifest_name(m, &image, &err) != NULL);
	profile_keep_symbols(directory, geteuid());
	CHECK_EQ(unlink(path), 0);
	after = only_name(directory);
	CHECK(after != NULL);
	CHECK_EQ(setenv("OPROFILE_SYMBOL_CACHE", "no", 1), 0);
	before = only_name(directory);
	CHECK(before == NULL);
}

/* Fifty programs that use one library. */
static void an_image_is_opened_once_for_all_programs(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *samples = session_samples(directory, "current");
	_cleanup_free_ char *library = elf_fixture("lib.so");
	struct pipeline p;
	size_t i, unnamed = 0;

	for (i = 0; i < 50; i++) {
		_cleanup_free_ char *below = xasprintf(
			"{root}/bin/p%zu/{dep}/{root}%s/TIMER.0.0.all.all.all", i, library);

		write_samples(samples, below, (const uint64_t[]){ 0x1000, 2, 0x7fffffff, 1, 0, 0 });
	}
	if (run(directory, &(struct populate_config){ .symbols = true }, 0, &p)) {
		CHECK_EQ(binaries_opened(p.profile->binaries), 1);
		CHECK_EQ(p.stats.read, 50);
		CHECK_EQ(p.container.totals[0], 150);
		for (i = 0; i < p.container.count; i++)
			unnamed += p.container.rows[i].kind == ROW_UNNAMED
					   ? p.container.rows[i].counts[0]
					   : 0;
		CHECK(unnamed >= 50);
	}
	done(&p);
	if (run(directory, &(struct populate_config){ .symbols = true, .merge_lib = true }, 0, &p))
		CHECK(p.container.count <= 2);
	done(&p);
}

static void rows_add_up_to_the_samples(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *samples = session_samples(directory, "current");
	_cleanup_free_ char *program = elf_fixture("exe-static");
	_cleanup_free_ char *below =
		xasprintf("{root}%s/{dep}/{root}%s/TIMER.0.0.all.all.all", program, program);
	uint64_t pairs[2002] = { 0 }, sum = 0, rows = 0;
	struct pipeline p;
	size_t i;

	for (i = 0; i < 1000; i++) {
		pairs[2 * i] = i == 0 ? UINT64_MAX : i * 997;
		pairs[2 * i + 1] = i % 7 + 1;
		sum += i % 7 + 1;
	}
	write_samples(samples, below, pairs);
	if (run(directory, &(struct populate_config){ .symbols = true }, 0, &p)) {
		for (i = 0; i < p.container.count; i++)
			rows += p.container.rows[i].counts[0];
		CHECK_EQ(p.container.totals[0], sum);
		CHECK_EQ(rows, sum);
		CHECK(p.container.count > 20);
	}
	done(&p);
}

static void names_lose_their_version(void)
{
	static const char *const rows[][2] = {
		{ "brk", "brk" },
		{ "clock_gettime@@GLIBC_2.17", "clock_gettime" },
		{ "f@V1", "f" },
		{ "puts@plt", "puts@plt" },
		{ "@strange", "@strange" },
	};
	struct container c;
	size_t i;

	container_init(&c, 1);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(container_symbol(&c, rows[i][0])->name, rows[i][1]);
	container_done(&c);
}

static void one_axis_makes_columns_two_conflict(void)
{
	static const struct {
		const char *files[3];
		unsigned int merge;
		int r;
		enum class_axis axis;
		size_t classes;
	} rows[] = {
		{ { "A.1.0.all.all.all" }, 0, 0, AXIS_NONE, 1 },
		{ { "A.1.0.all.all.all", "B.1.0.all.all.all" }, 0, 0, AXIS_EVENT, 2 },
		{ { "A.1.0.all.all.all", "A.1.3.all.all.all" }, 0, 0, AXIS_EVENT, 2 },
		{ { "A.1.0.all.all.all", "A.1.3.all.all.all" },
		  CLASSES_MERGE_UNIT_MASK,
		  0,
		  AXIS_NONE,
		  1 },
		{ { "A.1.0.5.5.0", "A.1.0.5.5.1" }, 0, 0, AXIS_CPU, 2 },
		{ { "A.1.0.5.5.0", "A.1.0.5.6.0" }, 0, 0, AXIS_TID, 2 },
		{ { "A.1.0.5.5.0", "A.1.0.6.6.0" }, 0, 0, AXIS_TGID, 2 },
		{ { "A.1.0.5.5.0", "A.1.0.6.6.0", "A.1.0.6.7.0" }, 0, -EINVAL, AXIS_NONE, 0 },
		{ { "A.1.0.5.5.0", "A.1.0.6.6.0", "A.1.0.6.7.0" },
		  CLASSES_MERGE_TID,
		  0,
		  AXIS_TGID,
		  2 },
		{ { "A.1.0.5.5.0", "B.1.0.5.5.1" }, 0, -EINVAL, AXIS_NONE, 0 },
		{ { "A.1.0.5.5.0", "B.1.0.5.5.1" }, CLASSES_MERGE_CPU, 0, AXIS_EVENT, 2 },
		{ { "A.1.0.5.5.0", "B.1.0.6.7.1" }, CLASSES_MERGE_ALL, 0, AXIS_EVENT, 2 },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_directory_ char *directory = test_directory();
		_cleanup_free_ char *samples = session_samples(directory, "current");
		_cleanup_(gather_freep) struct gather *g = NULL;
		struct spec spec = { 0 };
		struct classes c = { 0 };
		struct error err = ERROR_INIT;
		int r;

		for (j = 0; j < 3 && rows[i].files[j]; j++) {
			_cleanup_free_ char *below =
				xasprintf("{root}/a/{dep}/{root}/a/%s", rows[i].files[j]);

			write_samples(samples, below, (const uint64_t[]){ 1, 1, 0, 0 });
		}
		CHECK_EQ(gather_files(&spec, directory, false, &g, &err), 0);
		r = classes_arrange(g, rows[i].merge, &c, &err);
		if (!CHECK(r == rows[i].r && c.axis == rows[i].axis && c.count == rows[i].classes))
			printf("# row %zu: %d, axis %d, %zu classes\n", i, r, (int)c.axis, c.count);
		if (r < 0)
			CHECK(strstr(err.text, "--merge="));
		classes_done(&c);
	}
}

static void sort_keys_parse(void)
{
	struct sort sort;
	struct error err = ERROR_INIT;

	CHECK_EQ(sort_parse(NULL, &sort, &err), 0);
	CHECK_EQ(sort.keys[0], SORT_DIFFERENCE);
	CHECK_EQ(sort.keys[1], SORT_SAMPLE);
	CHECK_EQ(sort_parse("vma,image,vma", &sort, &err), 0);
	CHECK_EQ(sort.keys[0], SORT_VMA);
	CHECK_EQ(sort.keys[1], SORT_IMAGE);
	CHECK_EQ(sort.keys[2], SORT_DIFFERENCE);
	CHECK_EQ(sort.keys[3], SORT_SAMPLE);
	CHECK_EQ(sort_parse("size", &sort, &err), -EINVAL);
}

/* Every key, texts that agree for long or are prefixes, and enough rows for each way of sorting. */
static void rows_are_in_the_order_of_their_keys(void)
{
	enum { ROWS = 600 };
	static const char *const orders[] = { NULL, "symbol", "vma,symbol", "image,symbol" };
	struct gather_image image = { .shown = "/bin/x" };
	struct gather g = { .images = &image, .image_count = 1 };
	struct error err = ERROR_INIT;
	size_t order, i;

	for (order = 0; order < ARRAY_SIZE(orders); order++) {
		struct container c;
		struct sort sort;

		CHECK_EQ(sort_parse(orders[order], &sort, &err), 0);
		container_init(&c, 1);
		for (i = 0; i < ROWS; i++) {
			char name[800];
			struct row *row;

			(void)snprintf(name, sizeof(name), "%0*zu", i % 7 ? 700 : (int)(i % 20),
				       (i * 7919) % 97);
			row = container_add_row(&c, &(struct row){ .app = GATHER_NONE,
								   .kind = ROW_SYMBOL,
								   .address = i % 11 });
			row->symbol = container_symbol(&c, name);
			row->counts[0] = i % 5;
		}
		container_name(&c, &(struct name_style){ 0 });
		sort_rows(&c, &g, &sort);
		for (i = 1; i < ROWS; i++) {
			const struct row *a = &c.rows[i - 1], *b = &c.rows[i];
			int text = strcmp(a->text, b->text);
			bool in_order =
				!orders[order] ? a->counts[0] > b->counts[0] ||
							 (a->counts[0] == b->counts[0] && text <= 0)
				: orders[order][0] == 'v'
					? a->address < b->address ||
						  (a->address == b->address && text <= 0)
					: text <= 0;

			if (!CHECK(in_order))
				break;
		}
		container_done(&c);
	}
}

/* Whatever the order in which the images were found. */
static void rows_of_images_of_one_name_are_in_the_order_of_their_paths(void)
{
	static struct gather_image images[] = { { .shown = "/b/__init__.py" },
						{ .shown = "/a/__init__.py" },
						{ .shown = "/c/__init__.py" } };
	struct gather g = { .images = images, .image_count = ARRAY_SIZE(images) };
	struct error err = ERROR_INIT;
	struct container c;
	struct sort sort;
	uint32_t i;

	CHECK_EQ(sort_parse(NULL, &sort, &err), 0);
	container_init(&c, 1);
	for (i = 0; i < g.image_count; i++)
		container_add_row(&c, &(struct row){ .image = i, .app = i, .kind = ROW_SYMBOL })
			->symbol = container_symbol(&c, "<module>");
	container_name(&c, &(struct name_style){ 0 });
	sort_rows(&c, &g, &sort);
	CHECK_EQ(c.rows[0].image, 1);
	CHECK_EQ(c.rows[1].image, 0);
	CHECK_EQ(c.rows[2].image, 2);
	container_done(&c);
}

static void percentages_are_printed_as_printf_does(void)
{
	char text[16], want[16];
	unsigned int i;

	for (i = 1; i < 200000; i++) {
		double percent = i < 100000 ? 100.0 * i / 131072 : 100.0 * 131 / i;

		if (i % 2)
			percent = percent * percent * percent / (1e6 * i);
		report_percent(0, percent, text);
		(void)snprintf(want, sizeof(want), percent < 0.001 ? "%7.1e" : "%7.4f", percent);
		CHECK_STR(text, want);
	}
}

static void xml_is_well_formed_whatever_the_bytes(void)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct xml x = XML_INIT(f);

	xml_open(&x, "a");
	xml_string(&x, "s", "<&>\"'\t\n\x1b \xc3\xbc \xff\xef\xbf\xbf\xf0\x9f\x98\x80");
	xml_string(&x, "none", NULL);
	xml_i64(&x, "i", -1);
	xml_open(&x, "b");
	xml_hex(&x, "h", 0x1f);
	xml_close(&x, "b");
	xml_open(&x, "c");
	xml_text_u64(&x, UINT64_MAX);
	xml_close(&x, "c");
	xml_open(&x, "d");
	xml_text_bytes(&x, "\x01\xfe", 2);
	xml_close(&x, "d");
	xml_close(&x, "a");
	(void)fclose(f);
	CHECK_STR(text, "<a s=\"&lt;&amp;&gt;&quot;'&#9;&#10;\xef\xbf\xbd \xc3\xbc "
			"\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\" i=\"-1\">\n <b "
			"h=\"0000001f\"/>\n <c>18446744073709551615</c>\n <d>01FE</d>\n</a>\n");
}

TESTS(T(rows_are_in_the_order_of_their_keys),
      T(rows_of_images_of_one_name_are_in_the_order_of_their_paths),
      T(percentages_are_printed_as_printf_does), T(specifications_parse), T(specifications_select),
      T(samples_are_sorted_few_or_many), T(an_image_is_opened_once_for_all_programs),
      T(kept_symbols_survive_their_file), T(rows_add_up_to_the_samples),
      T(names_lose_their_version), T(one_axis_makes_columns_two_conflict), T(sort_keys_parse),
      T(xml_is_well_formed_whatever_the_bytes))
