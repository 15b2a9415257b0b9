/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/internal/kernel_code.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "elf/elffile.h"
#include "elf/filefind.h"

#include <string.h>

/* Opens @path if it is the kernel with that build-id. */
static struct elffile *try_kernel(const char *path, const struct build_id *id)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct error err = ERROR_INIT;

	if (elffile_open(path, &ef, &err) < 0) {
		log_warn("%s", err.text);
		return NULL;
	}
	if (id && id->size && elffile_build_id(ef) && !build_id_equal(id, elffile_build_id(ef))) {
		log_warn("%s: is not the kernel that was profiled", path);
		return NULL;
	}
	return STEAL(ef);
}

static struct elffile *try_found(struct filefind *found, const char *name,
				 const struct build_id *id)
{
	struct elffile *ef = NULL;
	const char *path;
	size_t i;

	for (i = 0; !ef && (path = filefind_get(found, name, i)); i++)
		ef = try_kernel(path, id);
	return ef;
}

struct elffile *kernel_code_vmlinux(const struct kernel_code_places *where,
				    const struct build_id *id)
{
	static const char *const installed[] = { "/usr/lib/debug/boot/vmlinux-%s",
						 "/usr/lib/debug/lib/modules/%s/vmlinux",
						 "/lib/modules/%s/build/vmlinux",
						 "/boot/vmlinux-%s" };
	struct elffile *ef = where->vmlinux ? try_kernel(where->vmlinux, id) : NULL;
	size_t i;

	if (!ef)
		ef = try_found(where->found, "vmlinux", id);
	for (i = 0; !ef && where->release && i < ARRAY_SIZE(installed); i++) {
		const char *mark = strstr(installed[i], "%s");
		_cleanup_free_ char *name = xasprintf("%.*s%s%s", (int)(mark - installed[i]),
						      installed[i], where->release, mark + 2);
		_cleanup_free_ char *path = path_under(where->root, name);

		ef = try_found(where->found, path_base(name), id);
		if (!ef && access(path, F_OK) == 0)
			ef = try_kernel(path, id);
	}
	return ef;
}

struct elffile *kernel_code_core(const struct kernel_code_places *where)
{
	_cleanup_free_ char *path = path_under(where->root, "/proc/kcore");
	struct elffile *ef = NULL;
	struct error err = ERROR_INIT;

	if (access(path, F_OK) == 0 && elffile_open(path, &ef, &err) < 0)
		log_debug("%s", err.text);
	return ef;
}
