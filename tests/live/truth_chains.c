/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_chains SECONDS WEIGHT...: up to four functions with these shares of the time (default: 25
 * and 75 of 100). Built as PIE, not PIE, static and static PIE. */
#include "truth.h"

#include <string.h>

TRUTH_CHAIN(chain_a)
TRUTH_CHAIN(chain_b)
TRUTH_CHAIN(chain_c)
TRUTH_CHAIN(chain_d)

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *image = slash ? slash + 1 : argv[0];
	struct truth_part parts[] = {
		{ image, "chain_a", chain_a, 25 },
		{ image, "chain_b", chain_b, 75 },
		{ image, "chain_c", chain_c, 0 },
		{ image, "chain_d", chain_d, 0 },
	};
	size_t count = argc > 2 ? (size_t)argc - 2 : 2, i;

	if (argc < 2 || count > 4)
		return 2;
	for (i = 0; i + 2 < (size_t)argc; i++)
		parts[i].weight = strtoull(argv[i + 2], NULL, 10);
	truth_run(parts, count, strtod(argv[1], NULL));
	return 0;
}
