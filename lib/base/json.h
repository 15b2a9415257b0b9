/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON (RFC 8259) to a stream: commas, quotes and escapes are its business. Bytes that are
 * no UTF-8 become U+FFFD, so that what comes out is always valid.
 *
 *	struct json j = JSON_INIT(stdout);
 *	json_open(&j, NULL, '{');
 *	json_string(&j, "image", path);
 *	json_close(&j, '}');
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool comma;	    /* the next value needs one before it */
	bool line;	    /* and starts on a new line */
	bool spaced;	    /* for people to read: blanks, and new lines indented */
	unsigned int depth; /* open brackets */
};

#define JSON_INIT(stream)   ((struct json){ .out = (stream) })
#define JSON_SPACED(stream) ((struct json){ .out = (stream), .spaced = true })

/* Opens an object ('{') or array ('['), as member @name of the one around it (NULL in an array). */
void json_open(struct json *j, const char *name, char bracket);
/* Closes it. */
void json_close(struct json *j, char bracket);
/* A string, number or truth value as member @name. NULL is written as null. */
void json_string(struct json *j, const char *name, const char *value);
void json_u64(struct json *j, const char *name, uint64_t value);
void json_i64(struct json *j, const char *name, int64_t value);
void json_double(struct json *j, const char *name, double value);
/* A string of which every byte must be told, such as a path: where it is no UTF-8, its bytes above
 * 0x7f stand as \u00XX. */
void json_bytes(struct json *j, const char *name, const char *value);
void json_bool(struct json *j, const char *name, bool value);
/* A number that is text already, "0.50". */
void json_number(struct json *j, const char *name, const char *text);
/* Starts a new line before the next value or closing bracket. */
void json_line(struct json *j);
/* The number as a string, "0x1f2e": JSON's own numbers end at 53 bits for many readers. */
void json_hex(struct json *j, const char *name, uint64_t value);
