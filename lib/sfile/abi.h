/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads, writes and compares the file "abi" of a session directory. It records the sizes of the
 * integers and structures in the session's sample files, the offsets of their fields, and the byte
 * order, one "name value" per line (man opsample.5), so that another machine can read the files.
 * A struct abi owns no memory.
 *
 *	struct abi abi;
 *	if (abi_read("session/abi", &abi, err) == 0 && !abi_equal(&abi, abi_native()))
 *		...	import/import.h
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct span;

/* The fields in file order: name, kind, and value on this machine. Only the byte order differs
 * between 64-bit Linux machines. Kinds: INTEGER, DOUBLE and SIZE are the size in bytes of an
 * integer, a double and a structure; OFFSET is the offset of a field in bytes; FLAG is 0 or 1. */
#define ABI_FIELDS(X)                                                                              \
	X(SIZEOF_DOUBLE, "sizeof_double", DOUBLE, sizeof(double))                                  \
	X(SIZEOF_U64, "sizeof_u64", INTEGER, 8)                                                    \
	X(SIZEOF_U8, "sizeof_u8", INTEGER, 1)                                                      \
	X(SIZEOF_U32, "sizeof_u32", INTEGER, 4)                                                    \
	X(SIZEOF_INT, "sizeof_int", INTEGER, sizeof(int))                                          \
	X(SIZEOF_UNSIGNED, "sizeof_unsigned_int", INTEGER, sizeof(unsigned int))                   \
	X(SIZEOF_KEY, "sizeof_odb_key_t", INTEGER, 8)                                              \
	X(SIZEOF_INDEX, "sizeof_odb_index_t", INTEGER, 4)                                          \
	X(SIZEOF_VALUE, "sizeof_odb_value_t", INTEGER, 4)                                          \
	X(SIZEOF_NODE_NR, "sizeof_odb_node_nr_t", INTEGER, 4)                                      \
	X(SIZEOF_DESCR, "sizeof_odb_descr_t", SIZE, 32)                                            \
	X(SIZEOF_NODE, "sizeof_odb_node_t", SIZE, 16)                                              \
	X(SIZEOF_HEADER, "sizeof_struct_opd_header", SIZE, 72)                                     \
	X(NODE_KEY, "offsetof_node_key", OFFSET, 0)                                                \
	X(NODE_VALUE, "offsetof_node_value", OFFSET, 8)                                            \
	X(NODE_NEXT, "offsetof_node_next", OFFSET, 12)                                             \
	X(DESCR_SIZE, "offsetof_descr_size", OFFSET, 0)                                            \
	X(DESCR_CURRENT, "offsetof_descr_current_size", OFFSET, 4)                                 \
	X(HEADER_MAGIC, "offsetof_header_magic", OFFSET, 0)                                        \
	X(HEADER_VERSION, "offsetof_header_version", OFFSET, 4)                                    \
	X(HEADER_CPU_TYPE, "offsetof_header_cpu_type", OFFSET, 8)                                  \
	X(HEADER_EVENT, "offsetof_header_ctr_event", OFFSET, 12)                                   \
	X(HEADER_UNIT_MASK, "offsetof_header_ctr_um", OFFSET, 16)                                  \
	X(HEADER_COUNT, "offsetof_header_ctr_count", OFFSET, 20)                                   \
	X(HEADER_IS_KERNEL, "offsetof_header_is_kernel", OFFSET, 24)                               \
	X(HEADER_CPU_SPEED, "offsetof_header_cpu_speed", OFFSET, 32)                               \
	X(HEADER_MTIME, "offsetof_header_mtime", OFFSET, 40)                                       \
	X(HEADER_CG_TO_IS_KERNEL, "offsetof_header_cg_to_is_kernel", OFFSET, 48)                   \
	X(HEADER_ANON_START, "offsetof_header_anon_start", OFFSET, 56)                             \
	X(HEADER_CG_TO_ANON_START, "offsetof_header_cg_to_anon_start", OFFSET, 64)                 \
	X(LITTLE_ENDIAN, "little_endian", FLAG, ABI_HERE_LITTLE_ENDIAN)

#define ABI_HERE_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

enum abi_field {
#define X(field, name, kind, here) ABI_##field,
	ABI_FIELDS(X) ABI_FIELD_COUNT_
#undef X
};

enum { ABI_STRUCT_MAX = 4096 }; /* largest structure accepted, in bytes */

struct abi {
	uint32_t of[ABI_FIELD_COUNT_];
};

/* Returns the layout of this machine, in static memory. */
const struct abi *abi_native(void);

/* Returns @abi as the text of an "abi" file; caller frees. */
char *abi_text(const struct abi *abi);

/* Parses the text of an "abi" file; @path is for messages. Unknown names are ignored. Returns 0, or
 * -EBADMSG with an error that names the line or field at fault: a missing field, an impossible
 * size, or an offset outside its structure. */
int abi_parse(struct span text, const char *path, struct abi *ret, struct error *err);

/* Reads and parses the file at @path. Returns as abi_parse() does, or -errno if reading fails. */
int abi_read(const char *path, struct abi *ret, struct error *err);

/* Returns whether the two layouts are the same. */
bool abi_equal(const struct abi *a, const struct abi *b);
