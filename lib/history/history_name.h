/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the history of a session says about a sample file.
 */
#pragma once

#include "sfile/sample_header.h"
#include "sfile/sname.h"

#define HISTORY_DIRECTORY "history" /* below samples/NAME */

/* A sample file. */
struct history_name {
	struct sname name;	    /* without a callee */
	struct sfile_header header; /* ->count, ->unit_mask and ->anon_start are as in the name */
};
