/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To save time a CPU may be sampled less often than was asked for; each sample then stands for more
 * than one. How many is a fixed-point number, in units of 1/STRETCH_ONE. */
#pragma once

enum { STRETCH_ONE_SHIFT = 16, STRETCH_ONE = 1 << STRETCH_ONE_SHIFT };
