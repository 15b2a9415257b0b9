/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of images whose names are those of a replay (history_replay.h): they are those of
 * the recorded session.
 *
 *	how.functions = history_functions("SESSION/samples/current");
 */
#pragma once

#include "history/upkeep.h"

/* The functions of the session recorded at @samples, which is borrowed for ever. */
const struct history_functions *history_functions(const char *samples);
