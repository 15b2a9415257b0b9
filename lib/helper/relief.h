/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that takes over from its owner, a thread that does short work again and again, while
 * that one waits for a disk: the work goes on. Only one of the two does anything at a time, except
 * what the owner does between relief_leave() and relief_return(), which must use nothing that the
 * work uses.
 *
 *	relief = relief_new(work, data);
 *	relief_start(relief, enter, err);
 *	...
 *	relief_leave(relief);
 *	write(fd, bytes, size);		work() may be called by the other thread
 *	relief_return(relief);
 *	...
 *	relief_free(relief);
 *
 * To leave and return is cheap, so it may be done often; the thread is woken if the owner leaves,
 * but not more often than every RELIEF_MS.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

/* The thread takes over if the owner has been away for so long, and then as often, but only for
 * 1/RELIEF_SHARE of the time of a CPU. */
enum { RELIEF_MS = 20, RELIEF_SHARE = 5 };

struct relief;

/* Caller frees. There is no thread yet, so nobody works. */
struct relief *relief_new(void (*work)(void *data), void *data);
/* Makes the calling thread the owner and starts the thread, which calls @enter first, if not NULL.
 * It has the rights that the owner has now. 0 or -errno. */
int relief_start(struct relief *r, void (*enter)(void), struct error *err);
/* Ends the thread, after the work that it does, if any; called by the owner. NULL is fine. */
void relief_free(struct relief *r);
DEFINE_CLEANUP(struct relief *, relief_free);
/* Lets the thread work. Calls may be nested. Does nothing in other threads than the owner, and for
 * NULL. */
void relief_leave(struct relief *r);
/* Waits until it does not. */
void relief_return(struct relief *r);
