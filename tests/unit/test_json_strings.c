/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/json_strings.h"
#include "base/strbuf.h"

#include <errno.h>

static int list(const struct json_string *s, void *data)
{
	strbuf_addf(data, "%u %s=%s;", s->depth, s->key, s->value);
	return strcmp(s->value, "stop") ? 0 : 7;
}

static void strings_have_keys_and_depths(void)
{
	static const struct {
		const char *text;
		int result;
		const char *strings;
	} rows[] = {
		{ "", 0, "" },
		{ "[1, true, null]", 0, "" },
		{ "\"alone\"", 0, "0 =alone;" },
		{ "{\"a\" : \"b\", \"c\":3,\"d\":\"\"}", 0, "1 a=b;1 d=;" },
		{ "{\"x\":{\"Name\":\"no\"},\"Name\":\"/web\"}", 0, "2 Name=no;1 Name=/web;" },
		{ "[{\"id\":\"7\",\"names\":[\"a\",\"b\"]}]", 0, "2 id=7;3 names=a;3 names=b;" },
		{ "{\"a\":\"q\\\"\\\\\\/\\n\"}", 0, "1 a=q\"\\/\n;" },
		{ "{\"a\":\"\\u00e9\\u12\"}", -EBADMSG, "" },
		{ "{\"a\":\"x\\u00e9y\xc3\xa9\"}", 0, "1 a=x?y??;" },
		{ "{\"a\":\"{[\"}", 0, "1 a={[;" },
		{ "[\"a\",\"stop\",\"b\"]", 7, "1 =a;1 =stop;" },
		{ "{\"a\":\"b", -EBADMSG, "" },
		{ "{\"a\":\"b\\", -EBADMSG, "" },
		{ "[\"a\"", -EBADMSG, "1 =a;" },
		{ "]", -EBADMSG, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf found = STRBUF_INIT;
		int r = json_strings(rows[i].text, strlen(rows[i].text), list, &found);

		if (!CHECK(r == rows[i].result && !strcmp(strbuf_text(&found), rows[i].strings)))
			printf("# %s gives %d, %s\n", rows[i].text, r, strbuf_text(&found));
	}
}

static void deep_nesting_is_refused(void)
{
	char text[64];

	memset(text, '[', 32);
	memset(text + 32, ']', 32);
	CHECK_EQ(json_strings(text, sizeof(text), list, NULL), 0);
	memset(text, '[', sizeof(text));
	CHECK_EQ(json_strings(text, sizeof(text), list, NULL), -EBADMSG);
}

TESTS(T(strings_have_keys_and_depths), T(deep_nesting_is_refused))
