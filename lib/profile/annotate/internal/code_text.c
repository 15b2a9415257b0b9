/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/code_text.h"

#include "base/hash.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Hash of @text without the @size bytes at @at. */
static uint64_t hash_without(const char *text, const char *at, size_t size)
{
	return hash_add(hash_bytes(text, (size_t)(at - text)),
			hash_bytes(at + size, strlen(at + size)));
}

/* x86-64: without displacements from the program counter. */
static uint64_t hash_relative(const char *text)
{
	const char *relative = strstr(text, "(%rip)"), *start = relative;

	if (!relative)
		return hash_bytes(text, strlen(text));
	while (start > text && (isxdigit((unsigned char)start[-1]) || start[-1] == 'x'))
		start--;
	return hash_without(text, start, (size_t)(relative - start));
}

/* The number of the register that @text begins with; -1: none, or not one of those that have
 * addresses. *@ret_end is what follows. */
static int register_at(const char *text, const char **ret_end)
{
	int number = 0;

	*ret_end = text;
	if ((*text != 'x' && *text != 'w') || !isdigit((unsigned char)text[1]))
		return -1;
	for (text++; isdigit((unsigned char)*text); text++)
		number = number * 10 + (*text - '0');
	*ret_end = text;
	return number < 31 ? number : -1;
}

static bool begins(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

/* Where the immediate is that is added to the address of a page, or would be if it were not 0;
 * NULL: no address of a page is used. */
static const char *find_page_offset(const struct code_text *t, const char *text)
{
	const char *base = strchr(text, '['), *end;
	int number;

	base = base ? base + 1 : begins(text, "add\t") ? strchr(text, ',') : NULL;
	while (base && (*base == ',' || *base == ' '))
		base++;
	number = base ? register_at(base, &end) : -1;
	return number >= 0 && (t->pages >> number & 1) ? end : NULL;
}

/* Notes which registers have addresses of pages after the instruction. */
static void note_pages(struct code_text *t, const char *text)
{
	static const char *const readers[] = {
		"st", "cmp", "cmn", "tst", "cb", "tb", "prfm", "ccm"
	};
	const char *operands = strchr(text, '\t'), *end;
	int number = operands ? register_at(operands + 1, &end) : -1;
	size_t i;

	for (i = 0; i < sizeof(readers) / sizeof(*readers); i++)
		if (begins(text, readers[i]))
			return;
	if (number < 0)
		return;
	t->pages &= ~(UINT32_C(1) << number);
	if (begins(text, "adrp\t"))
		t->pages |= UINT32_C(1) << number;
}

uint64_t code_text_hash(struct code_text *t, const char *text)
{
	const char *at = t->is_aarch64 ? find_page_offset(t, text) : NULL;
	uint64_t hash;

	if (!t->is_aarch64)
		return hash_relative(text);
	if (begins(text, "adrp\t")) /* the symbol at the start of a page means nothing */
		hash = hash_bytes(text, strcspn(text, ","));
	else if (at)
		hash = hash_without(text, at, begins(at, ", #") ? 2 + strcspn(at + 2, "],") : 0);
	else
		hash = hash_bytes(text, strlen(text));
	note_pages(t, text);
	return hash;
}
