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
	/* Other threads ask log_wants(). */
	__atomic_store_n(&log_state.level, level, __ATOMIC_RELAXED);
	__atomic_store_n(&log_state.sink, sink, __ATOMIC_RELAXED);
	log_state.data = data;
}

bool log_wants(enum log_level level)
{
	return __atomic_load_n(&log_state.sink, __ATOMIC_RELAXED) &&
	       level <= __atomic_load_n(&log_state.level, __ATOMIC_RELAXED);
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
