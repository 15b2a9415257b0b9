/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Short names of the cgroups of containers, pods and virtual machines, for columns and
 * specifications. A cgroup's path has a container's id; the name that its user gave it is in the
 * session, if it was found out (sfile/session_names.h).
 *
 *	char *label = cgroup_label(names, "/system.slice/docker-0a1b2c3d4e5f...64 digits....scope");
 *	printf("cgroup:%s", label);	"docker:web-1", or "docker:0a1b2c3d4e5f"
 *	free(label);
 */
#pragma once

#include <stddef.h>

struct intern;
struct session_names;

/* Returns a name such as "podman:db", "pod:shop/web-7d4b9c6f5-x2x9p/nginx" (Kubernetes) or
 * "machine:NAME", with "/" and the rest of the path below it; NULL if @path is none of these. A
 * container that is not in @names, or NULL, is called by its id: "podman:0a1b2c3d4e5f",
 * "pod:12345678/0a1b2c3d4e5f". Caller frees. */
char *cgroup_label(const struct session_names *names, const char *path);
/* Returns what a cgroup is called where there is little room: its label, or the last part of its
 * path. Caller frees. */
char *cgroup_short_name(const struct session_names *names, const char *path);
/* What each of @count cgroups is called where there are several: short if no other one is called
 * so. A path NULL is "all". The strings are in @texts; caller frees the array. */
const char **cgroup_names(const struct session_names *names, const char *const *paths, size_t count,
			  struct intern *texts);
