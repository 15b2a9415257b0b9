/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/answer.h"

#include <stdarg.h>

bool control_answer_is_text(const char *line, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			return false;
	return true;
}

void control_answer_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

void control_answer(struct strbuf *answer, const char *key, const char *format, ...)
{
	size_t start;
	va_list ap;

	strbuf_adds(answer, key);
	strbuf_adds(answer, " ");
	start = answer->length;
	va_start(ap, format);
	strbuf_vaddf(answer, format, ap);
	va_end(ap);
	control_answer_clean(answer->text + start);
	strbuf_adds(answer, "\n");
}
