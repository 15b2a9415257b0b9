/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/archive/archive.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/copy.h"
#include "file/owner.h"
#include "file/path.h"
#include "profile/select/gather.h"
#include "symbol/kallsyms.h"

#include <errno.h>
#include <unistd.h>

static int write_kernel(const char *directory, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	_cleanup_free_ char *to = path_under(directory, "/proc/kallsyms");
	_cleanup_(strbuf_done) struct strbuf symbols = STRBUF_INIT;
	int r = kallsyms_copy_live(NULL, &symbols, err);

	if (r == -EACCES) {
		log_warn("the kernel's symbols are left out: %s", err->text);
		return 0;
	}
	if (r == 0)
		r = path_make_parents(to, 0755, err);
	return r == 0 ? path_write(to, strbuf_text(&symbols), 0644, err) : r;
}

int archive_check_output(const char *path, bool compact, struct error *err)
{
	_cleanup_free_ char *place = path_under(path, ARCHIVE_SESSION_PLACE);

	if (access(compact ? path : place, F_OK) < 0)
		return 0;
	return error_set(err, -EEXIST,
			 compact ? "%s: already exists" : "%s: already contains an archive", path);
}

/* Makes the directory, for this user alone: the session may have been hidden from others. */
static int make_directory(const char *directory, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	int r = archive_check_output(directory, false, err);

	return r < 0 ? r : path_make_dirs(directory, 0700, err);
}

/* A partial archive must not look complete. */
static void remove_partial(const char *directory)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	_cleanup_free_ char *place = path_under(directory, ARCHIVE_SESSION_PLACE);

	(void)path_remove_tree(place, NULL);
}

int archive_write(const struct archive *a, const char *directory, struct error *err)
{
	int r = make_directory(directory, err);
	size_t i;

	if (r < 0)
		return r;
	for (i = 0; r == 0 && i < a->count; i++) {
		_cleanup_free_ char *to = path_under(directory, a->files[i].to);

		r = copy_file(a->files[i].from, a->files[i].flags, to, err);
	}
	if (r == 0 && a->live_kernel)
		r = write_kernel(directory, err);
	if (r == 0 && a->gather)
		r = gather_check_there(a->gather, err);
	if (r < 0)
		remove_partial(directory);
	return r;
}
