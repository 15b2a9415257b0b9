/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include "test.h"

static void json_is_valid_whatever_the_bytes(void)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json j = JSON_INIT(f);

	json_open(&j, NULL, '{');
	json_string(
		&j, "a\"b",
		"q\"\\\n\x1b\xc2\x9b\xe2\x80\xae \xc3\xbc \xff\xed\xa0\x80 \xf0\x9f\x98\x80\xc3");
	json_open(&j, "list", '[');
	json_u64(&j, NULL, UINT64_MAX);
	json_i64(&j, NULL, -1);
	json_string(&j, NULL, NULL);
	json_close(&j, ']');
	json_hex(&j, "x", 255);
	json_close(&j, '}');
	(void)fclose(f);
	CHECK_STR(text, "{\"a\\\"b\":\"q\\\"\\\\\\u000a\\u001b\\u009b\\u202e \xc3\xbc "
			"\\ufffd\\ufffd\\ufffd\\ufffd \xf0\x9f\x98\x80\\ufffd\",\"list\":"
			"[18446744073709551615,-1,null],\"x\":\"0xff\"}");
}

static void people_can_read_what_is_spaced(void)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json j = JSON_SPACED(f);

	json_open(&j, NULL, '{');
	json_line(&j);
	json_bool(&j, "usable", true);
	json_number(&j, "share", "0.50");
	json_line(&j);
	json_open(&j, "files", '[');
	json_line(&j);
	json_bytes(&j, NULL, "/bin/\xfc\"\n");
	json_bytes(&j, NULL, "/bin/\xc3\xbc");
	json_line(&j);
	json_close(&j, ']');
	json_line(&j);
	json_close(&j, '}');
	(void)fclose(f);
	CHECK_STR(text, "{\n  \"usable\": true, \"share\": 0.50,\n  \"files\": [\n    "
			"\"/bin/\\u00fc\\\"\\u000a\", \"/bin/\xc3\xbc\"\n  ]\n}");
}

TESTS(T(json_is_valid_whatever_the_bytes), T(people_can_read_what_is_spaced))
