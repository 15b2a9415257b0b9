/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oprofiled --replay: sample files from a recorded event buffer. */
#pragma once

#include "base/error.h"

struct daemon_options;

enum { REPLAY_UNSAVED = 1 };
/* Reads the stream to its end and prints the statistics on stdout. 0; REPLAY_UNSAVED if some
 * samples could not be written, which was logged; or -errno. */
int replay_run(const struct daemon_options *options, struct error *err);
