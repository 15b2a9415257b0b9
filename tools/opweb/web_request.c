/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_request.h"

#include "base/macro.h"

#include <arpa/inet.h>
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

/* Whether @rest, which follows a name, is the port of this server; a browser leaves 80 out. */
static bool has_port(const struct web_policy *policy, const char *rest)
{
	char text[8];

	(void)snprintf(text, sizeof(text), ":%u", (unsigned int)policy->port);
	return !strcmp(rest, text) || (policy->port == 80 && !*rest);
}

/* Whether the request was made to this server, and not to a name that somebody else made resolve to
 * its address: an address is nobody's name, however it is written. */
static bool is_own_host(const struct web_policy *policy, const char *host)
{
	char name[64] = "";
	struct in6_addr any;
	size_t length;

	if (policy->is_unix) /* who can connect to a Unix socket could do everything anyway */
		return true;
	if (!host)
		return false;
	length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	if (length >= sizeof(name) || length > strlen(host) || !has_port(policy, host + length))
		return false;
	if (*host == '[') {
		memcpy(name, host + 1, length - 2);
		return inet_pton(AF_INET6, name, &any) == 1;
	}
	memcpy(name, host, length);
	return !strcmp(name, "localhost") || inet_pton(AF_INET, name, &any) == 1;
}

static const char prefix[] = "/s/", source[] = "source/", export[] = "export/";

const char *web_event_rest(const char *question)
{
	const char *end = strncmp(question, WEB_EVENT_PREFIX, strlen(WEB_EVENT_PREFIX)) != 0
				  ? NULL
				  : strchr(question + strlen(WEB_EVENT_PREFIX), '/');

	return end ? end + 1 : question;
}

const char *web_second_rest(const char *question)
{
	const char *end;

	if (!strncmp(question, WEB_SECOND_PREFIX, strlen(WEB_SECOND_PREFIX)))
		return question + strlen(WEB_SECOND_PREFIX);
	end = strncmp(question, WEB_SESSION_PREFIX, strlen(WEB_SESSION_PREFIX)) != 0
		      ? NULL
		      : strchr(question + strlen(WEB_SESSION_PREFIX), '/');
	return end ? end + 1 : question;
}

enum web_answer web_request_judge(const struct web_policy *policy, const char *method,
				  const char *path, const char *host)
{
	const char *rest, *about;

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
	if (*rest != '/' || strlen(rest) >= WEB_QUESTION_MAX)
		return WEB_NOT_FOUND;
	rest = web_event_rest(rest + 1);
	about = web_second_rest(rest);
	if (!strncmp(about, source, strlen(source)))
		return WEB_SOURCE;
	if (!strncmp(rest, export, strlen(export)))
		return WEB_EXPORT;
	if (!strcmp(rest, WEB_APPLICATIONS_QUESTION))
		return WEB_APPLICATIONS;
	if (!strcmp(about, WEB_FILES_QUESTION))
		return WEB_FILES;
	return !strcmp(about, WEB_DATA_QUESTION) ? WEB_DATA : WEB_NOT_FOUND;
}

const char *web_request_question(const char *path)
{
	return path + strlen(prefix) + WEB_SECRET_LENGTH + 1;
}
