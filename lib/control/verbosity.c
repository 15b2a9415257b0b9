/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/verbosity.h"

#include "base/mem.h"
#include "base/parse.h"

#include <errno.h>
#include <string.h>

static int level_word(const char *word, void *data)
{
	/* The original's kinds of verbosity: our lines have levels, but no kinds. */
	static const struct {
		const char *word;
		enum log_level level;
	} words[] = {
		{ "none", LOG_LEVEL_WARNING },	{ "info", LOG_LEVEL_INFO },
		{ "debug", LOG_LEVEL_DEBUG },	{ "all", LOG_LEVEL_DEBUG },
		{ "sfile", LOG_LEVEL_DEBUG },	{ "arcs", LOG_LEVEL_DEBUG },
		{ "samples", LOG_LEVEL_DEBUG }, { "module", LOG_LEVEL_DEBUG },
		{ "misc", LOG_LEVEL_DEBUG },	{ "ext", LOG_LEVEL_DEBUG },
	};
	enum log_level *level = data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i].word)) {
			*level = MAX(*level, words[i].level);
			return 0;
		}
	return -EINVAL;
}

int verbosity_parse(const char *text, enum log_level *ret, struct error *err)
{
	enum log_level level = LOG_LEVEL_WARNING;

	if (parse_list(text ? text : "all", ',', level_word, &level) < 0)
		return error_set(err, -EINVAL,
				 "verbosity '%s' is none of none, info, debug, all, sfile, arcs, "
				 "samples, module, misc, ext",
				 text);
	*ret = level;
	return 0;
}
