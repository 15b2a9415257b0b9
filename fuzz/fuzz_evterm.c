/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event descriptions of sysfs: the first line is a format, the second terms. */
#include "base/mem.h"
#include "event/internal/evterm.h"
#include "fuzz.h"

#include <string.h>

struct put {
	const struct evformat *format;
	uint64_t words[EVTERM_WORDS];
};

static int put_term(const struct evterm *term, void *data)
{
	struct put *p = data;
	uint64_t before[EVTERM_WORDS];
	size_t i;

	if (!*term->name || strlen(term->name) >= EVTERM_NAME_MAX || (term->open && !term->given))
		abort();
	memcpy(before, p->words, sizeof(before));
	if (evformat_put(p->format, term->value, p->words) < 0 &&
	    memcmp(before, p->words, sizeof(before)) != 0)
		abort(); /* what does not fit changes nothing */
	for (i = 0; i < EVTERM_WORDS; i++)
		if (i != p->format->word && p->words[i])
			abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	char *terms = text, *line = strsep(&terms, "\n");
	struct evformat format;
	struct put put = { .format = &format };
	size_t i;

	if (evformat_parse(line, &format) < 0)
		(void)evformat_parse("config:0-7,32-35", &format);
	if (!format.count || format.count > EVFORMAT_RANGES || format.word >= EVTERM_WORDS)
		abort();
	for (i = 0; i < format.count; i++)
		if (format.ranges[i].low > format.ranges[i].high || format.ranges[i].high > 63)
			abort();
	(void)evterm_each(terms ? terms : "", put_term, &put);
	return 0;
}
