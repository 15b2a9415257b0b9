/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clients of a server that has a thread of its own: only what changes something waits for the
 * owner, which is this thread. */
#include "test.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "control/control_thread.h"
#include "control/socket.h"
#include "file/path.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { PATIENCE_MS = 20000, BURN_MS = 5 };

struct fixture {
	char *dir;
	struct control_thread *thread;
	int works;    /* how often "work" ran */
	int ran;      /* its value when the last command's answer was sent; atomic */
	int adopted;  /* connection, or -1 */
	bool entered; /* by the thread */
	bool holds;   /* answers */
};

static int run_work(const char *arg, struct strbuf *answer, void *data, struct error *err)
{
	struct fixture *f = data;

	if (!strcmp(arg, "badly"))
		return error_set(err, -EIO, "it broke");
	control_answer(answer, "work", "%d %s", ++f->works, arg);
	return 0;
}

static int run_adopt(const char *arg _unused_, struct strbuf *answer, void *data _unused_,
		     struct error *err _unused_)
{
	control_answer(answer, "now", "it is yours");
	return CONTROL_ADOPT;
}

static int peek_look(const char *arg, struct strbuf *answer, void *data, struct error *err _unused_)
{
	if (arg)
		return CONTROL_PASSED;
	control_answer(answer, "ran", "%d", __atomic_load_n((int *)data, __ATOMIC_ACQUIRE));
	return 0;
}

/* Takes some milliseconds of CPU time. */
static int peek_burn(const char *arg _unused_, struct strbuf *answer _unused_, void *data _unused_,
		     struct error *err _unused_)
{
	uint64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + BURN_MS * 1000000ULL;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		;
	return 0;
}

static const struct control_command commands[] = {
	{ "work", "TEXT", run_work, "change something" },
	{ "look", "[TEXT]", run_work, "see something", peek_look },
	{ "burn", NULL, NULL, "take time", peek_burn },
	{ "adopt", NULL, run_adopt, "take the connection" },
	{ NULL, NULL, NULL, NULL },
};

static void ran(void *data)
{
	struct fixture *f = data;

	__atomic_store_n(&f->ran, f->works, __ATOMIC_RELEASE);
}

static bool is_settled(void *data)
{
	return !((struct fixture *)data)->holds;
}

static void adopt(int fd, void *data)
{
	((struct fixture *)data)->adopted = fd;
}

static void enter(void *data)
{
	((struct fixture *)data)->entered = true;
}

static void fixture_init(struct fixture *f)
{
	struct control_thread_config config = { .commands = commands,
						.data = f,
						.peek_data = &f->ran,
						.ran = ran,
						.is_settled = is_settled,
						.adopt = adopt,
						.enter = enter };
	struct error err = ERROR_INIT;

	*f = (struct fixture){ .dir = test_directory(), .adopted = -1 };
	config.session_dir = f->dir;
	if (control_thread_new(&config, &f->thread, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
}

static void fixture_done(struct fixture *f)
{
	control_thread_free(f->thread);
	cleanup_closep(&f->adopted);
	test_directory_donep(&f->dir);
}
#define FIXTURE(f)                                                                                 \
	_cleanup_(fixture_done) struct fixture f;                                                  \
	fixture_init(&f)

static int connected(const struct fixture *f)
{
	int fd = control_connect(f->dir, PATIENCE_MS, NULL);

	CHECK(fd >= 0);
	return fd;
}

static void request(int fd, const char *line)
{
	CHECK_EQ(send(fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
}

/* Waits until @fd is readable; lets the owner work while it waits if @f is not NULL. */
static bool wait_for(int fd, struct fixture *f)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = f ? control_thread_fd(f->thread) : -1, .events = POLLIN } };

	while (poll(p, ARRAY_SIZE(p), PATIENCE_MS) > 0) {
		if (p[1].revents)
			control_thread_run(f->thread);
		if (p[0].revents)
			return true;
	}
	return false;
}

/* Reads until the answer has @expected's length, and compares. */
static void check_answer(int fd, struct fixture *f, const char *expected)
{
	char answer[1024] = "";
	size_t length = 0;
	ssize_t n = 1;

	while (length < strlen(expected) && n > 0 && wait_for(fd, f)) {
		n = recv(fd, answer + length, sizeof(answer) - 1 - length, MSG_DONTWAIT);
		length += (size_t)MAX(n, (ssize_t)0);
	}
	CHECK_STR(answer, expected);
}

static bool is_silent(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

static void lookers_do_not_wait_for_the_owner(void)
{
	FIXTURE(f);
	_cleanup_close_ int worker = connected(&f), looker = connected(&f);

	CHECK(f.entered);
	request(worker, "work hard\n");
	request(looker, "look\n");
	check_answer(looker, NULL, "ran 0\n.\n");
	CHECK(is_silent(worker));
	CHECK_EQ(f.works, 0);
	check_answer(worker, &f, "work 1 hard\n.\n");
	request(looker, "look\nlook closely\nlook\nhelp\n");
	check_answer(looker, &f,
		     "ran 1\n.\nwork 2 closely\n.\nran 2\n.\n"
		     "work TEXT: change something\nlook [TEXT]: see something\nburn take time\n"
		     "adopt take the connection\n.\n");
}

static void answers_and_errors_come_in_order(void)
{
	FIXTURE(f);
	_cleanup_close_ int a = connected(&f), b = connected(&f);

	request(a, "work one\nwork badly\nlook\nwork two\n");
	check_answer(a, &f, "work 1 one\n.\nerror: it broke\nran 1\n.\nwork 2 two\n.\n");
	request(b, "nonsense\nwork\nlook\n");
	check_answer(b, NULL,
		     "error: unknown request; \"help\" lists the requests\n"
		     "error: work needs TEXT\nran 2\n.\n");
}

static void answers_are_held_until_all_is_settled(void)
{
	FIXTURE(f);
	_cleanup_close_ int a = connected(&f), b = connected(&f);

	f.holds = true;
	request(a, "work one\n");
	request(b, "work two\n");
	while (f.works < 2)
		control_thread_run(f.thread);
	CHECK(control_thread_answer(f.thread));
	CHECK(is_silent(a) && is_silent(b));
	f.holds = false;
	CHECK(!control_thread_answer(f.thread));
	CHECK(wait_for(a, NULL) && wait_for(b, NULL));
	f.holds = true;
	request(a, "work three\n");
	while (f.works < 3)
		control_thread_run(f.thread);
	control_thread_free(STEAL(f.thread)); /* sends it all the same */
	CHECK(!is_silent(a));
}

static void clients_may_leave_before_their_answer(void)
{
	FIXTURE(f);
	_cleanup_close_ int looker = connected(&f);

	for (int i = 0; i < 3 * CONTROL_CLIENTS_PER_USER; i++) {
		_cleanup_close_ int gone = connected(&f);

		request(gone, "work away\n");
		CHECK(wait_for(control_thread_fd(f.thread), NULL));
		(void)close(STEAL_FD(gone));
		control_thread_run(f.thread);
	}
	CHECK_EQ(f.works, 3 * CONTROL_CLIENTS_PER_USER);
	request(looker, "look\n");
	check_answer(looker, &f, "ran 24\n.\n");
	request(looker, "work on\n"); /* is never answered: the server ends */
	CHECK(wait_for(control_thread_fd(f.thread), NULL));
}

static void owner_gets_adopted_connections(void)
{
	FIXTURE(f);
	_cleanup_close_ int fd = connected(&f);

	request(fd, "adopt\n");
	check_answer(fd, &f, "now it is yours\n.\n");
	while (f.adopted < 0 && wait_for(control_thread_fd(f.thread), NULL))
		control_thread_run(f.thread);
	CHECK_EQ(send(f.adopted, "x", 1, 0), 1);
	check_answer(fd, NULL, "x");
}

static void requests_cannot_take_the_cpu(void)
{
	enum { TIMES = 20 };
	FIXTURE(f);
	_cleanup_close_ int fd = connected(&f);
	uint64_t since_ns = clock_now_ns();
	_cleanup_(strbuf_done) struct strbuf answers = STRBUF_INIT;

	for (int i = 0; i < TIMES; i++) {
		request(fd, "burn\n");
		strbuf_adds(&answers, ".\n");
	}
	check_answer(fd, NULL, strbuf_text(&answers));
	/* The first window may be nearly over, and the last one ends with the answer. On a busy
	 * machine a request may go on beyond its window, whose end forgets what it took. */
	CHECK((clock_now_ns() - since_ns) / 1000000 >=
	      TIMES * BURN_MS / CONTROL_THREAD_BUSY_MS / 2 * CONTROL_THREAD_WINDOW_MS);
}

/* The session directory was removed, and another one made in its place. */
static void a_socket_that_was_removed_is_made_again(void)
{
	FIXTURE(f);
	_cleanup_free_ char *path = path_join(f.dir, CONTROL_SOCKET);
	_cleanup_close_ int old = connected(&f), new = -1;
	struct stat st;

	request(old, "work on\n"); /* it is accepted */
	check_answer(old, &f, "work 1 on\n.\n");
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(f.dir), 0);
	CHECK_EQ(mkdir(f.dir, 0700), 0);
	CHECK_EQ(control_connect(f.dir, PATIENCE_MS, NULL), -ENOENT);
	CHECK_EQ(control_thread_renew(f.thread, f.dir, NULL), 0);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	new = connected(&f);
	request(new, "work on\n");
	check_answer(new, &f, "work 2 on\n.\n");
	request(old, "work on\n");
	check_answer(old, &f, "work 3 on\n.\n");
}

TESTS(T(lookers_do_not_wait_for_the_owner), T(answers_and_errors_come_in_order),
      T(answers_are_held_until_all_is_settled), T(clients_may_leave_before_their_answer),
      T(owner_gets_adopted_connections), T(requests_cannot_take_the_cpu),
      T(a_socket_that_was_removed_is_made_again))
