/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/profile/select/cgroup_label.c: paths as the runtimes make them. */
#include "test.h"

#include "profile/select/cgroup_label.h"
#include "sfile/session_names.h"

#define ID  "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define POD "12345678_9abc_def0_1234_56789abcdef0"

static void containers_and_machines_have_short_names(void)
{
	static const struct {
		const char *path, *label;
	} rows[] = {
		{ "/", NULL },
		{ "", NULL },
		{ "/system.slice/nginx.service", NULL },
		{ "/user.slice/user-1000.slice/session-3.scope", NULL },
		{ "/docker/" ID, "docker:0a1b2c3d4e5f" },
		{ "/system.slice/docker-" ID ".scope", "docker:0a1b2c3d4e5f" },
		{ "/system.slice/docker-" ID ".scope/init.scope",
		  "docker:0a1b2c3d4e5f/init.scope" },
		{ "/system.slice/docker-1f2e.scope", NULL },
		{ "/machine.slice/libpod-" ID ".scope/container", "podman:0a1b2c3d4e5f" },
		{ "/machine.slice/libpod-conmon-" ID ".scope", "podman-monitor:0a1b2c3d4e5f" },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
		  "podman:0a1b2c3d4e5f" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD
		  ".slice/cri-containerd-" ID ".scope",
		  "pod:12345678/0a1b2c3d4e5f" },
		{ "/kubepods.slice/kubepods-pod" POD ".slice", "pod:12345678" },
		{ "/kubepods/besteffort/pod12345678-9abc-def0-1234-56789abcdef0/" ID,
		  "pod:12345678/0a1b2c3d4e5f" },
		{ "/system.slice/nerdctl-" ID ".scope", "nerdctl:0a1b2c3d4e5f" },
		{ "/some/" ID, "container:0a1b2c3d4e5f" },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt",
		  "machine:qemu-1-web/libvirt" },
		{ "/lxc.payload.web/system.slice", "lxc:web/system.slice" },
		{ "/system.slice/pod.service", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *label = cgroup_label(NULL, rows[i].path);

		if (!CHECK(!label == !rows[i].label && !strcmp(label ?: "", rows[i].label ?: "")))
			printf("# %s is '%s'\n", rows[i].path, label ?: "(none)");
	}
}

static void the_names_of_the_session_are_used(void)
{
	static const struct {
		const char *path, *name, *label;
	} rows[] = {
		{ "/system.slice/docker-" ID ".scope", "web-1", "docker:web-1" },
		{ "/system.slice/docker-" ID ".scope/init.scope", "web-1",
		  "docker:web-1/init.scope" },
		{ "/machine.slice/libpod-" ID ".scope/container", "a\tb\033[1m",
		  "podman:a\tb\033[1m" },
		{ "/kubepods.slice/kubepods-burstable-pod" POD ".slice/cri-containerd-" ID ".scope",
		  "shop/web-7d4b9c6f5-x2x9p/nginx", "pod:shop/web-7d4b9c6f5-x2x9p/nginx" },
		{ "/kubepods/pod12345678-9abc-def0-1234-56789abcdef0/" ID "/below", "n/p/c",
		  "pod:n/p/c/below" },
		{ "/system.slice/nginx.service", "web-1", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_directory_ char *dir = test_directory();
		_cleanup_(session_names_freep) struct session_names *names = session_names_new();
		_cleanup_free_ char *label = NULL;

		CHECK_EQ(session_names_add(SESSION_NAMES_CONTAINERS, dir, ID, "before", NULL), 0);
		CHECK_EQ(session_names_add(SESSION_NAMES_CONTAINERS, dir, ID, rows[i].name, NULL),
			 0);
		session_names_read(names, dir);
		label = cgroup_label(names, rows[i].path);
		if (!CHECK(!label == !rows[i].label && !strcmp(label ?: "", rows[i].label ?: "")))
			printf("# %s is '%s'\n", rows[i].path, label ?: "(none)");
	}
}

TESTS(T(containers_and_machines_have_short_names), T(the_names_of_the_session_are_used))
