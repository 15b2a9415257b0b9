/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_secret.h"

#include "base/macro.h"
#include "file/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The characters that a secret may have. */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Writes a new secret to a new file. 0; 1 if there is one meanwhile; or -errno. */
static int make(const char *path, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char secret[WEB_SECRET_LENGTH + 2];

	if (fd < 0)
		return errno == EEXIST ? 1 : error_errno(err, -errno, "%s", path);
	if (web_secret_new(secret) < 0) {
		(void)unlink(path);
		return error_set(err, -EIO, "cannot get random numbers");
	}
	secret[WEB_SECRET_LENGTH] = '\n';
	if (write(fd, secret, WEB_SECRET_LENGTH + 1) == WEB_SECRET_LENGTH + 1)
		return 0;
	(void)unlink(path);
	return error_set(err, -EIO, "%s: cannot write the secret", path);
}

static int take(int fd, const char *path, char ret[WEB_SECRET_LENGTH + 1], struct error *err)
{
	char text[WEB_SECRET_LENGTH + 3] = "";
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	if ((st.st_mode & 077) || (st.st_uid != geteuid() && geteuid() != 0))
		return error_set(
			err, -EPERM,
			"%s: others may read it or own it; remove it to have a new one made", path);
	if (read(fd, text, sizeof(text) - 1) != WEB_SECRET_LENGTH + 1 ||
	    strspn(text, digits) != WEB_SECRET_LENGTH || text[WEB_SECRET_LENGTH] != '\n')
		return error_set(err, -EBADMSG, "%s: not a secret; remove it to have one made",
				 path);
	memcpy(ret, text, WEB_SECRET_LENGTH);
	ret[WEB_SECRET_LENGTH] = '\0';
	return 0;
}

int web_secret_load(const char *path, bool makes, char ret[WEB_SECRET_LENGTH + 1],
		    struct error *err)
{
	int fd = open_regular(path, O_RDONLY | O_NOFOLLOW), r;

	if (fd == -ENOENT && makes) {
		r = make(path, err);
		if (r < 0)
			return r;
		fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	}
	if (fd < 0)
		return error_set(err, fd, "%s: %s", path, open_regular_why(fd));
	r = take(fd, path, ret, err);
	(void)close(fd);
	return r;
}
