/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/error.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Stores a text; one that is cut short ends in dots. */
static void set_text(struct error *err, const char *text)
{
	static const char dots[] = "...";
	size_t length = strlen(text);

	if (length < sizeof(err->text)) {
		memcpy(err->text, text, length + 1);
		return;
	}
	memcpy(err->text, text, sizeof(err->text) - sizeof(dots));
	memcpy(err->text + sizeof(err->text) - sizeof(dots), dots, sizeof(dots));
}

int error_set(struct error *err, int code, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	if (!err)
		return code;
	va_start(ap, format);
	text = xvasprintf(format, ap);
	va_end(ap);
	set_text(err, text);
	err->code = code;
	return code;
}

int error_errno(struct error *err, int code, const char *format, ...)
{
	_cleanup_free_ char *text = NULL, *whole = NULL;
	va_list ap;

	if (!err)
		return code;
	va_start(ap, format);
	text = xvasprintf(format, ap);
	va_end(ap);
	whole = xasprintf("%s: %s", text, strerror(-code));
	set_text(err, whole);
	err->code = code;
	return code;
}

int error_prefix(struct error *err, const char *format, ...)
{
	_cleanup_free_ char *what = NULL, *whole = NULL;
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, format);
	what = xvasprintf(format, ap);
	va_end(ap);
	whole = xasprintf("%s: %s", what, err->text);
	set_text(err, whole);
	return err->code;
}

bool error_is_of_machine(int code)
{
	static const int codes[] = { -ENOSPC, -EDQUOT, -EROFS, -EIO, -EMFILE, -ENFILE, -ENOMEM };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++)
		if (code == codes[i])
			return true;
	return false;
}
