/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ends of call chains (enum chain_end) are called in files and reports.
 *
 *	printf("it ends by %s\n", chain_end_name(CHAIN_END_DEPTH));
 */
#pragma once

#include "bpf/chain_end.h"

#include <stdint.h>

/* The name of @end; that of CHAIN_END_UNKNOWN if there is no such end. Static. */
const char *chain_end_name(uint64_t end);
