/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the functions of the images of a session begin, for its history: by the tables in symbols/
 * (man opsymbols.5), and the symbols of its kernels.
 *
 *	struct upkeep how = { .functions = &session_functions };
 */
#pragma once

#include "history/history_kind.h"

extern const struct history_functions session_functions;
