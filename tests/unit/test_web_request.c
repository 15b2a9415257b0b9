/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tools/opweb/web_request.c: what a request gets, whoever made it. */
#include "test.h"

#include "tools/opweb/web_request.h"

static const struct web_policy policy = { .secret = "0123456789abcdefghij-_", .port = 8123 };

static void only_the_secret_opens(void)
{
	static const struct {
		const char *method, *path, *host;
		enum web_answer answer;
	} rows[] = {
		{ "GET", "/s/0123456789abcdefghij-_/", "localhost:8123", WEB_PAGE },
		{ "HEAD", "/s/0123456789abcdefghij-_/", "127.0.0.1:8123", WEB_PAGE },
		{ "GET", "/s/0123456789abcdefghij-_/data", "[::1]:8123", WEB_DATA },
		{ "GET", "/s/0123456789abcdefghij-_/data", "10.0.0.7:8123", WEB_DATA },
		{ "GET", "/s/0123456789abcdefghij-_/applications", "[::1]:8123", WEB_APPLICATIONS },
		{ "GET", "/s/0123456789abcdefghij-_/applications/", "[::1]:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/data", "[fe80::1:2]:8123", WEB_DATA },
		{ "GET", "/s/0123456789abcdefghij-_/data", "[0:0:0:0:0:0:0:1]:8123", WEB_DATA },
		{ "GET", "/s/0123456789abcdefghij-_/source/0x10/all//usr/bin/true", "[::1]:8123",
		  WEB_SOURCE },
		{ "GET", "/s/0123456789abcdefghij-X/source/0x10/all//usr/bin/true", "[::1]:8123",
		  WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/export/folded", "[::1]:8123", WEB_EXPORT },
		{ "GET", "/s/0123456789abcdefghij-X/export/folded", "[::1]:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/export", "[::1]:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/event/TIMER/data", "[::1]:8123", WEB_DATA },
		{ "GET", "/s/0123456789abcdefghij-_/event/A,100000/export/pprof", "[::1]:8123",
		  WEB_EXPORT },
		{ "GET", "/s/0123456789abcdefghij-X/event/TIMER/data", "[::1]:8123",
		  WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/second/data", "[::1]:8123", WEB_DATA },
		{ "GET", "/s/0123456789abcdefghij-_/session/a b/data", "[::1]:8123", WEB_DATA },
		{ "GET", "/s/0123456789abcdefghij-_/event/TIMER/session/a/data", "[::1]:8123",
		  WEB_DATA },
		{ "GET", "/s/0123456789abcdefghij-_/second/source/0x12/all//bin/a", "[::1]:8123",
		  WEB_SOURCE },
		{ "GET", "/s/0123456789abcdefghij-_/session/a/source/0x12/all//bin/a", "[::1]:8123",
		  WEB_SOURCE },
		{ "GET", "/s/0123456789abcdefghij-_/session/a/event/TIMER/data", "[::1]:8123",
		  WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/session/a/b/data", "[::1]:8123",
		  WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/session/data", "[::1]:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/second/export/pprof", "[::1]:8123",
		  WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/files", "[::1]:8123", WEB_FILES },
		{ "GET", "/s/0123456789abcdefghij-_/event/TIMER/session/a/files", "[::1]:8123",
		  WEB_FILES },
		{ "GET", "/s/0123456789abcdefghij-_/files/", "[::1]:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-X/files", "[::1]:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/event/TIMER/", "[::1]:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/event/TIMER", "[::1]:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_", "localhost:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/../data", "localhost:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_/data/", "localhost:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-X/", "localhost:8123", WEB_NOT_FOUND },
		{ "GET", "/s/1123456789abcdefghij-_/", "localhost:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123456789abcdefghij-_x/", "localhost:8123", WEB_NOT_FOUND },
		{ "GET", "/s/0123", "localhost:8123", WEB_NOT_FOUND },
		{ "GET", "/", "localhost:8123", WEB_NOT_FOUND },
		{ "GET", "", "localhost:8123", WEB_NOT_FOUND },
		{ "POST", "/s/0123456789abcdefghij-_/", "localhost:8123", WEB_BAD_METHOD },
		{ "get", "/s/0123456789abcdefghij-_/", "localhost:8123", WEB_BAD_METHOD },
		{ "GET", "/s/0123456789abcdefghij-_/", "evil.example:8123", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", "localhost", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", "localhost:81230", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", "10.0.0.7.evil.example:8123", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", "[evil.example]:8123", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", "[::1:8123", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", "[", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", "[]:8123", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", "", WEB_BAD_HOST },
		{ "GET", "/s/0123456789abcdefghij-_/", NULL, WEB_BAD_HOST },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (web_request_judge(&policy, rows[i].method, rows[i].path, rows[i].host) !=
		    rows[i].answer)
			CHECK_STR(rows[i].path, "another answer");
}

static void a_unix_socket_has_no_name(void)
{
	struct web_policy local = policy;

	local.is_unix = true;
	CHECK_EQ(web_request_judge(&local, "GET", "/s/0123456789abcdefghij-_/", NULL), WEB_PAGE);
	CHECK_EQ(web_request_judge(&local, "GET", "/s/0123456789abcdefghij-X/", NULL),
		 WEB_NOT_FOUND);
}

static void a_browser_leaves_port_80_out(void)
{
	struct web_policy usual = policy;
	const char *path = "/s/0123456789abcdefghij-_/";

	usual.port = 80;
	CHECK_EQ(web_request_judge(&usual, "GET", path, "localhost"), WEB_PAGE);
	CHECK_EQ(web_request_judge(&usual, "GET", path, "[::1]"), WEB_PAGE);
	CHECK_EQ(web_request_judge(&usual, "GET", path, "10.0.0.7:80"), WEB_PAGE);
	CHECK_EQ(web_request_judge(&usual, "GET", path, "evil.example"), WEB_BAD_HOST);
	CHECK_EQ(web_request_judge(&usual, "GET", path, ""), WEB_BAD_HOST);
}

static void secrets_differ(void)
{
	char a[WEB_SECRET_LENGTH + 1], b[WEB_SECRET_LENGTH + 1];

	CHECK_EQ(web_secret_new(a), 0);
	CHECK_EQ(web_secret_new(b), 0);
	CHECK_EQ(strlen(a), WEB_SECRET_LENGTH);
	CHECK(strcmp(a, b) != 0);
}

TESTS(T(only_the_secret_opens), T(a_unix_socket_has_no_name), T(a_browser_leaves_port_80_out),
      T(secrets_differ))
