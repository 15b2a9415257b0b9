/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/elf/vdso.c: the vdso of this process and of 32-bit ones, in memory and in a file. */
#include "test.h"

#include "elf/elffile.h"
#include "elf/vdso.h"

#include <elf.h>
#include <sys/wait.h>

static void saved_image_is_the_one_in_memory(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "vdso");
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	const void *bytes;

	if (!vdso_image())
		SKIP("this process has no vdso");
	CHECK_EQ(vdso_save(path, NULL), 0);
	CHECK_EQ(elffile_open(path, &ef, NULL), 0);
	if (!ef)
		return;
	CHECK_EQ(elffile_size(ef), vdso_size());
	bytes = elffile_bytes(ef, 0, vdso_size());
	CHECK(bytes && !memcmp(bytes, vdso_image(), vdso_size()));
}

static void present_file_is_kept(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "vdso"), *text = NULL;

	if (!vdso_image())
		SKIP("this process has no vdso");
	CHECK_EQ(path_write(path, "of another boot", 0600, NULL), 0);
	CHECK_EQ(vdso_save(path, NULL), 0);
	CHECK(path_read("", path, &text, NULL) > 0);
	CHECK_STR(text, "of another boot");
}

/* In a child process: the own vdso of this one stays. */
static void that_of_32_bit_programs_is_another(void)
{
	_cleanup_free_ void *bytes = NULL;
	const Elf32_Ehdr *header;
	size_t size = 0;
	int r = vdso_read_32(&bytes, &size);

	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
	if (r == -ENODATA)
		SKIP("this kernel maps no vdso of 32-bit programs");
	CHECK_EQ(r, 0);
	CHECK(size > sizeof(*header));
	header = bytes;
	CHECK(header && !memcmp(header->e_ident, ELFMAG, SELFMAG));
	CHECK_EQ(header->e_ident[EI_CLASS], ELFCLASS32);
	CHECK_EQ(header->e_machine, EM_386);
	CHECK(memmem(bytes, size, "__kernel_vsyscall", 18) != NULL);
	CHECK(!vdso_image() || !memcmp(vdso_image(), ELFMAG, SELFMAG));
}

static void that_of_32_bit_programs_is_saved(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "vdso32");
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_free_ void *bytes = NULL;
	size_t size = 0;

	if (vdso_read_32(&bytes, &size) < 0) {
		CHECK(vdso_save_32(path, NULL) < 0);
		CHECK(access(path, F_OK) < 0);
		return;
	}
	CHECK_EQ(vdso_save_32(path, NULL), 0);
	CHECK_EQ(elffile_open(path, &ef, NULL), 0);
	CHECK_EQ(ef ? elffile_size(ef) : 0, size);
	CHECK(ef && !memcmp(elffile_bytes(ef, 0, size), bytes, size));
}

TESTS(T(saved_image_is_the_one_in_memory), T(present_file_is_kept),
      T(that_of_32_bit_programs_is_another), T(that_of_32_bit_programs_is_saved))
