/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evline.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char blanks[] = " \t\r\v\f";

char *evline_next(struct evline *l)
{
	char *line, *end;

	while (l->next) {
		line = l->next;
		l->number++;
		end = strchrnul(line, '\n');
		l->next = *end ? end + 1 : NULL;
		while (end > line && strchr(blanks, end[-1]))
			end--;
		*end = '\0';
		line += strspn(line, blanks);
		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

char *evline_word(char **at)
{
	char *word = *at + strspn(*at, blanks), *end = word + strcspn(word, blanks);

	*at = *end ? end + 1 : end;
	*end = '\0';
	return *word ? word : NULL;
}

int evline_fail(const struct evline *l, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = xvasprintf(format, ap);
	va_end(ap);
	return error_set(l->err, -EBADMSG, "%s:%u: %s", l->path, l->number, text);
}

void evline_warn(const struct evline *l, const char *consequence)
{
	if ((*l->mistakes)++ < EVLINE_WARNINGS)
		log_warn("%s; %s", l->err->text, consequence);
	*l->err = ERROR_INIT;
}

bool evline_ok(const struct evline *l, int r)
{
	if (r < 0)
		evline_warn(l, "the line is ignored");
	return r >= 0;
}

int evline_number(const struct evline *l, const char *what, const char *text, uint64_t max,
		  uint64_t *ret)
{
	int r = parse_u64(text, 0, max, ret);

	if (r == -ERANGE)
		return evline_fail(l, "%s '%s' is larger than %" PRIu64, what, text, max);
	return r < 0 ? evline_fail(l, "%s '%s' is not a number", what, text) : 0;
}
