/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Short names of the cgroups of containers, pods and virtual machines, for columns and
 * specifications. A cgroup's path has a container's id, but not the name that its user gave it.
 *
 *	char *label = cgroup_label("/system.slice/docker-0a1b2c3d4e5f...64 digits....scope");
 *	printf("cgroup:%s", label);	"docker:0a1b2c3d4e5f": docker(1) takes the id, too
 *	free(label);
 */
#pragma once

/* Returns a name such as "podman:0a1b2c3d4e5f", "pod:12345678/0a1b2c3d4e5f" (Kubernetes) or
 * "machine:NAME", with "/" and the rest of the path below it; NULL if @path is none of these.
 * Caller frees. */
char *cgroup_label(const char *path);
/* Returns what a cgroup is called where there is little room: its label, or the last part of its
 * path. Caller frees. */
char *cgroup_short_name(const char *path);
