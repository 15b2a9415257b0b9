/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests about nodes, one per line: settings stay within their ranges, and no control character
 * is returned. */
#include "fuzz.h"

#include "base/mem.h"
#include "control/settings.h"
#include "oprofilefs/nodes.h"

#include <errno.h>
#include <string.h>

static bool running;

static bool host_running(void *data)
{
	(void)data;
	return running;
}

static int host_enable(bool on, void *data, struct error *err)
{
	(void)data;
	(void)err;
	running = on;
	return 0;
}

static int host_dump(void *data, struct error *err)
{
	(void)data;
	(void)err;
	return 0;
}

static const char *host_cpu_type(void *data)
{
	(void)data;
	return "timer";
}

static int host_event_code(const char *name, uint64_t *ret, void *data, struct error *err)
{
	(void)data;
	*ret = strlen(name);
	return *name == 'E' ? error_set(err, -EINVAL, "no %s", name) : 0;
}

static bool host_stat(size_t i, const char **ret_name, uint64_t *ret_value, void *data)
{
	(void)data;
	*ret_name = "lost";
	*ret_value = i;
	return i == 0;
}

static bool host_cpu_stat(unsigned int cpu, size_t i, const char **ret_name, uint64_t *ret_value,
			  void *data)
{
	if (cpu >= 2)
		abort();
	return host_stat(i, ret_name, ret_value, data);
}

static unsigned int host_cpu_count(void *data)
{
	(void)data;
	return 2;
}

static uint64_t host_cookie_at(size_t i, void *data)
{
	(void)data;
	return i < 3 ? i + 1 : 0;
}

static char *host_cookie_path(uint64_t cookie, void *data)
{
	(void)data;
	return cookie && cookie <= 3 ? xstrdup("/bin/\033sh") : NULL;
}

static const struct nodes_host host = {
	host_running, host_enable,   host_dump,	     host_cpu_type,  host_event_code,
	host_stat,    host_cpu_stat, host_cpu_count, host_cookie_at, host_cookie_path,
};

static void ask(struct nodes *nodes, char *line)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	struct error err = ERROR_INIT;
	char *arg = strchr(line, ' ');
	int r;

	if (!arg)
		return;
	*arg++ = '\0';
	r = *line == 'l'   ? nodes_request_list(nodes, arg, &answer, &err)
	    : *line == 's' ? nodes_request_stat(nodes, arg, &answer, &err)
	    : *line == 'r' ? nodes_request_read(nodes, arg, &answer, &err)
			   : nodes_request_write(nodes, arg, &err);
	if ((r < 0) != (err.text[0] == 'E') || memchr(strbuf_text(&answer), '\033', answer.length))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct node_settings settings = { .buffer_size = 4096,
						.counter_count = 3,
						.has_ibs_fetch = true };
	_cleanup_(nodes_freep) struct nodes *nodes = nodes_new(&settings, &host, NULL);
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	const struct node_settings *now = nodes_settings(nodes);
	char *line, *rest = text;
	size_t i;

	running = false;
	while ((line = strsep(&rest, "\n")))
		ask(nodes, line);
	if (now->backtrace_depth > setting_most(SETTING_CALLGRAPH) || now->buffer_size < 1024 ||
	    now->counter_count != 3 || now->ibs_op.enable)
		abort();
	for (i = 0; i < 3; i++)
		if (now->counters[i].enabled > 1 || now->counters[i].event > UINT32_MAX)
			abort();
	return 0;
}
