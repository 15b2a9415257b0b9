/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evterm.h"

#include "base/macro.h"
#include "base/parse.h"

#include <errno.h>
#include <string.h>

static const char *const words[] = {
	[EVTERM_CONFIG] = "config",
	[EVTERM_CONFIG1] = "config1",
	[EVTERM_CONFIG2] = "config2",
	[EVTERM_CONFIG3] = "config3",
};
static_assert(ARRAY_SIZE(words) == EVTERM_WORDS, "every word has a name");

/* Parses "7" or "0-7". */
static int parse_range(const char **at, struct evformat *f)
{
	uint64_t low, high;

	if (f->count == EVFORMAT_RANGES || parse_dec(at, &low) < 0)
		return -EINVAL;
	high = low;
	if (**at == '-' && ((*at)++, parse_dec(at, &high) < 0))
		return -EINVAL;
	if (high > 63 || high < low || (f->count && low <= f->ranges[f->count - 1].high))
		return -EINVAL;
	f->ranges[f->count].low = (uint8_t)low;
	f->ranges[f->count++].high = (uint8_t)high;
	return 0;
}

int evformat_parse(const char *text, struct evformat *ret)
{
	size_t length = strcspn(text, ":");
	struct evformat f = { 0 };
	const char *at;

	while (f.word < EVTERM_WORDS &&
	       (strlen(words[f.word]) != length || strncmp(words[f.word], text, length) != 0))
		f.word++;
	if (f.word == EVTERM_WORDS || !text[length])
		return -EINVAL;
	at = text + length;
	do {
		at++;
		if (parse_range(&at, &f) < 0)
			return -EINVAL;
	} while (*at == ',');
	if (*at && strcmp(at, "\n") != 0)
		return -EINVAL;
	*ret = f;
	return 0;
}

/* Returns a mask of the @width lowest bits; 64 is allowed. */
static uint64_t low_bits(unsigned int width)
{
	return width < 64 ? (1ULL << width) - 1 : UINT64_MAX;
}

int evformat_put(const struct evformat *f, uint64_t value, uint64_t to[EVTERM_WORDS])
{
	uint64_t word = to[f->word];
	size_t i;

	for (i = 0; i < f->count; i++) {
		unsigned int width = f->ranges[i].high - f->ranges[i].low + 1U;
		uint64_t mask = low_bits(width);

		word &= ~(mask << f->ranges[i].low);
		word |= (value & mask) << f->ranges[i].low;
		value = width < 64 ? value >> width : 0;
	}
	if (value)
		return -ERANGE;
	to[f->word] = word;
	return 0;
}

struct each {
	int (*each)(const struct evterm *term, void *data);
	void *data;
};

static int parse_term(const char *text, void *data)
{
	const struct each *e = data;
	struct evterm term = { .value = 1 };
	size_t length = strcspn(text, "=");

	if (!length || length >= sizeof(term.name))
		return -EINVAL;
	memcpy(term.name, text, length);
	term.given = text[length] == '=';
	text += length + term.given;
	term.open = term.given && !strcmp(text, "?");
	if (term.given && !term.open && parse_u64(text, 0, UINT64_MAX, &term.value) < 0)
		return -EINVAL;
	return e->each(&term, e->data);
}

int evterm_each(const char *text, int (*each)(const struct evterm *term, void *data), void *data)
{
	struct each e = { each, data };

	return parse_list(text, ',', parse_term, &e);
}
