/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opcontrol/refused_setup.h"

#include "base/mem.h"
#include "file/path.h"
#include "control/daemonrc.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static char *note_path(const char *rc_path)
{
	return xasprintf("%s.refused", rc_path);
}

/* The session directory that daemonrc stores; caller frees. NULL: the file is not valid. */
static char *stored_session(const char *rc_path)
{
	_cleanup_(settings_done) struct settings s = settings_default();
	int r = daemonrc_read(rc_path, &s, NULL);

	return r < 0 && r != -ENOENT ? NULL : path_absolute(s.session_dir);
}

void refused_setup_note(const char *rc_path, const char *session_dir, const char *why)
{
	_cleanup_free_ char *path = note_path(rc_path), *wanted = path_absolute(session_dir),
			    *stored = stored_session(rc_path), *text = NULL;

	if (stored && !strcmp(stored, wanted))
		return;
	text = xasprintf("%s\n%s\n", wanted, why);
	if (path_make_parents(path, 0755, NULL) == 0)
		(void)path_write(path, text, 0644, NULL);
}

int refused_setup_check(const char *rc_path, struct error *err)
{
	_cleanup_free_ char *path = note_path(rc_path), *text = NULL,
			    *stored = stored_session(rc_path);
	const char *why;

	if (path_read(NULL, path, &text, NULL) < 0)
		return 0;
	why = strchrnul(text, '\n');
	why += *why == '\n';
	return error_set(
		err, -ECANCELED,
		"the last setup, for the session directory %.*s, failed and stored nothing "
		"(%.*s); repeat it, or run 'opcontrol --setup' to use the stored settings "
		"(%s)",
		(int)strcspn(text, "\n"), text, (int)strcspn(why, "\n"), why, stored ?: rc_path);
}

void refused_setup_forget(const char *rc_path)
{
	_cleanup_free_ char *path = note_path(rc_path);

	(void)path_remove_tree(path, NULL);
}
