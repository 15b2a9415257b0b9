/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The secret of a service, in a file that lasts: the address stays the same when the service is
 * started again.
 *
 *	char secret[WEB_SECRET_LENGTH + 1];
 *	r = web_secret_load("/var/lib/opweb/secret", true, secret, err);
 */
#pragma once

#include "base/error.h"
#include "tools/opweb/web_request.h"

#include <stdbool.h>

/* Where opweb.service keeps its secret. */
#define WEB_SECRET_FILE "/var/lib/opweb/secret"

/* Reads the secret in the file @path. If there is no such file and @makes, writes a new secret to
 * it. 0 or -errno: -EPERM if others may read the file, -ENOENT if there is none. */
int web_secret_load(const char *path, bool makes, char ret[WEB_SECRET_LENGTH + 1],
		    struct error *err);
