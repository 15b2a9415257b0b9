/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "tools/opcheck/opcheck.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Moves a file of a session into its damaged/, which no report reads, under an unused name. No
 * directory on the way may be a link, which could lead out of the session. Returns the new path,
 * caller frees; NULL with the reason. */
static char *move_away(const struct check *c, const char *path, struct error *err)
{
	_cleanup_close_ int samples = open(c->samples_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *from = path + strlen(c->samples_dir);
	_cleanup_free_ char *base = NULL, *target = NULL;
	struct error why = ERROR_INIT;
	unsigned int n = 1;
	int r = samples < 0 ? error_errno(&why, -errno, "%s", c->samples_dir) : 0;

	from += strspn(from, "/");
	base = path_join("damaged", from);
	target = xstrdup(base);
	if (r == 0)
		r = dirtree_make_parents(samples, base, 0755, &why);
	while (r == 0 && (r = dirtree_rename(samples, from, target, &why)) == -EEXIST) {
		free(target);
		target = xasprintf("%s.%u", base, ++n);
		r = 0;
	}
	if (r == 0)
		return path_join(c->samples_dir, target);
	(void)error_set(err, r, "cannot move it to damaged/: %s", why.text);
	return NULL;
}

void finding_move_away(struct check *c, struct finding *f)
{
	_cleanup_free_ char *target = NULL;
	struct error err = ERROR_INIT;

	if (c->samples_dir)
		target = move_away(c, f->path, &err);
	else
		(void)error_set(&err, -EBADMSG, "nothing in it can be recovered; delete it");
	f->action = target ? ACTION_MOVED : ACTION_LEFT;
	f->target = target;
	f->failed = target ? NULL : err.text;
	finding_report(c, f);
}
