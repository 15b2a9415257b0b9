/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to opweb: tools/opweb/web_request.c. The input is three lines: method, path, host. */
#include "fuzz.h"

#include "base/mem.h"
#include "tools/opweb/web_request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct web_policy policy = { .secret = "0123456789abcdefghij-_",
						  .port = 8123 };
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	char *save, *method = strtok_r(text, "\n", &save);
	char *path = method ? strtok_r(NULL, "\n", &save) : NULL;
	char *host = path ? strtok_r(NULL, "\n", &save) : NULL;
	enum web_answer answer;

	if (!path)
		return 0;
	answer = web_request_judge(&policy, method, path, host);
	if ((answer == WEB_PAGE || answer == WEB_DATA || answer == WEB_APPLICATIONS ||
	     answer == WEB_SOURCE || answer == WEB_FILES) &&
	    (!strstr(path, policy.secret) || !host || !strstr(host, ":8123")))
		abort();
	return 0;
}
