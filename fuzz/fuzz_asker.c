/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers on the control socket, as any daemon might send them: the client gets one answer, of
 * whole lines or an error, or an error that there was no answer. */
#include "fuzz.h"

#include "file/path.h"
#include "oprofilefs/asker.h"
#include "control/socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUESTIONS = 3, PORTION = 37 };

static char dir[] = "/tmp/fuzz-asker-XXXXXX";
static int listener = -1;

static void tidy(void)
{
	(void)path_remove_tree(dir, NULL);
}

static void set_up(void)
{
	_cleanup_close_ int at = -1;

	if (!mkdtemp(dir))
		abort();
	(void)atexit(tidy);
	at = control_directory(dir, NULL);
	listener = at < 0 ? at : control_listen(at, dir, (gid_t)-1, NULL);
	if (listener < 0)
		abort();
}

static void take(int r, const char *answer, void *data)
{
	if (r > 0 || (r == 0 && answer && *answer && answer[strlen(answer) - 1] != '\n'))
		abort();
	++*(unsigned int *)data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int answers[QUESTIONS] = { 0 }, i;
	struct asker *asker;
	_cleanup_close_ int fd = -1;

	if (listener < 0)
		set_up();
	asker = asker_new(dir);
	for (i = 0; i < QUESTIONS; i++)
		asker_ask(asker, "read enable", take, &answers[i]);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		abort();
	while (size && asker_fd(asker) >= 0) {
		size_t n = size < PORTION ? size : PORTION;

		if (send(fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n)
			break;
		data += n;
		size -= n;
		asker_run(asker);
	}
	(void)close(STEAL_FD(fd));
	asker_run(asker);
	asker_free(asker);
	for (i = 0; i < QUESTIONS; i++)
		if (answers[i] != 1)
			abort();
	return 0;
}
