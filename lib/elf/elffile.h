/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file opened for reading: its sections, segments and addresses. All that it returns points
 * into the mapped file and is borrowed until elffile_close(). Damaged files give errors, nothing
 * worse.
 *
 *	struct elffile *ef;
 *	if (elffile_open("/usr/bin/true", &ef, err) == 0 && elffile_offset(ef, address, &offset))
 *		...
 *	elffile_close(ef);
 */
#pragma once

#include "base/error.h"
#include "base/span.h"
#include "file/build_id.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Symbols that are read of a table. The largest programs have a million, but a hole in a file may
 * be a table of billions. */
enum { ELFFILE_SYMBOLS_MAX = 1 << 22 };

struct elffile;

/* The note section in which an ELF subset (elfwrite/elf_subset.h) records the length of the
 * original file: owner "OProfile", type 1, 8 bytes as two words, the low one first. */
#define ELFFILE_ORIGINAL ".note.oprofile.original"

/* The bit of st_other by which an ELF subset marks functions that the Go compiler made. ABIs of the
 * machines that Go is compiled for here use others. */
enum { ELFFILE_OTHER_GO = 0x40 };

/* A section of the file; borrowed, no pointer is NULL. */
struct elf_section {
	Elf_Scn *scn;
	GElf_Shdr header;
	size_t index;
	const char *name;
};

/* Opens a file, which may be compressed if its name says so (.xz, .zst, .gz). 0, caller closes;
 * -EBADMSG if it is not an ELF file or damaged; -EFBIG if it would unpack to too much; or
 * -errno. */
int elffile_open(const char *path, struct elffile **ret, struct error *err);
/* Opens the ELF file @fd, which is not compressed, and takes @fd even on failure; @name is for
 * messages. Returns as elffile_open(). */
int elffile_open_fd(int fd, const char *name, struct elffile **ret, struct error *err);
/* Opens @size bytes of a compressed ELF file; @name is for messages. Returns as elffile_open(), and
 * -EFBIG if it would be too large. */
int elffile_open_packed(const void *bytes, size_t size, const char *name, struct elffile **ret,
			struct error *err);
/* Opens @size bytes in memory, which must outlive the elffile; @name is for messages. */
int elffile_open_memory(void *bytes, size_t size, const char *name, struct elffile **ret,
			struct error *err);
/* Closes; NULL is fine. */
void elffile_close(struct elffile *ef);
DEFINE_CLEANUP(struct elffile *, elffile_close);
/* To be called when a function of libelf has failed: ends the program if the reason is that there
 * is no memory (mem_exhausted()). Otherwise the file would be taken for a damaged one. */
void elffile_check_memory(void);

/* The path or name that it was opened with; borrowed. */
const char *elffile_path(const struct elffile *ef);
/* Its ELF header. */
const GElf_Ehdr *elffile_header(const struct elffile *ef);
/* libelf's handle, for what this module does not offer. */
Elf *elffile_elf(const struct elffile *ef);
/* A descriptor of the ELF file, or -1 if it was unpacked or is in memory. */
int elffile_fd(const struct elffile *ef);
/* Its build-id; NULL if it has none. */
const struct build_id *elffile_build_id(const struct elffile *ef);
/* Modification time in seconds; 0 for memory. */
uint64_t elffile_mtime(const struct elffile *ef);
/* The user to whom the file belonged when it was opened; 0 for memory. */
uid_t elffile_owner(const struct elffile *ef);
/* Length in bytes; 0 for memory. For an ELF subset the length of the original. */
uint64_t elffile_size(const struct elffile *ef);

/* The file offset of the byte at the linked @address. A relocatable file (a kernel module) has no
 * addresses: there @address must be the offset in the section plus elffile_section_base(). False if
 * no segment contains it. */
bool elffile_offset(const struct elffile *ef, uint64_t address, uint64_t *ret);
/* The reverse: the linked address of the byte at @offset in the file. */
bool elffile_address(const struct elffile *ef, uint64_t offset, uint64_t *ret);
/* The linked addresses of the bytes of the @i-th executable segment; false if there is none. */
bool elffile_code_segment(const struct elffile *ef, size_t i, uint64_t *ret_start,
			  uint64_t *ret_end);
/* The address of the section; in a relocatable file the one that the kernel's module loader gives
 * it if it lays out code sections in the order of the file. */
uint64_t elffile_section_base(const struct elffile *ef, size_t index);

/* Number of sections; 0 if there are none. */
size_t elffile_section_count(const struct elffile *ef);
/* The section at @index; false if it is damaged. */
bool elffile_section(const struct elffile *ef, size_t index, struct elf_section *ret);
/* The first section called @name, or false. */
bool elffile_find_section(const struct elffile *ef, const char *name, struct elf_section *ret);
/* Whether it holds code, other than the init code of a kernel module, which is freed after use. */
bool elffile_section_is_code(const struct elffile *ef, const struct elf_section *section);
/* The section's bytes, or NULL if it has none in this file. */
const Elf_Data *elffile_data(const struct elf_section *section);
/* The string at @offset in the section @table of strings; NULL if there is none. */
const char *elffile_string(const struct elffile *ef, size_t table, size_t offset);
/* @size bytes of the file from @offset on, as elf_getdata_rawchunk() gives them, or NULL. */
Elf_Data *elffile_chunk(const struct elffile *ef, uint64_t offset, uint64_t size, Elf_Type type);
/* All bytes of the file; none if they cannot be read. */
struct span elffile_whole(const struct elffile *ef);

/* @size bytes of the file from @offset on; NULL if it is shorter. Of an ELF subset, code of the
 * original from its @offset on; NULL if the subset does not contain it. */
const void *elffile_bytes(const struct elffile *ef, uint64_t offset, uint64_t size);

/* Reads .gnu_debuglink: the name of the debug file and its CRC. False if there is none. */
bool elffile_debuglink(const struct elffile *ef, const char **ret_name, uint32_t *ret_crc);
