/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event_box.h"

#include "base/mem.h"
#include "helper/sandbox.h"
#include "event/catalog.h"
#include "event/evderived.h"
#include "event/event.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIME_MS = 1000, TRIAL_CPU_S = 2, TRIAL_S = 60 };

static const char obeyed[] = "LIBPFM_";

struct request {
	bool makes; /* an event of ->code; false: looks up the code of ->spec */
	uint64_t code;
	struct event_terms terms;
	char spec[SANDBOX_REQUEST_MAX / 2];
};
static_assert(sizeof(struct request) <= SANDBOX_REQUEST_MAX, "a request fits");

/* Is written by a process that is not trusted: check it. */
struct answer {
	uint64_t code;
	struct event event;
	char why[sizeof(((struct error *)NULL)->text)];
};

/* --- in the box --- */

/* The event with @code on this machine; 0 is the clock. NULL if there is none. */
static const struct catalog_event *event_by_code(uint64_t code)
{
	size_t i;

	if (!code)
		return catalog_find("TIMER");
	for (i = 0; i < catalog_count(); i++)
		if (catalog_peek(i)->code == code && catalog_peek(i)->kind != CATALOG_FEATURE)
			return catalog_peek(i);
	return NULL;
}

static int make(const struct request *request, struct answer *answer, struct error *err)
{
	const struct catalog_event *info = event_by_code(request->code);

	if (!info)
		return error_set(err, -EINVAL, "no event has the code %#" PRIx64, request->code);
	/* With its masks, which catalog_peek() may leave out. */
	info = catalog_find(info->name);
	return event_make(info, &request->terms, &answer->event, err);
}

static int look_up(const struct request *request, struct answer *answer, struct error *err)
{
	const struct catalog_event *info;
	struct event event;
	int r = event_parse(request->spec, &event, err);

	if (r < 0)
		return r;
	info = event_by_code(event.code);
	if (!info || info->perf_type != event.perf_type)
		return error_set(err, -EINVAL,
				 "%s has no code of its own; set it with opcontrol --event",
				 request->spec);
	answer->code = event.code;
	return 0;
}

static void serve(const void *bytes, size_t size _unused_, int fd _unused_,
		  struct sandbox_reply *reply)
{
	const struct request *request = bytes;
	struct answer *answer = reply->memory;
	struct error err = ERROR_INIT;

	*answer = (struct answer){ 0 };
	reply->code = (request->makes ? make : look_up)(request, answer, &err);
	memcpy(answer->why, err.text, sizeof(answer->why));
	reply->size = sizeof(*answer);
}

/* --- outside --- */

void event_box_clean_environment(void)
{
	for (size_t i = 0; environ[i];) {
		size_t size = strcspn(environ[i], "=");
		_cleanup_free_ char *name = xstrndup(environ[i], size);

		/* Without '=' it is no variable: nobody can read or remove it. */
		if (environ[i][size] && !strncmp(name, obeyed, strlen(obeyed)))
			(void)unsetenv(name);
		else
			i++;
	}
}

int event_box_try(const char *specs, struct error *err)
{
	const struct rlimit cpu = { TRIAL_CPU_S, TRIAL_CPU_S };
	struct event events[EVENT_MAX];
	struct evderived derived;
	pid_t pid = fork();
	bool is_late;
	int status = 0;

	if (pid == 0) {
		(void)setrlimit(RLIMIT_CPU, &cpu);
		(void)alarm(TRIAL_S);
		/* The reason why it fails is for the caller, who parses them, too. */
		(void)event_parse_all(specs, events, &derived, NULL);
		_exit(0);
	}
	if (pid < 0)
		return error_errno(err, -errno, "cannot start a process");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	is_late =
		WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL);
	return error_set(err, -EINVAL,
			 "the events '%s': libpfm4 %s when it looks them up; choose others with "
			 "opcontrol --event",
			 specs, is_late ? "does not return" : "crashes");
}

struct event_box {
	struct sandbox *sandbox;
};

int event_box_new(struct event_box **ret, struct error *err)
{
	const struct sandbox_config config = { .name = "oprofile-events",
					       .lanes = 1,
					       .room = sizeof(struct answer),
					       .time_ms = TIME_MS,
					       .serve = serve,
					       .browses = true };
	struct sandbox *sandbox;
	int r = sandbox_new(&config, &sandbox, err);

	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->sandbox = sandbox;
	return 0;
}

void event_box_free(struct event_box *box)
{
	if (!box)
		return;
	sandbox_free(box->sandbox);
	free(box);
}

/* Whether @text can be a part of the name of a file, and of a line. */
static bool is_name(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == '/' || *text == 0x7f)
			return false;
	return true;
}

static bool is_bool(const void *byte)
{
	return *(const unsigned char *)byte <= 1;
}

static bool is_event(const struct event *e)
{
	return is_name(e->name) && is_name(e->masks) && is_name(e->pmu) && is_bool(&e->kernel) &&
	       is_bool(&e->user) && is_bool(&e->no_hypervisor) && is_bool(&e->is_timer) &&
	       is_bool(&e->raw) && is_bool(&e->outside_cores);
}

/* Whether @e counts what @terms say, and no more. */
static bool has_terms(const struct event *e, const struct event_terms *terms)
{
	return *e->name && e->kernel <= !!terms->kernel && e->user <= !!terms->user &&
	       (e->is_timer ? e->rate_hz : e->count) == terms->count;
}

/* Has a request served and copies the answer. */
static int ask(struct event_box *box, const struct request *request, struct answer *ret,
	       struct error *err)
{
	struct error why = ERROR_INIT;
	struct sandbox_reply reply;
	int r = sandbox_call(box->sandbox, 0, request, sizeof(*request), -1, &reply, &why);

	if (r < 0)
		return error_set(err, r, "cannot look the event up: %s", why.text);
	if (reply.size != sizeof(*ret) || reply.code > 0)
		return error_set(err, -EBADMSG, "cannot look the event up: invalid answer");
	memcpy(ret, reply.memory, sizeof(*ret));
	ret->why[sizeof(ret->why) - 1] = '\0';
	ret->event.name[sizeof(ret->event.name) - 1] = '\0';
	ret->event.masks[sizeof(ret->event.masks) - 1] = '\0';
	ret->event.pmu[sizeof(ret->event.pmu) - 1] = '\0';
	ret->event.feature = NULL;
	if (!is_event(&ret->event))
		return error_set(err, -EBADMSG, "cannot look the event up: invalid answer");
	return reply.code < 0 ? error_set(err, reply.code, "%s", ret->why) : 0;
}

int event_box_code(struct event_box *box, const char *spec, uint64_t *ret, struct error *err)
{
	struct request request = { 0 };
	struct answer answer;
	int r;

	if (strlen(spec) >= sizeof(request.spec))
		return error_set(err, -EINVAL, "the name of an event is too long");
	(void)strcpy(request.spec, spec);
	r = ask(box, &request, &answer, err);
	if (r == 0)
		*ret = answer.code;
	return r;
}

int event_box_make(struct event_box *box, uint64_t code, const struct event_terms *terms,
		   struct event *ret, struct error *err)
{
	const struct request request = { .makes = true, .code = code, .terms = *terms };
	struct answer answer;
	int r = ask(box, &request, &answer, err);

	if (r < 0)
		return r;
	if (!has_terms(&answer.event, terms))
		return error_set(err, -EBADMSG, "cannot look the event up: invalid answer");
	*ret = answer.event;
	return 0;
}
