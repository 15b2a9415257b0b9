/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To save time a CPU may be sampled less often than requested; each sample then represents more
 * than one. The number is fixed-point, in units of 1/STRETCH_ONE. */
#pragma once

enum { STRETCH_ONE_SHIFT = 16, STRETCH_ONE = 1 << STRETCH_ONE_SHIFT };
