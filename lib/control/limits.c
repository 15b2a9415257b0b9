/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/limits.h"

#include "base/macro.h"
#include "control/daemonrc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_none(const char *text)
{
	return !strcmp(text, "none") || !strcmp(text, "0");
}

/* A percentage above 0; the '%' may be left out if @bare. */
static int parse_share(const char *text, double *ret)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end == '%' ? end[1] : *end))
		return -EINVAL;
	if (!(percent > 0 && percent <= 100))
		return -ERANGE;
	*ret = percent / 100;
	return 0;
}

static int read_cpu(const char *text, struct limits *l)
{
	l->cpu = 0;
	return is_none(text) ? 0 : parse_share(text, &l->cpu);
}

int limits_read(const struct daemonrc *rc, struct limits *ret, struct error *err)
{
	const struct {
		const char *key, *text, *form;
		int (*read)(const char *text, struct limits *l);
	} rows[] = {
		{ "BUDGET", rc->budget, "a percentage such as 0.5%, or none", read_cpu },
	};
	struct limits l = { .cpu = 0.005 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].text && rows[i].read(rows[i].text, &l) < 0)
			return error_set(err, -EINVAL, "%s: '%s' is not %s", rows[i].key,
					 rows[i].text, rows[i].form);
	*ret = l;
	return 0;
}
