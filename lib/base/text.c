/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <string.h>

void text_wrap(struct strbuf *out, const char *text, unsigned int indent, unsigned int width)
{
	unsigned int column = indent;
	size_t word;

	while (*text) {
		word = strcspn(text, " ");
		if (column > indent) {
			if (width && column + 1 + word > width) {
				strbuf_addf(out, "\n%*s", (int)indent, "");
				column = indent;
			} else {
				strbuf_adds(out, " ");
				column++;
			}
		}
		strbuf_add(out, text, word);
		column += (unsigned int)word;
		text += word;
		text += strspn(text, " ");
	}
	strbuf_adds(out, "\n");
}

unsigned int text_distance(const char *a, const char *b)
{
	enum { MAX_WORD = 64 };
	unsigned int row[MAX_WORD + 1], previous, above, i, j;
	unsigned int n = (unsigned int)strnlen(a, MAX_WORD), m = (unsigned int)strnlen(b, MAX_WORD);

	for (j = 0; j <= m; j++)
		row[j] = j;
	for (i = 1; i <= n; i++) {
		previous = row[0];
		row[0] = i;
		for (j = 1; j <= m; j++) {
			above = row[j];
			previous += a[i - 1] != b[j - 1];
			row[j] = MIN(row[j], row[j - 1]) + 1;
			row[j] = MIN(row[j], previous);
			previous = above;
		}
	}
	return row[m];
}
