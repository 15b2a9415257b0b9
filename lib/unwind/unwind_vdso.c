/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_vdso.h"

#include "base/mem.h"
#include "elf/elffile.h"
#include "elf/vdso.h"
#include "unwind/unwind.h"

#include <errno.h>

/* Reads the vdso of this process: a copy, because libelf needs it writable. */
static int read_own(void **ret, size_t *ret_size)
{
	size_t size = (size_t)vdso_size();

	if (!size)
		return -ENODATA;
	*ret = xmemdup(vdso_image(), size);
	*ret_size = size;
	return 0;
}

int unwind_vdso_table(bool is_32_bit, struct unwind_rules *rules, struct unwind_table **ret)
{
	_cleanup_free_ void *bytes = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	size_t size;
	int r = is_32_bit ? vdso_read_32(&bytes, &size) : read_own(&bytes, &size);

	if (r == 0)
		r = elffile_open_memory(bytes, size, "[vdso]", &ef, NULL);
	return r < 0 ? r : unwind_table_build(ef, rules, ret, NULL);
}
