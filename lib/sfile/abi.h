/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file "abi" of a session directory: how the machine that wrote the sample files lays integers
 * and structures out, a line "name value" each (man opsample.5). A struct abi owns nothing.
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

/* Name, kind of value, and the value on this machine (64-bit Linux, where all that the format
 * speaks of has one layout), in the order of the file. INTEGER: bytes of an integer; DOUBLE: of a
 * double; SIZE: of a structure; OFFSET: of a field; FLAG: 0 or 1. */
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

enum { ABI_STRUCT_MAX = 4096 }; /* no structure is larger */

struct abi {
	uint32_t of[ABI_FIELD_COUNT_];
};

/* The layout of this machine; borrowed, for ever. */
const struct abi *abi_native(void);

/* The text of the file; caller frees. */
char *abi_text(const struct abi *abi);

/* Takes the text apart; @path is for messages. Names that are not known are passed over. 0, or
 * -EBADMSG with the line or the field: one that is missing, a size that no machine has, a field
 * that does not lie in its structure. */
int abi_parse(struct span text, const char *path, struct abi *ret, struct error *err);

/* Reads and parses the file; as abi_parse(), or -errno. */
int abi_read(const char *path, struct abi *ret, struct error *err);

/* Whether two machines write the same. */
bool abi_equal(const struct abi *a, const struct abi *b);
