/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "elf/elf_build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

/* A file in memory with these bytes; caller closes. */
static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	return fd;
}

/* A note of another owner, one of another type, then the build-id. */
static const uint8_t notes_le[] = {
	5, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'S', 't', 'a', 'p', 0,   0,	  0,	0,    1,
	2, 3, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0,	 0,   0,   'G', 'N', 'U', 0,	9,    9,
	9, 9, 4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0,	 0,   'G', 'N', 'U', 0,	  0xab, 0xcd, 0xef,
};

static const uint8_t notes_be[] = {
	0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 3, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef,
};

static void notes_are_walked_to_the_build_id(void)
{
	char text[BUILD_ID_TEXT];
	struct build_id id = { .size = 0 };
	size_t i;

	CHECK_EQ(elf_build_id_from_notes(span_of(notes_le, sizeof(notes_le)), false, &id), 0);
	CHECK_STR(build_id_text(&id, text), "abcdef");
	CHECK_EQ(elf_build_id_from_notes(span_of(notes_be, sizeof(notes_be)), true, &id), 0);
	CHECK_STR(build_id_text(&id, text), "deadbeef");
	for (i = 0; i < sizeof(notes_be); i++)
		CHECK_EQ(elf_build_id_from_notes(span_of(notes_be, i), true, &id), -ENODATA);
	CHECK_EQ(elf_build_id_from_notes(span_of(notes_be, sizeof(notes_be)), false, &id),
		 -ENODATA);
}

/* A 32-bit big-endian file with one note segment, as it comes from an old PowerPC. */
static void foreign_class_and_byte_order_are_read(void)
{
	uint8_t file[52 + 32 + sizeof(notes_be)] = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2MSB };
	char text[BUILD_ID_TEXT];
	struct build_id id;
	_cleanup_close_ int fd = -1;

	file[31] = 52; /* e_phoff */
	file[43] = 32; /* e_phentsize */
	file[45] = 1;  /* e_phnum */
	file[52 + 3] = PT_NOTE;
	file[52 + 7] = 52 + 32; /* p_offset */
	file[52 + 19] = sizeof(notes_be);
	memcpy(file + 52 + 32, notes_be, sizeof(notes_be));
	fd = file_of(file, sizeof(file));
	CHECK_EQ(elf_build_id_read_fd(fd, &id), 0);
	CHECK_STR(build_id_text(&id, text), "deadbeef");
}

/* Without segments, as kernel modules are. */
static void note_sections_do_where_there_are_no_segments(void)
{
	uint8_t file[64 + 64 + sizeof(notes_le)] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB };
	char text[BUILD_ID_TEXT];
	struct build_id id;
	_cleanup_close_ int fd = -1;

	file[40] = 64; /* e_shoff */
	file[58] = 64; /* e_shentsize */
	file[60] = 1;  /* e_shnum */
	file[64 + 4] = SHT_NOTE;
	file[64 + 24] = 64 + 64; /* sh_offset */
	file[64 + 32] = sizeof(notes_le);
	memcpy(file + 128, notes_le, sizeof(notes_le));
	fd = file_of(file, sizeof(file));
	CHECK_EQ(elf_build_id_read_fd(fd, &id), 0);
	CHECK_STR(build_id_text(&id, text), "abcdef");
}

static void hostile_headers_end_in_an_error(void)
{
	uint8_t file[128] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB };
	struct build_id id;
	_cleanup_close_ int all_ones = -1, text = file_of("#!/bin/sh\n", 10),
			    empty = file_of("", 0);

	CHECK_EQ(elf_build_id_read_fd(text, &id), -EBADMSG);
	CHECK_EQ(elf_build_id_read_fd(empty, &id), -EBADMSG);
	memset(file + 16, 0xff, sizeof(file) - 16);
	all_ones = file_of(file, sizeof(file));
	CHECK_EQ(elf_build_id_read_fd(all_ones, &id), -ENODATA);
	CHECK_EQ(elf_build_id_read_fd(-1, &id), -EBADF);
}

static void running_kernel_has_one(void)
{
	struct build_id id;
	int r = elf_build_id_read_kernel(NULL, &id);

	if (r == -ENOENT || r == -EACCES || r == -EPERM)
		SKIP("/sys/kernel/notes cannot be read here");
	CHECK_EQ(r, 0);
	CHECK_EQ(id.size, 20);
}

TESTS(T(notes_are_walked_to_the_build_id), T(foreign_class_and_byte_order_are_read),
      T(note_sections_do_where_there_are_no_segments), T(hostile_headers_end_in_an_error),
      T(running_kernel_has_one))
