/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many sections an ELF file claims to have, before libelf allocates memory for all of them: a
 * file of some bytes can claim billions, with its table in a hole. */
#pragma once

#include <stdint.h>

/* The number of sections of the file @fd by its headers, 0 if it is not an ELF file. */
uint64_t section_count(int fd);
