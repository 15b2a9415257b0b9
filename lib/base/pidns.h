/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PID namespaces: from within one, processes outside cannot be told apart. */
#pragma once

#include <stdbool.h>

/* Whether this process is in the machine's own. */
bool pidns_is_first(void);
