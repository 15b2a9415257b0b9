/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cut_tables SAMPLES: leaves functions without samples out of the tables next to the session at
 * SAMPLES, of whatever size, as a roll-up does: of files that were not sampled for a day. */
#include "collect/internal/cut_functions.h"

#include <time.h>

enum { DAY_S = 86400 };

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	cut_functions(argv[1], &(struct cut_functions){ time(NULL) - DAY_S, 0, 32 << 20 });
	return 0;
}
