/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include "base/mem.h"

static struct {
	log_sink *sink;
	void *data;
	enum log_level level;
} log_state;

const char *log_prefix(enum log_level level)
{
	static const char *const prefix[] = {
		[LOG_LEVEL_ERROR] = "error: ",
		[LOG_LEVEL_WARNING] = "warning: ",
		[LOG_LEVEL_INFO] = "",
		[LOG_LEVEL_DEBUG] = "",
	};
	static_assert(ARRAY_SIZE(prefix) == LOG_LEVEL_COUNT_, "a prefix for each level");

	return prefix[level];
}

void log_to(enum log_level level, log_sink *sink, void *data)
{
	log_state.level = level;
	log_state.sink = sink;
	log_state.data = data;
}

bool log_wants(enum log_level level)
{
	return log_state.sink && level <= log_state.level;
}

void log_line(enum log_level level, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	if (!log_wants(level))
		return;
	va_start(ap, format);
	text = xvasprintf(format, ap);
	va_end(ap);
	log_state.sink(level, text, log_state.data);
}
