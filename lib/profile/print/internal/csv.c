/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/csv.h"

#include "base/text.h"
#include "profile/print/report.h"

#include <string.h>

/* Whether a spreadsheet would compute @text instead of showing it, even in quotes. Texts that
 * differ from such a one by apostrophes at their start count too: so the escape can be undone. */
static bool is_formula(const char *text)
{
	const char *start = text + strspn(text, "'");

	return *start && strchr("=+-@\t\r", *start);
}

void csv_text(struct strbuf *line, const char *text)
{
	const char *quote, *escape = is_formula(text) ? "'" : "";

	if (line->length)
		strbuf_add(line, ",", 1);
	if (!text[strcspn(text, ",\"\r\n")]) {
		strbuf_addf(line, "%s%s", escape, text);
		return;
	}
	strbuf_addf(line, "\"%s", escape);
	while ((quote = strchr(text, '"'))) {
		strbuf_add(line, text, (size_t)(quote + 1 - text));
		strbuf_add(line, "\"", 1);
		text = quote + 1;
	}
	strbuf_adds(line, text);
	strbuf_add(line, "\"", 1);
}

void csv_number(struct strbuf *line, uint64_t value)
{
	char digits[20];

	strbuf_add(line, ",", 1);
	strbuf_add(line, digits, text_dec(value, digits));
}

void csv_address(struct strbuf *line, uint64_t address)
{
	char digits[16];

	strbuf_add(line, ",0x", 3);
	strbuf_add(line, digits, text_hex(address, 1, digits));
}

void csv_line_print(const struct report *r, const struct strbuf *line, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf shown = STRBUF_INIT;

	if (r->view->terminal) {
		text_visible(&shown, strbuf_text(line));
		line = &shown;
	}
	(void)fwrite(strbuf_text(line), 1, line->length, out);
	(void)putc('\n', out);
}
