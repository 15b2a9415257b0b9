/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elfwrite/kept_code.h"

#include "base/mem.h"
#include "jit/jit_code.h"

static void put_u32(struct strbuf *to, size_t value)
{
	uint32_t word = (uint32_t)value;

	strbuf_add(to, (const char *)&word, sizeof(word));
}

static void put_u64(struct strbuf *to, uint64_t value)
{
	strbuf_add(to, (const char *)&value, sizeof(value));
}

void kept_code_put(struct strbuf *to, const struct jit_code *code)
{
	const char *file = code->line_count ? code->lines[0].file : "";
	size_t names = strlen(code->name) + strlen(file) + 2, i;

	if (!code->key)
		return;
	put_u64(to, code->place);
	put_u64(to, code->size);
	put_u64(to, code->key);
	put_u32(to, code->line_count);
	put_u32(to, names);
	strbuf_add(to, code->name, strlen(code->name) + 1);
	strbuf_add(to, file, strlen(file) + 1);
	for (i = 0; i < code->line_count; i++) {
		put_u32(to, code->lines[i].address - code->address);
		put_u32(to, code->lines[i].line);
	}
}

static int take_lines(struct span *in, struct jit_code *code, const char *file, uint32_t count)
{
	struct jit_line *lines;
	uint32_t i, offset = 0;

	if (count > in->left / (2 * sizeof(uint32_t)))
		return -EBADMSG;
	lines = xcalloc((size_t)count + 1, sizeof(*lines));
	code->lines = lines;
	code->line_count = count;
	for (i = 0; i < count; i++) {
		(void)span_u32(in, &offset);
		(void)span_u32(in, &lines[i].line);
		lines[i].address = code->address + offset;
		lines[i].file = file;
	}
	return 0;
}

static int take_code(struct span *in, struct jit_code *code)
{
	uint32_t lines, names;
	struct span texts;
	const char *file;

	if (span_u64(in, &code->address) < 0 || span_u64(in, &code->size) < 0 ||
	    span_u64(in, &code->key) < 0 || span_u32(in, &lines) < 0 || span_u32(in, &names) < 0 ||
	    span_sub(in, names, &texts) < 0 || !(code->name = span_string(&texts)) ||
	    !(file = span_string(&texts)) || texts.left)
		return -EBADMSG;
	return take_lines(in, code, file, lines);
}

int kept_code_read(struct span in, bool (*each)(const struct jit_code *code, void *data),
		   void *data)
{
	bool goes_on = true;
	int r = 0;

	while (r == 0 && goes_on && in.left) {
		struct jit_code code = { .from = 1 };

		r = take_code(&in, &code);
		goes_on = r == 0 && each(&code, data);
		free((struct jit_line *)code.lines);
	}
	return r;
}
