/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides what a request to opweb gets. Everything in a request is treated as hostile: another page
 * in the same browser can make it, and so can any process of the machine.
 *
 *	struct web_policy policy = { .secret = "...", .port = 8123 };
 *	if (web_request_judge(&policy, method, path, host) == WEB_PAGE)
 *		puts("the page");
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Characters of a secret: 128 random bits as base64url. */
enum { WEB_SECRET_LENGTH = 22 };
/* The longest question, with its NUL. */
enum { WEB_QUESTION_MAX = 8192 };

/* The question for the data of the page. */
#define WEB_DATA_QUESTION "data"
/* The same of applications alone, which are known long before all functions are. */
#define WEB_APPLICATIONS_QUESTION "applications"
/* The question for the source files of functions. */
#define WEB_FILES_QUESTION "files"
/* Before a question that is about one of several events, and its key and a slash (web_event.h). */
#define WEB_EVENT_PREFIX "event/"

/* Before the question for data, sources or files of another profile, to compare with: the second
 * one of the command line, or a session, whose name and a slash follow (web_second.h). */
#define WEB_SECOND_PREFIX  "second/"
#define WEB_SESSION_PREFIX "session/"

struct web_policy {
	char secret[WEB_SECRET_LENGTH + 1];
	uint16_t port;
	bool is_unix; /* listens on a Unix socket, without a port */
};

enum web_answer {
	WEB_PAGE,
	WEB_DATA,	  /* what is asked for is after the secret: web_request_question() */
	WEB_APPLICATIONS, /* the same */
	WEB_SOURCE,	  /* the same, of a function */
	WEB_FILES,	  /* the same, of all functions */
	WEB_EXPORT,	  /* the same, as a file for other programs */
	WEB_NOT_FOUND,	  /* also with another secret */
	WEB_BAD_METHOD,	  /* neither GET nor HEAD */
	WEB_BAD_HOST	  /* the name of another server: a page that was rebound to this address */
};

/* Makes a new secret. 0 or -errno. */
int web_secret_new(char ret[WEB_SECRET_LENGTH + 1]);
/* The answer to a request; @host is the header of that name, or NULL. How long it takes does not
 * depend on how much of the secret is right. */
enum web_answer web_request_judge(const struct web_policy *policy, const char *method,
				  const char *path, const char *host);
/* What the path of a request with that answer asks for: the part after the secret. Borrowed. */
const char *web_request_question(const char *path);
/* A question without the event that it may begin with; borrowed. */
const char *web_event_rest(const char *question);
/* A question without an event, without the profile to compare with; borrowed. */
const char *web_second_rest(const char *question);
