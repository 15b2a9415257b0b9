/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of a table of cookies, for cookie.c, which owns it, and cookie_look.c. */
#pragma once

#include "base/map.h"
#include "identity/cookie_image.h"
#include "identity/copy_limit.h"
#include "identity/internal/keep_functions.h"

#include <stddef.h>

struct cookie_entry {
	struct cookie_image image;
	struct cookie_mapped where;	/* a process that had code sampled there; ->root is "" */
	struct cookie_entry *successor; /* the file as it is since it was changed, or NULL */
	uint64_t looked_ns;		/* for changes, last */
	bool looking;			/* for changes; the answer has not come */
	bool compared;			/* memory: ->original was looked for */
	uint64_t compared_ns;		/* when */
	uint64_t put_off_ns;		/* when it was due, and there was too much */
	uint64_t original; /* cookie of the file whose text was copied to this memory; 0: none */
	uint64_t shift;	   /* from an offset here to one there */
	uint32_t age;	   /* when it was last asked for */
};

struct cookie_table {
	struct cookie_entry **entries; /* in order of making */
	size_t count, room;
	struct cookie_entry **replaced; /* by cookie_define(): somebody may still look at them */
	size_t replaced_count, replaced_room;
	struct map by_cookie;  /* cookie: entry */
	struct map by_key;     /* hash of what identifies an image: entries */
	uint64_t last;	       /* the highest cookie given out or defined */
	uint64_t vdso;	       /* its cookie, 0: not made yet */
	uint32_t age;	       /* number of cookie_age() calls */
	bool is_held;	       /* nothing is swept */
	size_t function_bytes; /* of memory that functions of source files take */
	struct parser *parser;
	struct finder *finder;	    /* looks at files, or NULL */
	struct keep_functions keep; /* without a finder */
	uint64_t last_identified;   /* the number of its last question that samples wait for */
	uint64_t wait_left_ns;	    /* how long answers are still waited for */
	uint64_t late;		    /* number of a question that was waited for in vain; 0: none */
	struct copy_limit ahead;    /* files that are read when they are executed */
	struct copy_limit copies;   /* memory that is compared with files */
	uint64_t copies_late;	    /* how often not when due */
};

/* Notes that @e is asked for; returns its cookie. */
uint64_t cookie_table_use(const struct cookie_table *t, struct cookie_entry *e);
/* Makes a cookie for the file of @e as it is since it was changed. */
struct cookie_entry *cookie_table_succeed(struct cookie_table *t, struct cookie_entry *e);
