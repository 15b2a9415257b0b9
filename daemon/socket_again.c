/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "socket_again.h"

#include "base/log.h"
#include "collect/collector.h"
#include "control/control_thread.h"

void socket_again(struct collector *c, struct control_thread *control, const char *session_dir)
{
	struct error err = ERROR_INIT;

	if (!collector_made_again(c))
		return;
	if (control_thread_renew(control, session_dir, &err) < 0)
		log_error("%s; opcontrol cannot reach the daemon, but signals can", err.text);
	else
		log_info("%s was removed: it and the control socket were made again", session_dir);
}
