/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/abi.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/span.h"
#include "base/strbuf.h"
#include "file/path.h"

#include <errno.h>
#include <string.h>

enum kind { INTEGER, DOUBLE, SIZE, OFFSET, FLAG };

static const struct {
	const char *name;
	enum kind kind;
} fields[] = {
#define X(field, name, kind, here) [ABI_##field] = { name, kind },
	ABI_FIELDS(X)
#undef X
};

static const struct abi native = { {
#define X(field, name, kind, here) [ABI_##field] = here,
	ABI_FIELDS(X)
#undef X
} };

/* For each offset, the structure it belongs to and the type of the field there. */
static const struct {
	enum abi_field field, structure, type;
} members[] = {
	{ ABI_NODE_KEY, ABI_SIZEOF_NODE, ABI_SIZEOF_KEY },
	{ ABI_NODE_VALUE, ABI_SIZEOF_NODE, ABI_SIZEOF_VALUE },
	{ ABI_NODE_NEXT, ABI_SIZEOF_NODE, ABI_SIZEOF_INDEX },
	{ ABI_DESCR_SIZE, ABI_SIZEOF_DESCR, ABI_SIZEOF_NODE_NR },
	{ ABI_DESCR_CURRENT, ABI_SIZEOF_DESCR, ABI_SIZEOF_NODE_NR },
	{ ABI_HEADER_MAGIC, ABI_SIZEOF_HEADER, ABI_SIZEOF_U32 },
	{ ABI_HEADER_VERSION, ABI_SIZEOF_HEADER, ABI_SIZEOF_U32 },
	{ ABI_HEADER_CPU_TYPE, ABI_SIZEOF_HEADER, ABI_SIZEOF_U32 },
	{ ABI_HEADER_EVENT, ABI_SIZEOF_HEADER, ABI_SIZEOF_U32 },
	{ ABI_HEADER_UNIT_MASK, ABI_SIZEOF_HEADER, ABI_SIZEOF_U32 },
	{ ABI_HEADER_COUNT, ABI_SIZEOF_HEADER, ABI_SIZEOF_U32 },
	{ ABI_HEADER_IS_KERNEL, ABI_SIZEOF_HEADER, ABI_SIZEOF_U32 },
	{ ABI_HEADER_CPU_SPEED, ABI_SIZEOF_HEADER, ABI_SIZEOF_DOUBLE },
	{ ABI_HEADER_MTIME, ABI_SIZEOF_HEADER, ABI_SIZEOF_U64 },
	{ ABI_HEADER_CG_TO_IS_KERNEL, ABI_SIZEOF_HEADER, ABI_SIZEOF_U32 },
	{ ABI_HEADER_ANON_START, ABI_SIZEOF_HEADER, ABI_SIZEOF_U64 },
	{ ABI_HEADER_CG_TO_ANON_START, ABI_SIZEOF_HEADER, ABI_SIZEOF_U64 },
};

const struct abi *abi_native(void)
{
	return &native;
}

char *abi_text(const struct abi *abi)
{
	struct strbuf b = STRBUF_INIT;
	size_t i;

	for (i = 0; i < ABI_FIELD_COUNT_; i++)
		strbuf_addf(&b, "%s %u\n", fields[i].name, abi->of[i]);
	return strbuf_take(&b);
}

bool abi_equal(const struct abi *a, const struct abi *b)
{
	return memcmp(a->of, b->of, sizeof(a->of)) == 0;
}

/* Returns whether @value is possible for a field of this kind. */
static bool is_possible(enum kind kind, uint32_t value)
{
	switch (kind) {
	case INTEGER:
		return value == 1 || value == 2 || value == 4 || value == 8;
	case DOUBLE:
		return value == 8;
	case SIZE:
		return value > 0 && value <= ABI_STRUCT_MAX;
	case OFFSET:
		return value < ABI_STRUCT_MAX;
	case FLAG:
		return value <= 1;
	}
	return false;
}

/* Checks the fields against each other; is_possible() has checked each on its own. */
static int check_members(const struct abi *abi, const char *path, struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		uint32_t at = abi->of[members[i].field], size = abi->of[members[i].type];
		uint32_t room = abi->of[members[i].structure];

		if (at + size > room)
			return error_set(err, -EBADMSG,
					 "%s: %s %u: its %u bytes reach beyond the %u bytes of %s",
					 path, fields[members[i].field].name, at, size, room,
					 fields[members[i].structure].name);
	}
	if (abi->of[ABI_SIZEOF_U32] != 4 || abi->of[ABI_SIZEOF_U64] != 8)
		return error_set(err, -EBADMSG, "%s: sizeof_u32 %u, sizeof_u64 %u: must be 4 and 8",
				 path, abi->of[ABI_SIZEOF_U32], abi->of[ABI_SIZEOF_U64]);
	return 0;
}

/* Parses one NUL-terminated line, and sets its field in @abi and @seen. */
static int parse_line(char *line, struct abi *abi, bool *seen)
{
	char *value = strchr(line, ' ');
	uint64_t number;
	size_t i;

	if (!value)
		return -EBADMSG;
	*value++ = '\0';
	for (i = 0; i < ABI_FIELD_COUNT_; i++) {
		if (strcmp(line, fields[i].name))
			continue;
		if (seen[i] || parse_u64(value, 0, UINT32_MAX, &number) < 0 ||
		    !is_possible(fields[i].kind, (uint32_t)number))
			return -EBADMSG;
		seen[i] = true;
		abi->of[i] = (uint32_t)number;
	}
	return 0;
}

int abi_parse(struct span text, const char *path, struct abi *ret, struct error *err)
{
	_cleanup_free_ char *copy = xstrndup(text.left ? (const char *)text.at : "", text.left);
	bool seen[ABI_FIELD_COUNT_] = { false };
	struct abi abi = { 0 };
	char *at = copy, *line;
	unsigned int number = 0;
	size_t i;

	while ((line = strsep(&at, "\n"))) {
		_cleanup_free_ char *shown = xstrdup(line);

		number++;
		if (*line && parse_line(line, &abi, seen) < 0)
			return error_set(err, -EBADMSG, "%s:%u: '%.60s' is malformed", path, number,
					 shown);
	}
	for (i = 0; i < ABI_FIELD_COUNT_; i++)
		if (!seen[i])
			return error_set(err, -EBADMSG, "%s: %s is missing", path, fields[i].name);
	if (check_members(&abi, path, err) < 0)
		return -EBADMSG;
	*ret = abi;
	return 0;
}

int abi_read(const char *path, struct abi *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	ssize_t size = path_read(NULL, path, &text, err);

	return size < 0 ? (int)size : abi_parse(span_of(text, (size_t)size), path, ret, err);
}
