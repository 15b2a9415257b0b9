/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PID namespaces: inside one, processes outside have no PID. */
#pragma once

#include <stdbool.h>

/* Whether this process is in the initial PID namespace. */
bool pidns_is_first(void);
