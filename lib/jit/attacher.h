/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that asks Java's virtual machines for the names of their code (internal/hotspot.h). For
 * each one it forks a child, which takes the user of that process and has no other rights: it can
 * do nothing that this user could not. The child has some seconds, then it is killed. While one
 * does not end even so, no other process of its user is asked, nor of the user namespaces that he
 * made. One is asked at a time.
 *
 *	attacher_new(&a, err);		before there are threads, and before rights are dropped
 *	attacher_ask(a, &(struct attacher_question){ .tgid = 7, .inner = 7, .serial = 1 });
 *	...
 *	if (attacher_take(a, &answer))		a while later
 *		...
 *	attacher_free(a);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>

struct attacher;

struct attacher_question {
	uint32_t tgid, inner; /* the PID, and that in its own namespace */
	uint64_t serial;      /* returned with the answer */
};

struct attacher_answer {
	uint32_t tgid;
	int32_t code; /* 0: the map is written; or -errno as hotspot_look() and hotspot_ask() */
	uint64_t serial;
};

/* Starts the process. 0, the caller frees; or -errno. */
int attacher_new(struct attacher **ret, struct error *err);
/* Ends the process. NULL is fine. */
void attacher_free(struct attacher *a);
DEFINE_CLEANUP(struct attacher *, attacher_free);

/* Asks the virtual machine of a process. False if it cannot now, such as while it is busy. Never
 * waits. */
bool attacher_ask(struct attacher *a, const struct attacher_question *question);
/* Whether there is an answer, which it returns. Never waits. */
bool attacher_take(struct attacher *a, struct attacher_answer *ret);
/* Whether there is an answer to come, or to take. */
bool attacher_is_busy(const struct attacher *a);
/* Waits for the answer, but at most @ms. */
void attacher_wait(const struct attacher *a, int ms);
/* The meaning of an answer's @code, as a phrase; never freed. */
const char *attacher_why(int code);
