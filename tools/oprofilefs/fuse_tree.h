/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The FUSE operations of oprofilefs: each is a request to the daemon, and is answered when the
 * daemon answers. Nothing here blocks, so that interrupted programs return at once.
 *
 *	struct fuse_tree tree;
 *	fuse_tree_init(&tree, session_dir);
 *	struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
 *	struct fuse_session *session =
 *		fuse_session_new(&args, &fuse_tree_ops, sizeof(fuse_tree_ops), &tree);
 *	fuse_tree_serve(&tree, session, stop);	until it is unmounted or a signal ends it
 *	fuse_tree_done(&tree);
 */
#pragma once

#include "base/map.h"
#include "tools/oprofilefs/fuse_buffer.h"

struct fuse_tree {
	char *session_dir;
	struct asker *asker;
	struct fuse_buffer buffer;
	struct map inodes; /* number to struct inode of fuse_tree.c */
	time_t mounted_at;
};

extern const struct fuse_lowlevel_ops fuse_tree_ops;

/* Initialises @tree without contacting the daemon. */
void fuse_tree_init(struct fuse_tree *tree, const char *session_dir);
/* Serves until it is unmounted or @stop, a descriptor, is readable; 0 or -errno. */
int fuse_tree_serve(struct fuse_tree *tree, struct fuse_session *session, int stop);
void fuse_tree_done(struct fuse_tree *tree);
