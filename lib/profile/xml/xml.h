/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes XML 1.0 to a stream: tags and escapes are its business, nesting is the caller's. Bytes
 * that are no UTF-8 and characters that XML does not have become U+FFFD, so that what comes out is
 * always well-formed.
 *
 *	struct xml x = XML_INIT(stdout);
 *	xml_open(&x, "symbol");
 *	xml_string(&x, "name", name);			an attribute: right after xml_open()
 *	xml_u64(&x, "size", size);
 *	xml_close(&x, "symbol");			<symbol name="main" size="12"/>
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct xml {
	FILE *out;
	unsigned int depth;
	bool in_tag;  /* attributes may follow */
	bool in_text; /* the element has text: no white space is put into it */
};

#define XML_INIT(stream) ((struct xml){ .out = (stream) })

/* The first line of a document. */
void xml_declare(struct xml *x);
/* Opens an element on a line of its own. */
void xml_open(struct xml *x, const char *name);
/* Closes it; @name is the one it was opened with. */
void xml_close(struct xml *x, const char *name);
/* Attributes of the element just opened. A string that is NULL is left out. */
void xml_string(struct xml *x, const char *name, const char *value);
/* An unsigned number as an attribute. */
void xml_u64(struct xml *x, const char *name, uint64_t value);
/* A signed number as an attribute. */
void xml_i64(struct xml *x, const char *name, int64_t value);
/* A hexadecimal number as an attribute. */
void xml_hex(struct xml *x, const char *name, uint64_t value);
/* A number as the element's text. */
void xml_text_u64(struct xml *x, uint64_t value);
/* Bytes as the element's text, two hexadecimal digits each. */
void xml_text_bytes(struct xml *x, const void *bytes, size_t size);
