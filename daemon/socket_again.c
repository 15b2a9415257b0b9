/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "socket_again.h"

#include "base/log.h"
#include "collect/collector.h"
#include "control/control_thread.h"

void socket_again(struct socket_again *s, struct collector *c, struct control_thread *control,
		  const char *session_dir)
{
	struct error err = ERROR_INIT;

	s->is_due |= collector_made_again(c);
	if (!s->is_due)
		return;
	if (control_thread_renew(control, session_dir, &err) == 0) {
		log_info("%s was removed: it and the control socket were made again", session_dir);
		*s = (struct socket_again){ 0 };
		return;
	}
	if (!s->has_failed)
		log_error("%s; opcontrol cannot reach the daemon, but signals can", err.text);
	s->has_failed = true;
}
