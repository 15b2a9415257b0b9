/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that opannotate --output-dir writes: a copy of each source, with samples.
 *
 *	char *path = source_copy_path(directory, "/build/x/a.c");	"directory/build/x/a.c"
 *	FILE *out = NULL;
 *	int r = source_copy_create(path, source, &out, err);
 *	free(path);
 */
#pragma once

#include "base/error.h"

#include <stdio.h>

/* @path below @directory, without a way out of it: the path comes from a binary. Caller frees. */
char *source_copy_path(const char *directory, const char *path);
/* Creates @path with its directories, for writing; what had this name is replaced. Nobody may read
 * it who may not read @source, unless that is NULL. 0 or -errno (-EEXIST: it is the source itself);
 * caller closes *@ret. */
int source_copy_create(const char *path, FILE *source, FILE **ret, struct error *err);
