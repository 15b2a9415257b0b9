/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers to requests that change nothing, from the view that the main loop has shown last. They
 * are made in the thread of the control socket, and touch nothing that the main loop uses.
 *
 *	struct peek *peek = peek_new(board, clock_now_ns());
 *	peek_status(NULL, &answer, peek, &err);
 *	peek_free(peek);
 *
 * The functions are for struct control_command: they return 0, -errno, or CONTROL_PASSED if only
 * the main loop can answer.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "base/strbuf.h"

#include <stdint.h>

struct peek;
struct view_board;

/* Borrows @board; @born_ns: when the daemon started, CLOCK_MONOTONIC. Caller frees. */
struct peek *peek_new(struct view_board *board, uint64_t born_ns);
/* NULL is fine. */
void peek_free(struct peek *p);
DEFINE_CLEANUP(struct peek *, peek_free);

/* "status". */
int peek_status(const char *arg, struct strbuf *answer, void *peek, struct error *err);
/* "list [PATH]". */
int peek_list(const char *arg, struct strbuf *answer, void *peek, struct error *err);
/* "stat PATH". */
int peek_stat(const char *arg, struct strbuf *answer, void *peek, struct error *err);
/* "read PATH". */
int peek_read(const char *arg, struct strbuf *answer, void *peek, struct error *err);
