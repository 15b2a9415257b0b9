/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library with one function, TRUTH_NAME. Built several times with the same code, so that the
 * addresses are equal, too. */
#include "truth.h"

TRUTH_CHAIN(TRUTH_NAME)
