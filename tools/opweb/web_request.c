/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_request.h"

#include "base/macro.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int web_secret_new(char ret[WEB_SECRET_LENGTH + 1])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t random[WEB_SECRET_LENGTH];
	size_t i;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (i = 0; i < sizeof(random); i++)
		ret[i] = digits[random[i] & 63];
	ret[WEB_SECRET_LENGTH] = '\0';
	return 0;
}

/* Whether @text begins with the secret; always compares all of it. */
static bool has_secret(const struct web_policy *policy, const char *text)
{
	size_t i, length = strnlen(text, WEB_SECRET_LENGTH);
	unsigned char differs = length != WEB_SECRET_LENGTH;

	for (i = 0; i < WEB_SECRET_LENGTH; i++)
		differs |= (unsigned char)(policy->secret[i] ^ (i < length ? text[i] : 0));
	return !differs;
}

/* Whether the request was made to this server by its own name. */
static bool is_own_host(const struct web_policy *policy, const char *host)
{
	const char *const names[] = { "localhost", "127.0.0.1", "[::1]", policy->host };
	char text[80];
	size_t i;

	if (!policy->host) /* who can connect to a Unix socket could do everything anyway */
		return true;
	for (i = 0; host && i < ARRAY_SIZE(names); i++) {
		(void)snprintf(text, sizeof(text), "%s:%u", names[i], (unsigned int)policy->port);
		if (!strcmp(host, text))
			return true;
	}
	return false;
}

enum web_answer web_request_judge(const struct web_policy *policy, const char *method,
				  const char *path, const char *host)
{
	static const char prefix[] = "/s/";
	const char *rest;

	if (!is_own_host(policy, host))
		return WEB_BAD_HOST;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return WEB_BAD_METHOD;
	if (strncmp(path, prefix, strlen(prefix)) != 0 ||
	    !has_secret(policy, path + strlen(prefix)))
		return WEB_NOT_FOUND;
	rest = path + strlen(prefix) + WEB_SECRET_LENGTH;
	if (!strcmp(rest, "/"))
		return WEB_PAGE;
	return !strcmp(rest, "/data") ? WEB_DATA : WEB_NOT_FOUND;
}
