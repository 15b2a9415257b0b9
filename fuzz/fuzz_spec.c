/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Specifications: lib/profile/select/spec.c. The input is a command line with one word per line;
 * the last word is the name of a sample file to match. */
#include "fuzz.h"

#include "base/error.h"
#include "base/mem.h"
#include "profile/select/spec.h"
#include "sfile/sname.h"

#include <string.h>

enum { WORDS_MAX = 64 };

static size_t split(char *text, char **words)
{
	char *save, *word = strtok_r(text, "\n", &save);
	size_t n = 0;

	for (; word && n < WORDS_MAX; word = strtok_r(NULL, "\n", &save))
		words[n++] = word;
	return n;
}

static void select_file(const struct spec *spec, const char *file)
{
	struct sname name;

	(void)spec_wants_session(spec, file);
	if (sname_parse(file, &name, NULL) < 0)
		return;
	(void)spec_reject(spec, &name);
	sname_done(&name);
}

static void parse(char *const *words, size_t count, const char *file)
{
	struct spec spec;

	if (spec_parse(words, count, &spec, NULL) < 0)
		return;
	(void)spec_value(&spec, SPEC_ARCHIVE);
	select_file(&spec, file);
	spec_done(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	struct spec_pair pair;
	char *words[WORDS_MAX];
	size_t n = split(text, words);

	if (n == 0)
		return 0;
	parse(words, n - 1, words[n - 1]);
	if (spec_split(words, n - 1, &pair, NULL) == 1) {
		parse(pair.words[0], pair.count[0], words[n - 1]);
		parse(pair.words[1], pair.count[1], words[n - 1]);
		parse(pair.outside, pair.outside_count, words[n - 1]);
		spec_pair_done(&pair);
	}
	return 0;
}
