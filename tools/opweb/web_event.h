/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event that a question to opweb is about: "event/KEY/data" instead of "data"; the key is that
 * of tools/common/page_events.h.
 *
 *	_cleanup_free_ char *key = web_event_key(question);
 */
#pragma once

/* The key of the event in a question, or NULL; caller frees. */
char *web_event_key(const char *question);
