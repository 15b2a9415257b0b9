/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library that truth_fresh loads. */
#include "truth.h"

TRUTH_CHAIN(fresh_early)
TRUTH_CHAIN(fresh_later)
