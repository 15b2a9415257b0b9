/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tools/opweb/web_answers.c, web_maker.c: questions of several at once, and what is kept. */
#include "test.h"

#include "tools/opweb/web_answers.h"
#include "tools/opweb/web_maker.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that makes answers, and its end of the socket. */
struct maker {
	pid_t pid;
	int socket;
};

/* Answers with the question, and fails if it is about "nothing". */
static int echo(const void *data _unused_, const char *question)
{
	(void)!write(STDOUT_FILENO, question, strlen(question));
	return strcmp(question, "nothing") == 0;
}

static struct maker start(void)
{
	static const struct web_maker how = { .print = echo };
	static const volatile sig_atomic_t is_over;
	struct maker m = { 0 };
	int pair[2] = { -1, -1 };

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	m.pid = fork();
	if (m.pid == 0) {
		(void)close(pair[0]);
		web_maker_serve(pair[1], &is_over, &how);
		_exit(0);
	}
	(void)close(pair[1]);
	m.socket = pair[0];
	return m;
}

static void stop(struct maker *m)
{
	int status = -1;

	(void)close(m->socket);
	CHECK(waitpid(m->pid, &status, 0) == m->pid);
	CHECK_EQ(status, 0);
}

static bool has_text(const struct web_made *made, const char *text)
{
	char buffer[64] = "";
	ssize_t n = made ? pread(made->file, buffer, sizeof(buffer) - 1, 0) : -1;

	return n == (ssize_t)strlen(text) && made->size == n && !strcmp(buffer, text);
}

static void a_question_is_asked_once(void)
{
	struct maker m = start();
	struct web_answers *a = web_answers_new(m.socket, 1000);
	struct web_made *first = web_answers_ask(a, "one", 60000), *made;

	CHECK(first && !first->is_ready);
	CHECK(web_answers_ask(a, "one", 0) == first); /* it is being answered */
	made = web_answers_take(a);
	CHECK(made == first && made->is_ready && made->status == 0 && has_text(made, "one"));
	CHECK(web_answers_ask(a, "one", -1) == first);
	CHECK(web_answers_ask(a, "one", 60000) == first);
	made = web_answers_ask(a, "another", -1);
	CHECK(made && made != first && !made->is_ready);
	CHECK(web_answers_take(a) == made && has_text(made, "another") && made->tag != first->tag);
	web_answers_free(a);
	stop(&m);
}

static void what_failed_is_asked_again(void)
{
	struct maker m = start();
	struct web_answers *a = web_answers_new(m.socket, 1000);
	struct web_made *made;

	(void)web_answers_ask(a, "nothing", -1);
	made = web_answers_take(a);
	CHECK(made && made->is_ready && made->status < 0 && has_text(made, "nothing"));
	made = web_answers_ask(a, "nothing", -1);
	CHECK(made && !made->is_ready);
	web_answers_free(a);
	stop(&m);
}

/* Else each reload of a page would leave a copy of its data. */
static void what_is_too_old_is_dropped(void)
{
	struct maker m = start();
	struct web_answers *a = web_answers_new(m.socket, 1000);
	struct web_made *old = web_answers_ask(a, "one", -1);
	int file;

	CHECK(web_answers_take(a) == old);
	file = old->file;
	old->made_ms -= 100000;
	old->users++;
	CHECK(web_answers_ask(a, "one", 60000) != old);
	CHECK(fcntl(file, F_GETFD) >= 0); /* somebody gets it */
	old->users--;
	(void)web_answers_take(a);
	(void)web_answers_ask(a, "one", 60000);
	CHECK(fcntl(file, F_GETFD) < 0);
	web_answers_free(a);
	stop(&m);
}

/* Those that somebody waits for stay. */
static void what_is_forgotten_is_asked_again(void)
{
	struct maker m = start();
	struct web_answers *a = web_answers_new(m.socket, 1000);
	struct web_made *kept = web_answers_ask(a, "source/1", -1);
	uint32_t number = kept->number;

	kept->users++;
	CHECK(web_answers_take(a) == kept);
	CHECK(web_answers_ask(a, "source/2", -1) != kept);
	CHECK(web_answers_take(a) != kept);
	web_answers_forget(a, "source/");
	CHECK(kept->number == number && web_answers_ask(a, "source/1", -1) == kept);
	CHECK(!web_answers_ask(a, "source/2", -1)->is_ready);
	web_answers_free(a);
	stop(&m);
}

/* All get their own answers, however many are made at the same time. Too many are refused. */
static void many_are_answered(void)
{
	enum { MANY = 32 };
	struct maker m = start();
	struct web_answers *a = web_answers_new(m.socket, 1000);
	char text[16];
	int i;

	for (i = 0; i < MANY; i++) {
		(void)snprintf(text, sizeof(text), "%d", i);
		CHECK(web_answers_ask(a, text, -1));
	}
	CHECK(!web_answers_ask(a, "too many", -1));
	for (i = 0; i < MANY; i++) {
		struct web_made *made = web_answers_take(a);

		CHECK(made && has_text(made, made->question));
	}
	CHECK(web_answers_ask(a, "not too many", -1));
	web_answers_free(a);
	stop(&m);
}

static struct web_made *ask_now(struct web_answers *a, const char *question)
{
	struct web_made *made = web_answers_ask(a, question, -1);

	CHECK(made && !made->is_ready);
	CHECK(web_answers_take(a) == made);
	return made;
}

/* What was not used for longest is dropped for what is new, but not what somebody waits for. */
static void only_so_many_bytes_are_kept(void)
{
	struct maker m = start();
	struct web_answers *a = web_answers_new(m.socket, 30);
	struct web_made *held;

	(void)ask_now(a, "ten bytes1");
	(void)ask_now(a, "ten bytes2");
	CHECK(web_answers_ask(a, "ten bytes1", -1)->is_ready);
	held = ask_now(a, "eleven byte");
	held->users++;
	CHECK(web_answers_ask(a, "ten bytes1", -1)->is_ready);
	(void)ask_now(a, "ten bytes2"); /* it was dropped */
	CHECK(!web_answers_ask(a, "ten bytes1", -1)->is_ready);
	CHECK(has_text(web_answers_take(a), "ten bytes1"));
	CHECK(held->number && has_text(held, "eleven byte"));
	held = ask_now(a, "a text of twenty-nine bytes..");
	held->users++;
	CHECK(!web_answers_ask(a, "more", -1));
	held->users--;
	CHECK(web_answers_ask(a, "more", -1));
	web_answers_free(a);
	stop(&m);
}

TESTS(T(a_question_is_asked_once), T(what_failed_is_asked_again), T(what_is_too_old_is_dropped),
      T(what_is_forgotten_is_asked_again), T(many_are_answered), T(only_so_many_bytes_are_kept))
