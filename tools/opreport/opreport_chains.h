/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opreport's reports of whole call chains: another road from the sample files to the output. */
#pragma once

#include "base/error.h"
#include "profile/binary/binary.h"
#include "profile/print/format_chains.h"
#include "profile/select/spec.h"

#include <stdbool.h>
#include <stdio.h>

struct name_style;

/* What is asked for; strings are borrowed. */
struct chains_request {
	const struct spec *spec;
	const char *session_dir;
	struct binaries_config where;
	struct chains_view view;
	const struct name_style *names;
	bool inlines; /* inlined functions are frames, too */
	bool json, show_header, long_names, quality;
	double threshold; /* percent */
};

/* Collects and prints; 0 or -errno. */
int opreport_chains(const struct chains_request *request, FILE *out, struct error *err);
