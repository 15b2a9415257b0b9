/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shared.h"

#include "base/strbuf.h"
#include "file/path.h"
#include "sfile/sname.h"

#include <errno.h>

#define SPEC "/CYCLES.100000.0.all.all.all"

static bool image_is(const struct sname_image *image, enum sname_kind kind, const char *name)
{
	return image->kind == kind && !strcmp(image->name, name);
}

static void names_go_both_ways(void)
{
	static const struct {
		const char *text;
		enum sname_kind app_kind;
		const char *app;
		enum sname_kind kind;
		const char *image, *callee;
	} rows[] = {
		{ "{root}/usr/bin/xz/{dep}/{root}/usr/lib/liblzma.so.5" SPEC, SNAME_ROOT,
		  "/usr/bin/xz", SNAME_ROOT, "/usr/lib/liblzma.so.5", NULL },
		{ "{kern}/kdamond.0/{dep}/{kern}/ext4" SPEC, SNAME_KERN, "kdamond.0", SNAME_KERN,
		  "ext4", NULL },
		{ "{root}/kworker/0:2-even/{dep}/{root}/proc/kallsyms" SPEC, SNAME_ROOT,
		  "/kworker/0:2-even", SNAME_ROOT, "/proc/kallsyms", NULL },
		{ "{root}/a/{dep}/{root}/b/{cg}/{root}/c" SPEC, SNAME_ROOT, "/a", SNAME_ROOT, "/b",
		  "/c" },
		{ "{root}/a/{dep}/{root}/b/{cg}/{kern}/c" SPEC, SNAME_ROOT, "/a", SNAME_ROOT, "/b",
		  "c" },
		{ "{root}/a/{dep}/{anon:[vdso]}/0.0x0.0xfff/{cg}/{anon:anon}/9.0x1.0x2" SPEC,
		  SNAME_ROOT, "/a", SNAME_ANON, "[vdso]", "anon" },
		{ "{root}/a/{dep}/{anon:x}y}/1.0x2.0x3" SPEC, SNAME_ROOT, "/a", SNAME_ANON, "x}y",
		  NULL },
		/* Nothing is escaped. */
		{ "{root}/a b,c{d}e.f\\g'h/w l;\303\274.x/{dep}/{root}/z\n" SPEC, SNAME_ROOT,
		  "/a b,c{d}e.f\\g'h/w l;\303\274.x", SNAME_ROOT, "/z\n", NULL },
		{ "{root}/back\\/slash/{dep}/{root}/x (deleted)" SPEC, SNAME_ROOT, "/back\\/slash",
		  SNAME_ROOT, "/x (deleted)", NULL },
		/* Directories that are called like a token. */
		{ "{root}/t/{dep}/wl/{dep}/{root}/t/{dep}/wl" SPEC, SNAME_ROOT, "/t/{dep}/wl",
		  SNAME_ROOT, "/t/{dep}/wl", NULL },
		{ "{root}/t/{cg}/wl/{dep}/{root}/t/{cg}/wl/{cg}/{root}/t/{cg}/wl" SPEC, SNAME_ROOT,
		  "/t/{cg}/wl", SNAME_ROOT, "/t/{cg}/wl", "/t/{cg}/wl" },
		{ "{root}/{dep}/{dep}/{root}/{dep}" SPEC, SNAME_ROOT, "/{dep}", SNAME_ROOT,
		  "/{dep}", NULL },
		{ "{root}/{root}/{dep}/{root}/{kern}" SPEC, SNAME_ROOT, "/{root}", SNAME_ROOT,
		  "/{kern}", NULL },
		{ "{root}/a/{cg}/{root}/b/{dep}/{root}/c" SPEC, SNAME_ROOT, "/a/{cg}/{root}/b",
		  SNAME_ROOT, "/c", NULL },
		{ "{root}/a/{dep}/{anon:b/{dep}/{root}/c" SPEC, SNAME_ROOT, "/a/{dep}/{anon:b",
		  SNAME_ROOT, "/c", NULL },
		{ "{root}/a/{dep}/{root}/b/{cg}/{anon:b}" SPEC, SNAME_ROOT, "/a", SNAME_ROOT,
		  "/b/{cg}/{anon:b}", NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		_cleanup_free_ char *text = NULL;
		struct sname name;

		if (sname_parse(rows[i].text, &name, &err) < 0) {
			printf("# row %zu: %s\n", i, err.text);
			CHECK(false);
			continue;
		}
		text = sname_mangle(&name);
		CHECK_STR(text, rows[i].text);
		CHECK(image_is(&name.app, rows[i].app_kind, rows[i].app));
		CHECK(image_is(&name.image, rows[i].kind, rows[i].image));
		CHECK_EQ(name.has_callee, rows[i].callee != NULL);
		if (name.has_callee && rows[i].callee)
			CHECK_STR(name.callee.name, rows[i].callee);
		sname_done(&name);
	}
}

static void event_specs_go_both_ways(void)
{
	static const struct {
		const char *text, *event;
		int64_t count, unit_mask, tgid, tid, cpu;
	} rows[] = {
		{ "TIMER.0.0.all.all.all", "TIMER", 0, 0, SNAME_ALL, SNAME_ALL, SNAME_ALL },
		{ "E.750000.65.31637.31640.1", "E", 750000, 65, 31637, 31640, 1 },
		{ "E.-1294967296.-2147483648.all.all.0", "E", 3000000000, 2147483648, SNAME_ALL,
		  SNAME_ALL, 0 },
		{ "mem_load.l1_hit.1.-1.4294967295.0.all", "mem_load.l1_hit", 1, 4294967295,
		  4294967295, 0, SNAME_ALL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = xasprintf("{root}/a/{dep}/{root}/b/%s", rows[i].text);
		_cleanup_free_ char *text = NULL;
		struct error err = ERROR_INIT;
		struct sname name;

		if (sname_parse(path, &name, &err) < 0) {
			printf("# row %zu: %s\n", i, err.text);
			CHECK(false);
			continue;
		}
		CHECK_STR(name.event, rows[i].event);
		CHECK_EQ(name.count, rows[i].count);
		CHECK_EQ(name.unit_mask, rows[i].unit_mask);
		CHECK_EQ(name.task.tgid, rows[i].tgid);
		CHECK_EQ(name.task.tid, rows[i].tid);
		CHECK_EQ(name.task.cpu, rows[i].cpu);
		text = sname_mangle(&name);
		CHECK_STR(text, path);
		sname_done(&name);
	}
}

static void cgroups_go_both_ways(void)
{
	static const struct {
		const char *cgroup, *text; /* and the part before it in the name */
	} rows[] = {
		{ "none", "" },
		{ "/", "{cgroup}/" },
		{ "/system.slice/ssh.service", "{cgroup}/system.slice/ssh.service/" },
		{ "/a b/\\x2d,{c}", "{cgroup}/a b/\\x2d,{c}/" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path =
			xasprintf("%s{root}/a/{dep}/{kern}/b" SPEC, rows[i].text);
		_cleanup_free_ char *whole = path_join("/x/samples/current", path);
		_cleanup_free_ char *text = NULL;
		struct sname name;

		if (!CHECK(sname_parse(path, &name, NULL) == 0))
			continue;
		CHECK_STR(name.task.cgroup ?: "none", rows[i].cgroup);
		CHECK_STR(name.app.name, "/a");
		text = sname_mangle(&name);
		CHECK_STR(text, path);
		sname_done(&name);
		if (!CHECK(sname_parse(whole, &name, NULL) == 0))
			continue;
		CHECK_STR(name.task.cgroup ?: "none", rows[i].cgroup);
		sname_done(&name);
	}
}

static void tasks_compare_by_all_they_have(void)
{
	char path[] = "/b";
	const struct sname_task one = { 7, 8, 0, "/b" }, copy = { 7, 8, 0, path };
	const struct sname_task rows[] = { /* in order */
					   { 7, 8, 0, NULL }, { 7, 8, 0, "/a" }, { 6, 9, 1, "/b" },
					   { 7, 8, 0, "/b" }, { 7, 8, 1, "/b" }, { 7, 9, 0, "/b" },
					   { 8, 8, 0, "/b" }
	};
	size_t i, k;

	CHECK(sname_task_equal(&one, &copy));
	CHECK(sname_task_hash(&one) == sname_task_hash(&copy));
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (k = 0; k < ARRAY_SIZE(rows); k++) {
			int r = sname_task_compare(&rows[i], &rows[k]);

			CHECK_EQ((r > 0) - (r < 0), (i > k) - (i < k));
			CHECK_EQ(sname_task_equal(&rows[i], &rows[k]), i == k);
		}
}

static void names_of_threads_go_both_ways(void)
{
	static const struct {
		const char *cgroup, *comm, *text, *back; /* the part before, the name as read */
	} rows[] = {
		{ NULL, "worker", "{comm}/worker/", "worker" },
		{ "/", "a b", "{cgroup}/{comm}/a b/", "a b" },
		{ "/x/y", "kworker/0:1", "{cgroup}/x/y/{comm}/kworker_0:1/", "kworker_0:1" },
		{ NULL, "{root}", "{comm}/_root}/", "_root}" },
		{ NULL, "..", "{comm}/__/", "__" },
		{ NULL, "", "{comm}/_/", "_" },
		{ "/{comm}/x", "y", "{cgroup}/_comm}/x/{comm}/y/", "y" },
	};
	static const char file[] = "{root}/a/{dep}/{root}/a/T.0.0.all.all.all";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct sname_image image = { .kind = SNAME_ROOT, .name = "/a" };
		struct sname name = { .app = image, .image = image, .event = "T" }, back = { 0 };
		_cleanup_free_ char *want = xasprintf("%s%s", rows[i].text, file), *text = NULL;

		name.task = SNAME_TASK_ALL;
		name.task.cgroup = rows[i].cgroup;
		name.task.comm = rows[i].comm;
		text = sname_mangle(&name);
		CHECK_STR(text, want);
		CHECK_EQ(sname_parse(text, &back, NULL), 0);
		CHECK_STR(back.task.comm ?: "none", rows[i].back);
		CHECK_EQ(back.task.cgroup != NULL, rows[i].cgroup != NULL);
		sname_done(&back);
	}
}

static void cgroups_cannot_pass_for_images(void)
{
	const struct sname name = { .app = { .kind = SNAME_ROOT, .name = "/a" },
				    .image = { .kind = SNAME_ROOT, .name = "/a" },
				    .event = "T",
				    .task = { SNAME_ALL, SNAME_ALL, SNAME_ALL, "/../{root}/x" } };
	_cleanup_free_ char *text = sname_mangle(&name);

	CHECK_STR(text, "{cgroup}/__/_root}/x/{root}/a/{dep}/{root}/a/T.0.0.all.all.all");
}

static void what_is_no_name_is_refused(void)
{
	static const char *const rows[] = {
		"",
		"/",
		"{root}",
		"{root}/",
		"stats/total_samples",
		"{root}/a" SPEC,
		"{root}/a/{dep}" SPEC,
		"{root}/a/{dep}/b" SPEC,
		"{root}/a/{dep}/{root}" SPEC,
		"{root}/{dep}/{root}/b" SPEC,
		"{root}/a/{dep}/{root}/b/CYCLES",
		"{root}/a/{dep}/{root}/b/CYCLES.1.2.3.4",
		"{root}/a/{dep}/{root}/b/.1.2.all.all.all",
		"{root}/a/{dep}/{root}/b/E.1.2.all.all.",
		"{root}/a/{dep}/{root}/b/E.01.2.all.all.all",
		"{root}/a/{dep}/{root}/b/E.1.0x2.all.all.all",
		"{root}/a/{dep}/{root}/b/E.1.2.all.all.-1",
		"{root}/a/{dep}/{root}/b/E.1.2.ALL.all.all",
		"{root}/a/{dep}/{root}/b/E.4294967295.0.all.all.all",
		"{root}/a/{dep}/{root}/b/E.1.2.all.all.99999999999",
		"{root}/a/{dep}/{anon:anon}/7.jo",
		"{root}/a/{dep}/{anon:anon}/7.0x1" SPEC,
		"{root}/a/{dep}/{anon:anon}/7.0x1.0x2.0x3" SPEC,
		"{root}/a/{dep}/{anon:anon}/7.0X1.0x2" SPEC,
		"{root}/a/{dep}/{anon:anon}/99999999999.0x1.0x2" SPEC,
		"{root}/a/{dep}/{anon:}/7.0x1.0x2" SPEC,
		"{root}/a/{dep}/{anon:a/b}/7.0x1.0x2" SPEC,
		"{kern}/a/b/{dep}/{root}/c" SPEC,
		"{anon:anon}/7.0x1.0x2/{dep}/{root}/c" SPEC,
		"{root}/a/../b/{dep}/{root}/c" SPEC,
		"{root}/a//b/{dep}/{root}/c" SPEC,
		"x{root}/a/{dep}/{root}/c" SPEC,
		/* Two readings each. */
		"{root}/a/{dep}/{root}/b/{dep}/{root}/c" SPEC,
		"{root}/a/{dep}/{root}/b/{cg}/{root}/c/{cg}/{root}/d" SPEC,
		"{cgroup}/a//b/{root}/a/{dep}/{root}/b" SPEC,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		struct sname name;

		if (sname_parse(rows[i], &name, &err) == 0) {
			printf("# row \"%s\" was taken\n", rows[i]);
			CHECK(false);
			sname_done(&name);
		}
		CHECK_EQ(err.code, -EBADMSG);
		CHECK(!strncmp(err.text, rows[i], strlen(rows[i])));
	}
}

static void text_before_the_first_token_is_skipped(void)
{
	struct sname name;

	if (!CHECK(sname_parse("/x/{kern}/{foo}/samples/current/{root}/a/{dep}/{root}/b" SPEC,
			       &name, NULL) == 0))
		return;
	CHECK_STR(name.app.name, "/a");
	sname_done(&name);
}

/* The mangled form of an image that is its own application. */
static char *mangle_own(enum sname_kind kind, const char *name)
{
	const struct sname_image image = { .kind = kind, .name = name, .tgid = 7, .end = 0xfff };
	const struct sname sname = {
		.app = image, .image = image, .event = "E", .task = SNAME_TASK_ALL
	};
	char *text = sname_mangle(&sname);

	*strstr(text, "/{dep}/") = '\0';
	return text;
}

static void no_name_leads_out_of_the_session(void)
{
	static const struct {
		enum sname_kind kind;
		const char *name, *mangled;
	} rows[] = {
		{ SNAME_ROOT, "/a", "{root}/a" },
		{ SNAME_ROOT, "memfd:x (deleted)", "{root}/memfd:x (deleted)" },
		{ SNAME_ROOT, "", "{root}/_" },
		{ SNAME_ROOT, "//a///b/", "{root}/a/b" },
		{ SNAME_ROOT, "/../../etc/./x/..", "{root}/__/__/etc/_/x/__" },
		{ SNAME_ROOT, "/.../..a/.b", "{root}/.../..a/.b" },
		{ SNAME_KERN, "ext4", "{kern}/ext4" },
		{ SNAME_KERN, "..", "{kern}/__" },
		{ SNAME_KERN, "kworker/0:1", "{root}/kworker/0:1" },
		{ SNAME_KERN, "../../x", "{root}/__/__/x" },
		{ SNAME_ANON, "[heap]", "{anon:[heap]}/7.0x0.0xfff" },
		{ SNAME_ANON, "", "{anon:anon}/7.0x0.0xfff" },
		{ SNAME_ANON, "[anon:a/../../b]", "{anon:[anon:a_.._.._b]}/7.0x0.0xfff" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = mangle_own(rows[i].kind, rows[i].name);

		CHECK_STR(text, rows[i].mangled);
	}
}

static void images_are_shown_as_the_original_does(void)
{
	const struct sname_image anon = { SNAME_ANON, "anon", 7, 0x1000, 0x1fff };
	const struct sname_image vdso = { SNAME_ANON, "[vdso]", 0, 0, 0x1fff };
	const struct sname_image root = { SNAME_ROOT, "/bin/ls", 0, 0, 0 };
	_cleanup_free_ char *a = sname_image_display(&anon), *v = sname_image_display(&vdso);
	_cleanup_free_ char *r = sname_image_display(&root);

	CHECK_STR(a, "anon (tgid:7 range:0x1000-0x1fff)");
	CHECK_STR(v, "[vdso]");
	CHECK_STR(r, "/bin/ls");
}

static void equal_images_have_equal_regions(void)
{
	const struct sname_image a = { SNAME_ANON, "anon", 7, 0x1000, 0x1fff };
	struct sname_image b = a;

	CHECK(sname_image_equal(&a, &b));
	b.end++;
	CHECK(!sname_image_equal(&a, &b));
	b = a;
	b.kind = SNAME_ROOT;
	CHECK(!sname_image_equal(&a, &b));
}

static void a_path_of_separators_is_refused_in_time(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct sname name;
	int i;

	strbuf_adds(&b, "{root}/a");
	for (i = 0; i < 600; i++)
		strbuf_adds(&b, "/{dep}/x/{cg}/{anon:");
	strbuf_adds(&b, SPEC);
	CHECK_EQ(sname_parse(strbuf_text(&b), &name, NULL), -EBADMSG);
	for (i = 0; i < 10000; i++)
		strbuf_adds(&b, SPEC);
	CHECK_EQ(sname_parse(strbuf_text(&b), &name, NULL), -EBADMSG);
}

static void expect_same_name(const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_INIT;
	struct sname name;

	if (sname_parse(path, &name, &err) < 0) {
		test_check(false, err.text, __FILE__, __LINE__);
		return;
	}
	text = sname_mangle(&name);
	CHECK_STR(text, strchr(path, '{'));
	sname_done(&name);
}

static void names_of_the_original_go_both_ways(void)
{
	if (!shared_samples(expect_same_name))
		SKIP(SHARED_MISSING);
}

TESTS(T(names_go_both_ways), T(event_specs_go_both_ways), T(cgroups_go_both_ways),
      T(tasks_compare_by_all_they_have), T(names_of_threads_go_both_ways),
      T(cgroups_cannot_pass_for_images), T(what_is_no_name_is_refused),
      T(text_before_the_first_token_is_skipped), T(no_name_leads_out_of_the_session),
      T(images_are_shown_as_the_original_does), T(equal_images_have_equal_regions),
      T(a_path_of_separators_is_refused_in_time), T(names_of_the_original_go_both_ways))
