/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/oprofilefs/fuse_tree.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "control/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { VALUE_MAX = 256 };

#define CACHED_S 1.0 /* how long the kernel caches attributes */

/* A node that the kernel knows by number. */
struct inode {
	char *path; /* relative; "" for the root */
	uint64_t lookups;
};

/* An operation that waits for the daemon. */
struct call {
	struct fuse_tree *tree;
	fuse_req_t req; /* NULL: it was interrupted */
	fuse_ino_t ino;
	char *path; /* for lookup: the node looked up */
	struct fuse_file_info fi;
	size_t size;
	off_t offset;
};

/* An open file or directory: its text, so that all reads see one moment. */
struct handle {
	struct strbuf text;
};

static struct fuse_tree *tree_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* --- inodes --- */

static uint64_t hash_path(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	return hash;
}

/* The number of @path, whether the kernel knows it or not; root has FUSE_ROOT_ID. */
static fuse_ino_t number_of(const struct fuse_tree *tree, const char *path)
{
	uint64_t ino = *path ? hash_path(path) : FUSE_ROOT_ID;
	const struct inode *inode;

	while (*path && (ino <= FUSE_ROOT_ID ||
			 ((inode = map_get(&tree->inodes, ino)) && strcmp(inode->path, path) != 0)))
		ino++;
	return ino;
}

static const char *path_of(const struct fuse_tree *tree, fuse_ino_t ino)
{
	const struct inode *inode = map_get(&tree->inodes, ino);

	return inode ? inode->path : "";
}

static fuse_ino_t remember(struct fuse_tree *tree, const char *path)
{
	fuse_ino_t ino = number_of(tree, path);
	struct inode *inode = map_get(&tree->inodes, ino);

	if (!inode) {
		inode = xcalloc(1, sizeof(*inode));
		inode->path = xstrdup(path);
		(void)map_set(&tree->inodes, ino, inode);
	}
	inode->lookups++;
	return ino;
}

static void inode_free(struct inode *inode)
{
	free(inode->path);
	free(inode);
}

static void forget(struct fuse_tree *tree, fuse_ino_t ino, uint64_t lookups)
{
	struct inode *inode = map_get(&tree->inodes, ino);

	if (!inode)
		return;
	inode->lookups -= MIN(lookups, inode->lookups);
	if (inode->lookups == 0)
		inode_free(map_remove(&tree->inodes, ino));
}

/* --- attributes --- */

/* Nodes have the owner and group of the control socket. The group has the owner's rights on files,
 * and may read directories. */
static void make_attr(const struct fuse_tree *tree, fuse_ino_t ino, mode_t mode, struct stat *ret)
{
	_cleanup_free_ char *socket = path_join(tree->session_dir, CONTROL_SOCKET);
	struct stat st;

	*ret = (struct stat){ .st_ino = ino,
			      .st_mode = mode,
			      .st_nlink = S_ISDIR(mode) ? 2 : 1,
			      .st_uid = geteuid(),
			      .st_gid = getegid() };
	ret->st_atim.tv_sec = ret->st_mtim.tv_sec = ret->st_ctim.tv_sec = tree->mounted_at;
	if (lstat(socket, &st) < 0)
		return;
	ret->st_uid = st.st_uid;
	ret->st_gid = st.st_gid;
	if (st.st_mode & S_IWGRP)
		ret->st_mode |= (mode & (S_ISREG(mode) ? S_IRWXU : S_IRUSR | S_IXUSR)) >> 3;
}

/* The mode in an answer, 0 if there is none. */
static mode_t mode_in(const char *answer)
{
	unsigned int mode;

	return sscanf(answer, "mode %o", &mode) == 1 ? mode : 0;
}

/* --- calls --- */

static void call_free(struct call *call)
{
	free(call->path);
	free(call);
}

static void on_interrupt(fuse_req_t req, void *data)
{
	struct call *call = data;

	call->req = NULL;
	(void)fuse_reply_err(req, EINTR);
}

static struct call *call_new(fuse_req_t req, fuse_ino_t ino)
{
	struct call *call = xcalloc(1, sizeof(*call));

	*call = (struct call){ .tree = tree_of(req), .req = req, .ino = ino };
	return call;
}

/* Asks the daemon; @take gets the call as its data, and ends it. */
static void call_ask(struct call *call, const char *verb, const char *arg, asker_take *take)
{
	_cleanup_free_ char *request = xasprintf("%s %s", verb, arg);

	fuse_req_interrupt_func(call->req, on_interrupt, call);
	asker_ask(call->tree->asker, request, take, call);
}

/* Takes the request from the call, if it still waits, and answers a failure. Returns NULL if
 * nothing is left to do. */
static fuse_req_t call_end(struct call *call, int r)
{
	fuse_req_t req = call->req;

	if (!req)
		return NULL;
	fuse_req_interrupt_func(req, NULL, NULL);
	if (r == 0)
		return req;
	(void)fuse_reply_err(req, r == -EREMOTEIO || r == -ECONNRESET ? EIO : -r);
	return NULL;
}

/* --- lookup --- */

static void take_lookup(int r, const char *answer, void *data)
{
	struct call *call = data;
	mode_t mode = r == 0 ? mode_in(answer) : 0;
	fuse_req_t req = call_end(call, r == 0 && !mode ? -EIO : r);
	struct fuse_entry_param entry = { .attr_timeout = CACHED_S, .entry_timeout = CACHED_S };

	if (req) {
		entry.ino = remember(call->tree, call->path);
		make_attr(call->tree, entry.ino, mode, &entry.attr);
		if (fuse_reply_entry(req, &entry) == -ENOENT)
			forget(call->tree, entry.ino, 1);
	}
	call_free(call);
}

/* Whether a name can be part of a request. */
static bool is_askable(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 0x7f)
			return false;
	return true;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const char *above = path_of(tree_of(req), parent);
	struct call *call;

	if (!is_askable(name)) {
		(void)fuse_reply_err(req, ENOENT);
		return;
	}
	call = call_new(req, parent);
	call->path = xasprintf("%s%s%s", above, *above ? "/" : "", name);
	call_ask(call, "stat", call->path, take_lookup);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
	forget(tree_of(req), ino, lookups);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		forget(tree_of(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void take_attr(int r, const char *answer, void *data)
{
	struct call *call = data;
	mode_t mode = r == 0 ? mode_in(answer) : 0;
	fuse_req_t req = call_end(call, r == 0 && !mode ? -EIO : r);
	struct stat attr;

	if (req) {
		make_attr(call->tree, call->ino, mode, &attr);
		(void)fuse_reply_attr(req, &attr, CACHED_S);
	}
	call_free(call);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi _unused_)
{
	struct stat attr;

	if (ino == FUSE_ROOT_ID) {
		/* The root exists without a daemon, too. */
		make_attr(tree_of(req), ino, S_IFDIR | 0755, &attr);
		(void)fuse_reply_attr(req, &attr, CACHED_S);
		return;
	}
	call_ask(call_new(req, ino), "stat", path_of(tree_of(req), ino), take_attr);
}

/* The shell truncates a file before it writes: nothing to do. */
static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr _unused_, int to_set,
		       struct fuse_file_info *fi)
{
	if (to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		(void)fuse_reply_err(req, EPERM);
	else
		op_getattr(req, ino, fi);
}

/* --- directories --- */

static void add_entry(struct call *call, struct strbuf *out, const char *name, mode_t mode)
{
	const char *above = path_of(call->tree, call->ino);
	_cleanup_free_ char *path = xasprintf("%s%s%s", above, *above ? "/" : "", name);
	struct stat attr = { .st_ino = number_of(call->tree, path), .st_mode = mode };
	size_t size = fuse_add_direntry(call->req, NULL, 0, name, NULL, 0);
	_cleanup_free_ char *entry = xcalloc(1, size);

	(void)fuse_add_direntry(call->req, entry, size, name, &attr, (off_t)(out->length + size));
	strbuf_add(out, entry, size);
}

static void take_list(int r, const char *answer, void *data)
{
	struct call *call = data;
	fuse_req_t req = call_end(call, r);
	struct handle *handle;
	unsigned int mode;
	char name[256];

	if (req) {
		handle = xcalloc(1, sizeof(*handle));
		add_entry(call, &handle->text, ".", S_IFDIR);
		add_entry(call, &handle->text, "..", S_IFDIR);
		for (; *answer; answer += strcspn(answer, "\n"), answer += *answer == '\n')
			if (sscanf(answer, "%255s %o", name, &mode) == 2)
				add_entry(call, &handle->text, name, mode);
		call->fi.fh = (uintptr_t)handle;
		if (fuse_reply_open(req, &call->fi) == -ENOENT) {
			strbuf_done(&handle->text);
			free(handle);
		}
	}
	call_free(call);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call *call = call_new(req, ino);

	call->fi = *fi;
	call_ask(call, "list", path_of(tree_of(req), ino), take_list);
}

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

static void reply_part(fuse_req_t req, const struct strbuf *text, size_t size, off_t offset)
{
	size_t from = offset < 0 ? 0 : MIN((size_t)offset, text->length);

	(void)fuse_reply_buf(req, strbuf_text(text) + from, MIN(size, text->length - from));
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino _unused_, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	reply_part(req, &handle_of(fi)->text, size, offset);
}

static void op_release(fuse_req_t req, fuse_ino_t ino _unused_, struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);

	strbuf_done(&handle->text);
	free(handle);
	(void)fuse_reply_err(req, 0);
}

/* --- files --- */

/* The only file that is not text. */
static struct fuse_buffer *buffer_of(fuse_req_t req, fuse_ino_t ino)
{
	struct fuse_tree *tree = tree_of(req);

	return strcmp(path_of(tree, ino), "buffer") != 0 ? NULL : &tree->buffer;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *handle;

	if (buffer_of(req, ino)) {
		fuse_buffer_open(buffer_of(req, ino), req, fi);
		return;
	}
	handle = xcalloc(1, sizeof(*handle));
	/* Bypass the page cache: the text changes at any time, and its size is unknown. */
	fi->direct_io = 1;
	fi->fh = (uintptr_t)handle;
	if (fuse_reply_open(req, fi) == -ENOENT)
		free(handle);
}

/* "value 1" is a line, "text x" is not; nothing is an empty file. */
static void take_read(int r, const char *answer, void *data)
{
	struct call *call = data;
	fuse_req_t req = call_end(call, r);
	const char *text = req ? strchr(answer, ' ') : NULL;
	struct strbuf *kept = req ? &handle_of(&call->fi)->text : NULL;

	if (req) {
		strbuf_clear(kept);
		if (text)
			strbuf_add(kept, text + 1, strcspn(text + 1, "\n"));
		if (!strncmp(answer, "value ", strlen("value ")))
			strbuf_adds(kept, "\n");
		reply_part(req, kept, call->size, call->offset);
	}
	call_free(call);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	struct call *call;

	if (buffer_of(req, ino)) {
		fuse_buffer_read(buffer_of(req, ino), req, size, fi->flags & O_NONBLOCK);
		return;
	}
	if (offset > 0) {
		reply_part(req, &handle_of(fi)->text, size, offset);
		return;
	}
	call = call_new(req, ino);
	call->fi = *fi;
	call->size = size;
	call_ask(call, "read", path_of(tree_of(req), ino), take_read);
}

static void op_release_file(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	if (buffer_of(req, ino))
		fuse_buffer_release(buffer_of(req, ino), req);
	else
		op_release(req, ino, fi);
}

static void op_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi _unused_,
		    struct fuse_pollhandle *handle)
{
	if (buffer_of(req, ino)) {
		fuse_buffer_poll(buffer_of(req, ino), req, handle);
		return;
	}
	if (handle)
		fuse_pollhandle_destroy(handle);
	(void)fuse_reply_poll(req, POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM);
}

static void take_write(int r, const char *answer _unused_, void *data)
{
	struct call *call = data;
	fuse_req_t req = call_end(call, r);

	if (req)
		(void)fuse_reply_write(req, call->size);
	call_free(call);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *text, size_t size, off_t offset,
		     struct fuse_file_info *fi _unused_)
{
	size_t length = size;
	_cleanup_free_ char *value = NULL, *arg = NULL;
	struct call *call;

	while (length && strchr(" \t\n", text[length - 1]))
		length--;
	value = xstrndup(text, MIN(length, (size_t)VALUE_MAX));
	for (char *c = value; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	if (offset || length >= VALUE_MAX || strlen(value) != length ||
	    value[strcspn(value, "\n\r\033")]) {
		(void)fuse_reply_err(req, EINVAL);
		return;
	}
	arg = xasprintf("%s %s", path_of(tree_of(req), ino), value);
	call = call_new(req, ino);
	call->size = size;
	call_ask(call, "write", arg, take_write);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent _unused_, const char *name _unused_,
		     mode_t mode _unused_, dev_t device _unused_)
{
	(void)fuse_reply_err(req, EPERM);
}

static void op_init(void *data _unused_, struct fuse_conn_info *connection)
{
	/* splice() would block where read() does not. */
	connection->want &= ~(unsigned int)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
					    FUSE_CAP_SPLICE_MOVE);
}

const struct fuse_lowlevel_ops fuse_tree_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.mknod = op_mknod,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.releasedir = op_release,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.release = op_release_file,
	.poll = op_poll,
};

/* --- serving --- */

void fuse_tree_init(struct fuse_tree *tree, const char *session_dir)
{
	*tree = (struct fuse_tree){ .session_dir = xstrdup(session_dir),
				    .asker = asker_new(session_dir),
				    .mounted_at = time(NULL) };
	fuse_buffer_init(&tree->buffer, tree->session_dir);
}

void fuse_tree_done(struct fuse_tree *tree)
{
	fuse_buffer_done(&tree->buffer);
	asker_free(tree->asker);
	map_for_each (&tree->inodes, slot)
		inode_free(slot->value);
	map_done(&tree->inodes);
	free(tree->session_dir);
}

int fuse_tree_serve(struct fuse_tree *tree, struct fuse_session *session, int stop)
{
	struct fuse_buf buffer = { .mem = NULL };
	int fd = fuse_session_fd(session), r = 0;

	/* A request may be withdrawn between poll() and read(). */
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	while (!fuse_session_exited(session)) {
		struct pollfd polled[] = {
			{ .fd = fd, .events = POLLIN },
			{ .fd = stop, .events = POLLIN },
			{ .fd = asker_fd(tree->asker), .events = asker_events(tree->asker) },
			{ .fd = -1 },
			{ .fd = -1 },
		};

		static_assert(ARRAY_SIZE(polled) == 3 + FUSE_BUFFER_POLLED,
			      "room for the buffer's");
		fuse_buffer_polled(&tree->buffer, polled + 3);
		if (poll(polled, ARRAY_SIZE(polled), -1) < 0 && errno != EINTR)
			r = -errno;
		if (r < 0 || polled[1].revents)
			break;
		if (polled[2].revents)
			asker_run(tree->asker);
		if (polled[3].revents || polled[4].revents)
			fuse_buffer_run(&tree->buffer);
		if (!polled[0].revents)
			continue;
		if (fuse_session_receive_buf(session, &buffer) > 0)
			fuse_session_process_buf(session, &buffer);
	}
	free(buffer.mem);
	return r;
}
