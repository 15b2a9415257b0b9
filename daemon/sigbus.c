/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sigbus.h"

#include "base/macro.h"
#include "file/mapped_name.h"
#include "logfile.h"

#include <signal.h>
#include <unistd.h>

static void on_sigbus(int number _unused_, siginfo_t *info, void *context _unused_)
{
	char name[MAPPED_NAME_ROOM];
	bool known = mapped_name(info->si_addr, name, sizeof(name));

	logfile_raw("oprofiled: error: cannot write to ");
	logfile_raw(known ? name : "a sample file");
	logfile_raw(
		" (disk full, or the file was cut short): stopped; run opcheck on the session\n");
	_exit(1);
}

void sigbus_catch(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus,
				    .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND) };

	(void)sigaction(SIGBUS, &action, NULL);
}
