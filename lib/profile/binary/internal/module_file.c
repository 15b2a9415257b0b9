/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/internal/module_file.h"

#include "base/log.h"
#include "base/mem.h"
#include "elf/elffile.h"
#include "elf/filefind.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"
#include "symbol/elfsym.h"
#include "symbol/symtab.h"

#include <string.h>

/* The symbols of the first file called @name that can be the profiled module. */
static struct symtab *load_named(struct filefind *found, const char *name,
				 const struct gather_image *image, struct elffile **ret_file)
{
	const struct build_id *profiled =
		image->manifest ? &image->manifest->version.build_id : NULL;
	const char *path;
	size_t i;

	for (i = 0; (path = filefind_get(found, name, i)); i++) {
		struct error err = ERROR_INIT;
		struct symtab *st;
		struct elffile *ef;

		if (elffile_open(path, &ef, &err) < 0) {
			log_warn("%s", err.text);
			continue;
		}
		if (profiled && profiled->size && elffile_build_id(ef) &&
		    !build_id_equal(profiled, elffile_build_id(ef))) {
			log_warn("%s: not the module that was profiled", path);
			elffile_close(ef);
			continue;
		}
		st = symtab_new();
		symtab_hold(st, ef, elfsym_release);
		(void)elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
		symtab_settle(st);
		*ret_file = ef;
		return st;
	}
	return NULL;
}

struct symtab *module_file_load(struct filefind *found, const struct gather_image *image,
				struct elffile **ret_file)
{
	static const char *const endings[] = { ".ko", ".ko.xz", ".ko.zst", ".ko.gz" };
	struct symtab *st = NULL;
	size_t i;

	for (i = 0; !st && i < ARRAY_SIZE(endings); i++) {
		_cleanup_free_ char *name = xasprintf("%s%s", image->display, endings[i]);
		char *c;

		st = load_named(found, name, image, ret_file);
		for (c = name; *c; c++)
			*c = *c == '_' ? '-' : *c;
		if (!st && strchr(name, '-'))
			st = load_named(found, name, image, ret_file);
	}
	return st;
}
