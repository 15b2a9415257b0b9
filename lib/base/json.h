/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON (RFC 8259) to a stream: it takes care of commas, quotes and escapes. Bytes that
 * are not UTF-8 become U+FFFD, so that the output is always valid.
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
	bool comma;	    /* is due before the next value */
	bool line;	    /* so is a new line */
	bool spaced;	    /* for people to read: with blanks and indentation */
	unsigned int depth; /* open brackets */
};

#define JSON_INIT(stream)   ((struct json){ .out = (stream) })
#define JSON_SPACED(stream) ((struct json){ .out = (stream), .spaced = true })

/* Opens an object ('{') or array ('['), as member @name of the one around it (NULL in an array). */
void json_open(struct json *j, const char *name, char bracket);
/* Closes the innermost object ('}') or array (']'). */
void json_close(struct json *j, char bracket);
/* These write a value as member @name (NULL in an array): a string, null if NULL. */
void json_string(struct json *j, const char *name, const char *value);
/* An unsigned number. */
void json_u64(struct json *j, const char *name, uint64_t value);
/* A signed number. */
void json_i64(struct json *j, const char *name, int64_t value);
/* A fractional number. */
void json_double(struct json *j, const char *name, double value);
/* true or false. */
void json_bool(struct json *j, const char *name, bool value);
/* A string whose every byte matters, such as a path: if it is not UTF-8, its bytes above 0x7f are
 * written as \u00XX. */
void json_bytes(struct json *j, const char *name, const char *value);
/* A number given as text, "0.50". */
void json_number(struct json *j, const char *name, const char *text);
/* Starts a new line before the next value or closing bracket. */
void json_line(struct json *j);
/* The number as a string, "0x1f2e": JSON's own numbers end at 53 bits for many readers. */
void json_hex(struct json *j, const char *name, uint64_t value);
