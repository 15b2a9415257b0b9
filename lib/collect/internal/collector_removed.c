/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session that is removed while it is written: what was counted in it is lost, and what comes is
 * of another one. One that was moved is written on until collector_reopen(). */
#include "base/log.h"
#include "base/mem.h"
#include "collect/collector.h"
#include "collect/internal/collector_state.h"
#include "file/path.h"
#include "file/trusted_dir.h"
#include "helper/relief.h"
#include "record/record.h"
#include "sfile/session_lock.h"
#include "sfile/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

void collector_watch_session(struct collector *c)
{
	cleanup_closep(&c->place);
	c->place = open(c->samples, O_PATH | O_DIRECTORY | O_CLOEXEC);
	c->is_watched = true;
}

void collector_forget_session(struct collector *c)
{
	cleanup_closep(&c->place);
	c->place = -1;
	c->is_watched = false;
	record_begin_session(c->record);
	c->totals.begun = c->totals.written;
}

bool collector_misses_session(const struct collector *c)
{
	bool is_missing;

	relief_leave(c->relief);
	is_missing = c->is_watched && setup_is_missing(AT_FDCWD, c->samples);
	relief_return(c->relief);
	return is_missing;
}

/* Whether it was moved elsewhere. */
static bool is_moved(const struct collector *c)
{
	return c->place >= 0 && !setup_is_missing(c->place, ".");
}

int collector_note_mode(struct collector *c, struct error *err)
{
	_cleanup_close_ int directory = open(c->session_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (directory < 0 || fstat(directory, &st) < 0)
		return error_errno(err, -errno, "%s", c->session_dir);
	c->mode = st.st_mode & 07777;
	c->group = st.st_gid;
	return 0;
}

/* Makes the session directory again, unless somebody has. Nobody else may have put it there, or
 * could put another one there: they would choose where samples are written. Returns a descriptor or
 * -errno. */
static int make_again(const struct collector *c, struct error *err)
{
	const struct dir_trust group = { .gid = c->group, .last_too = true };
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (geteuid() == 0)
		return trusted_dir_open(c->session_dir, c->mode, &group, err);
	r = path_make_parents(c->session_dir, 0755, err);
	if (r == 0)
		r = path_make_dirs(c->session_dir, c->mode, err);
	if (r < 0)
		return r;
	fd = open(c->session_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, -errno, "%s", c->session_dir);
	if (st.st_uid != geteuid())
		return error_set(err, -EPERM, "%s belongs to uid %u", c->session_dir, st.st_uid);
	return STEAL_FD(fd);
}

/* If the session directory was removed, too, makes and locks it again, and gives it the group and
 * the mode of the old one. 0; -EBUSY if another profiler was faster; -EPERM if another user was; or
 * -errno. */
static int lock_again(struct collector *c, struct error *err)
{
	_cleanup_close_ int directory = -1;
	struct stat st;
	int fd;

	if (fstat(c->lock, &st) < 0 || st.st_nlink)
		return 0;
	directory = make_again(c, err);
	if (directory < 0)
		return directory;
	fd = session_lock(c->session_dir, err);
	if (fd < 0)
		return fd;
	(void)close(c->lock);
	c->lock = fd;
	c->is_made_again = true;
	/* Without the group, its members only see less. */
	(void)!fchown(directory, (uid_t)-1, c->group);
	return fchmod(directory, c->mode) < 0 ? error_errno(err, -errno, "%s", c->session_dir) : 0;
}

bool collector_made_again(struct collector *c)
{
	bool is_made_again = c->is_made_again;

	c->is_made_again = false;
	return is_made_again;
}

int collector_renew_session(struct collector *c, struct error *err)
{
	uint64_t lost;
	int r;

	if (!c->is_sampled || !collector_misses_session(c) || is_moved(c))
		return 0;
	lost = record_lose_session(c->record);
	c->totals.written = c->totals.begun;
	c->is_removed = true;
	c->removed += lost;
	log_error("%s was removed while it was written: %" PRIu64 " samples are lost with it "
		  "(counted in stats/lost_samplefile); the next session begins",
		  c->samples, lost);
	r = lock_again(c, err);
	return r < 0 ? r : collector_begin_next(c, err);
}

bool collector_was_removed(const struct collector *c, uint64_t *ret_samples)
{
	*ret_samples = c->removed;
	return c->is_removed;
}
