/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name that the user of a container gave it, from the files of its runtime on this machine:
 * those of Kubernetes, Docker and Podman, run by root, where they are by default. Others cannot
 * write these files, so nobody can make the reader wait.
 *
 *	name = runtime_name(root, session_names_id(path));	"web-1", or of a pod
 *	free(name);						"shop/web-7d4b9c6f5-x2x9p/nginx"
 */
#pragma once

/* Returns the name of the container whose id @id begins with; of one in a pod NAMESPACE/POD/NAME.
 * @root is put before the paths; "" is this machine. NULL if it is not known; caller frees. */
char *runtime_name(const char *root, const char *id);
