/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_bare SECONDS library: work at the end of call chains through code that nothing describes.
 * This program itself has unwind information, and no frame pointers. */
#include "truth.h"

#include <string.h>

uint64_t bare_outer(uint64_t steps);

static const struct {
	const char *name;
	uint64_t (*run)(uint64_t steps);
} kinds[] = {
	{ "library", bare_outer },
};

int main(int argc, char **argv)
{
	struct truth_part part = { .weight = 40 };
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[2], kinds[i].name))
			part.run = kinds[i].run;
	if (!part.run)
		return 2;
	truth_rounds(&part, 1, strtod(argv[1], NULL));
	return 0;
}
