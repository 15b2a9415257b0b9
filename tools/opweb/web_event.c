/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_event.h"

#include "base/mem.h"
#include "tools/opweb/web_request.h"

#include <string.h>

char *web_event_key(const char *question)
{
	const char *rest = web_event_rest(question);

	return rest == question
		       ? NULL
		       : xstrndup(question + strlen(WEB_EVENT_PREFIX),
				  (size_t)(rest - question) - strlen(WEB_EVENT_PREFIX) - 1);
}
