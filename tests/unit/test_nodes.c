/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of oprofilefs over a host that only notes its calls. */
#include "test.h"

#include "oprofilefs/nodes.h"

#include <errno.h>
#include <sys/stat.h>

struct fake {
	bool running;
	int dumps;
	int enable_result;
};

static bool fake_running(void *data)
{
	return ((struct fake *)data)->running;
}

static int fake_enable(bool on, void *data, struct error *err)
{
	struct fake *f = data;

	if (f->enable_result < 0)
		return error_set(err, f->enable_result, "no");
	f->running = on;
	return 0;
}

static int fake_dump(void *data, struct error *err _unused_)
{
	((struct fake *)data)->dumps++;
	return 0;
}

static const char *fake_cpu_type(void *data _unused_)
{
	return "x86-64/hammer";
}

static int fake_event_code(const char *name, uint64_t *ret, void *data _unused_, struct error *err)
{
	if (strcmp(name, "CPU_CLK_UNHALTED") != 0)
		return error_set(err, -EINVAL, "there is no %s", name);
	*ret = 0x76;
	return 0;
}

static bool fake_stat(size_t i, const char **ret_name, uint64_t *ret_value, void *data _unused_)
{
	static const char *const names[] = { "sample_lost_overflow", "sample_received" };

	if (i >= ARRAY_SIZE(names))
		return false;
	*ret_name = names[i];
	*ret_value = 100 + i;
	return true;
}

static bool fake_cpu_stat(unsigned int cpu, size_t i, const char **ret_name, uint64_t *ret_value,
			  void *data _unused_)
{
	*ret_name = "sample_received";
	*ret_value = 1000 + cpu;
	return i == 0;
}

static unsigned int fake_cpu_count(void *data _unused_)
{
	return 2;
}

static uint64_t fake_cookie_at(size_t i, void *data _unused_)
{
	return i == 0 ? 7 : i == 1 ? 4711 : 0;
}

static char *fake_cookie_path(uint64_t cookie, void *data _unused_)
{
	return cookie == 7 ? xstrdup("/bin/sh") : cookie == 4711 ? xstrdup("/a\nb") : NULL;
}

static const struct nodes_host host = {
	.running = fake_running,
	.enable = fake_enable,
	.dump = fake_dump,
	.cpu_type = fake_cpu_type,
	.event_code = fake_event_code,
	.stat = fake_stat,
	.cpu_stat = fake_cpu_stat,
	.cpu_count = fake_cpu_count,
	.cookie_at = fake_cookie_at,
	.cookie_path = fake_cookie_path,
};

static const struct node_settings initial = {
	.buffer_size = 131072,
	.buffer_watershed = 32768,
	.cpu_buffer_size = 8192,
	.counters = { { .enabled = 1, .event = 0x76, .count = 100000, .kernel = 1, .user = 1 } },
	.counter_count = 2,
	.has_ibs_op = true,
	.ibs_op = { .max_count = 250000 },
};

struct fixture {
	struct fake fake;
	struct nodes *nodes;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){ .nodes = NULL };
	f->nodes = nodes_new(&initial, &host, &f->fake);
}

static void fixture_done(struct fixture *f)
{
	nodes_free(f->nodes);
}

/* The answer to a request, or the error's text after "error: ". */
static const char *ask(struct fixture *f, const char *request)
{
	static char text[4096];
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	_cleanup_free_ char *name = xstrdup(request);
	struct error err = ERROR_INIT;
	char *arg = strchr(name, ' ');
	int r;

	if (arg)
		*arg++ = '\0';
	r = !strcmp(name, "list")   ? nodes_request_list(f->nodes, arg, &answer, &err)
	    : !strcmp(name, "stat") ? nodes_request_stat(f->nodes, arg, &answer, &err)
	    : !strcmp(name, "read") ? nodes_request_read(f->nodes, arg, &answer, &err)
				    : nodes_request_write(f->nodes, arg, &err);
	(void)snprintf(text, sizeof(text), "%s%s", r < 0 ? "error: " : "",
		       r < 0 ? err.text : strbuf_text(&answer));
	return text;
}

static void nodes_are_read_and_written(void)
{
	static const struct {
		const char *request, *answer;
	} rows[] = {
		{ "read enable", "value 0\n" },
		{ "read /enable", "value 0\n" },
		{ "read buffer_size", "value 131072\n" },
		{ "read cpu_type", "text x86-64/hammer\n" },
		{ "read pointer_size", "value 8\n" },
		{ "read 0/event", "value 118\n" },
		{ "read 1/enabled", "value 0\n" },
		{ "write 1/event 0xc0", "" },
		{ "read 1/event", "value 192\n" },
		{ "write 1/event 010", "" },
		{ "read 1/event", "value 8\n" },
		{ "write 1/event CPU_CLK_UNHALTED", "" },
		{ "read 1/event", "value 118\n" },
		{ "write 1/count  7000 ", "" },
		{ "read 1/count", "value 7000\n" },
		{ "read stats/sample_lost_overflow", "value 100\n" },
		{ "read stats/cpu1/sample_received", "value 1001\n" },
		{ "read ibs_op/max_count", "value 250000\n" },
		{ "read cookies/7", "value /bin/sh\n" },
		{ "read cookies/4711", "value /a?b\n" },
		{ "stat cookies/7", "mode 100400\n" },
		{ "stat stats/cpu0", "mode 40755\n" },
		{ "stat dump", "mode 100666\n" },
		{ "stat /", "mode 40755\n" },
	};
	struct fixture f;
	size_t i;

	fixture_init(&f);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(ask(&f, rows[i].request), rows[i].answer);
	fixture_done(&f);
}

static void what_is_wrong_is_said_by_number_and_text(void)
{
	static const char *const rows[][2] = {
		{ "read nothing", "ENOENT: no node 'nothing'" },
		{ "read 2/event", "ENOENT: no node '2/event'" },
		{ "read 00/event", "ENOENT: no node '00/event'" },
		{ "read 99999999999999999999/event",
		  "ENOENT: no node '99999999999999999999/event'" },
		{ "read enable/", "ENOENT: no node 'enable/'" },
		{ "read //enable", "ENOENT: no node '/enable'" },
		{ "read stats/cpu2/sample_received",
		  "ENOENT: no node 'stats/cpu2/sample_received'" },
		{ "read stats/../enable", "ENOENT: no node 'stats/../enable'" },
		{ "read cookies/8", "ENOENT: no node 'cookies/8'" },
		{ "read ibs_fetch/enable", "ENOENT: no node 'ibs_fetch/enable'" },
		{ "read stats", "EISDIR: stats is a directory" },
		{ "write stats 1", "EISDIR: stats is a directory" },
		{ "list enable", "ENOTDIR: enable is not a directory" },
		{ "read dump", "EINVAL: dump is write-only" },
		{ "write cpu_type x", "EACCES: cpu_type is read-only" },
		{ "write 0/count many",
		  "EINVAL: 0/count: 'many' is not a number from 0 to 9223372036854775807" },
		{ "write 0/count 08",
		  "EINVAL: 0/count: '08' is not a number from 0 to 9223372036854775807" },
		{ "write 0/count 99999999999999999999",
		  "EINVAL: 0/count: '99999999999999999999' is not a number from 0 to "
		  "9223372036854775807" },
		{ "write 0/user 2", "EINVAL: 0/user: '2' is not a number from 0 to 1" },
		{ "write 0/user", "EINVAL: 0/user: '' is not a number from 0 to 1" },
		{ "write 0/user -1", "EINVAL: 0/user: '-1' is not a number from 0 to 1" },
		{ "write 0/event NONSENSE", "EINVAL: 0/event: there is no NONSENSE" },
		{ "write enable yes", "EINVAL: enable: 'yes' is not a number" },
		{ "write backtrace_depth 1025",
		  "EINVAL: backtrace_depth: '1025' is not a number from 0 to 1024" },
		{ "write 0/count 11111111111111111111111111111111111111111111111111",
		  "EINVAL: 0/count: the value is too long" },
	};
	struct fixture f;
	size_t i;

	fixture_init(&f);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *answer = ask(&f, rows[i][0]);

		CHECK(!strncmp(answer, "error: ", 7));
		CHECK_STR(answer + 7, rows[i][1]);
	}
	CHECK(!nodes_changed(f.nodes));
	fixture_done(&f);
}

static void directories_list_what_can_be_read(void)
{
	struct fixture f;

	fixture_init(&f);
	CHECK_STR(ask(&f, "list"),
		  "enable 100644 1 while sampling; write 1 to start, 0 to stop\n"
		  "dump 100666 write anything to record all samples taken so far\n"
		  "buffer 100400 the event buffer, for one reader\n"
		  "buffer_size 100644 words of the event buffer\n"
		  "buffer_watershed 100644 words left free when the reader of the buffer is woken\n"
		  "cpu_buffer_size 100644 words of each CPU's buffer\n"
		  "backtrace_depth 100644 most frames of a call chain; 0: no call chains\n"
		  "cpu_type 100444 key of the CPU type\n"
		  "pointer_size 100444 bytes of a word of the buffer\n"
		  "0 40755 an event\n"
		  "1 40755 an event\n"
		  "stats 40755 the daemon's counters\n"
		  "ibs_op 40755 AMD's samples of ops\n"
		  "cookies 40500 images by their cookies in the buffer\n");
	CHECK_STR(ask(&f, "list stats"), "sample_lost_overflow 100444 a counter\n"
					 "sample_received 100444 a counter\n"
					 "cpu0 40755 counters of a CPU\n"
					 "cpu1 40755 counters of a CPU\n");
	CHECK_STR(ask(&f, "list stats/cpu1"), "sample_received 100444 a counter\n");
	CHECK_STR(ask(&f, "list cookies"), "7 100400 path of the image\n"
					   "4711 100400 path of the image\n");
	CHECK_STR(ask(&f, "list 1"),
		  "enabled 100644 1: this event is sampled\n"
		  "event 100644 its code; its name can be written\n"
		  "count 100644 events between two samples; for the clock, samples per second\n"
		  "unit_mask 100644 selects kinds of the event\n"
		  "kernel 100644 1: sampled in the kernel\n"
		  "user 100644 1: sampled in user space\n");
	fixture_done(&f);
}

/* Everything that is listed is there, and is what the list says. */
static void check_item(const char *name, mode_t mode, const char *help, void *data)
{
	struct fixture *f = ((void **)data)[0];
	const char *in = ((void **)data)[1];
	_cleanup_free_ char *path = *in ? path_join(in, name) : xstrdup(name);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	void *below[] = { f, path };
	mode_t found = 0;

	CHECK(*help);
	CHECK_EQ(nodes_stat(f->nodes, path, &found, NULL), 0);
	CHECK_EQ(found, mode);
	if (S_ISDIR(mode))
		CHECK_EQ(nodes_list(f->nodes, path, check_item, below, NULL), 0);
	else
		CHECK_EQ(nodes_read(f->nodes, path, &text, NULL),
			 strcmp(name, "dump") && strcmp(name, "buffer") ? 0 : -EINVAL);
}

static void all_that_is_listed_is_there(void)
{
	struct fixture f;
	char root[] = "";
	void *data[] = { &f, root };

	fixture_init(&f);
	CHECK_EQ(nodes_list(f.nodes, root, check_item, data, NULL), 0);
	fixture_done(&f);
}

static void settings_wait_for_the_next_start(void)
{
	struct fixture f;

	fixture_init(&f);
	CHECK_STR(ask(&f, "write 1/enabled 1"), "");
	CHECK_STR(ask(&f, "write ibs_op/dispatched_ops 1"), "");
	CHECK(nodes_changed(f.nodes));
	CHECK_EQ(nodes_settings(f.nodes)->counters[1].enabled, 1);
	CHECK_EQ(nodes_settings(f.nodes)->ibs_op.dispatched_ops, 1);
	nodes_taken_over(f.nodes);
	CHECK(!nodes_changed(f.nodes));
	fixture_done(&f);
}

static void settings_are_busy_while_it_samples(void)
{
	struct fixture f;

	fixture_init(&f);
	CHECK_STR(ask(&f, "write enable 1"), "");
	CHECK(f.fake.running);
	CHECK_STR(ask(&f, "read enable"), "value 1\n");
	CHECK_STR(ask(&f, "write buffer_size 65536"),
		  "error: EBUSY: buffer_size: settings cannot change while sampling; write 0 to "
		  "enable first");
	CHECK_STR(ask(&f, "write 0/event CPU_CLK_UNHALTED"),
		  "error: EBUSY: 0/event: settings cannot change while sampling; write 0 to enable "
		  "first");
	CHECK_STR(ask(&f, "write dump anything"), "");
	CHECK_STR(ask(&f, "write dump"), "");
	CHECK_EQ(f.fake.dumps, 2);
	CHECK_STR(ask(&f, "write enable 0"), "");
	CHECK(!f.fake.running);
	CHECK_STR(ask(&f, "write buffer_size 65536"), "");
	f.fake.enable_result = -EACCES;
	CHECK_STR(ask(&f, "write enable 1"), "error: EACCES: enable: no");
	fixture_done(&f);
}

TESTS(T(nodes_are_read_and_written), T(what_is_wrong_is_said_by_number_and_text),
      T(directories_list_what_can_be_read), T(all_that_is_listed_is_there),
      T(settings_wait_for_the_next_start), T(settings_are_busy_while_it_samples))
