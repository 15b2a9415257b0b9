/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files for other programs that opweb gives without a browser: "export/NAME" is the whole profile,
 * "export/NAME/FROM..TO" a window of time. Each is what a form of opreport prints.
 *
 *	r = web_export_print(&config, &view, words, "export/folded", err);
 *	puts(web_export_type("export/folded"));
 */
#pragma once

#include "base/error.h"

struct profile_config;
struct report_view;

/* Prints the export that @question asks for, of the profile that @words select, on standard output,
 * with names and inlined functions as in @pages. 0, or negative with the reason. */
int web_export_print(const struct profile_config *config, const struct report_view *pages,
		     char *const *words, const char *question, struct error *err);
/* The media type of the export; that of text if there is none of this name. */
const char *web_export_type(const char *question);
