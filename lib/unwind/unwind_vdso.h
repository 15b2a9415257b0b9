/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind tables of the vdso. It comes from the kernel, so that reading it needs no sandbox. */
#pragma once

#include <stdbool.h>

struct unwind_rules;
struct unwind_table;

/* Builds the table of the vdso of 64-bit or of 32-bit processes with @rules; caller frees. 0, or
 * -errno, such as -ENODATA if there is none. */
int unwind_vdso_table(bool is_32_bit, struct unwind_rules *rules, struct unwind_table **ret);
