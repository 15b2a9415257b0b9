/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from an ELF file whether it contains a HotSpot virtual machine (libjvm.so), and where the
 * table is in which HotSpot describes its own structures (vmStructs): which entry of it is about
 * which member. The offsets of the members are only in the memory of processes.
 *
 *	struct java_layout layout;
 *	if (java_layout_read(ef, base, &layout) && layout.is_known)
 *		...
 */
#pragma once

#include "bpf/interpreter.h"

#include <stdbool.h>
#include <stdint.h>

struct elffile;

/* Stores what is known of the virtual machine in @ef, with addresses relative to @base. ->is_known
 * is 0 if a member is missing that frames cannot be walked without, and on other machines than
 * x86-64. False if the file contains no virtual machine. */
bool java_layout_read(const struct elffile *ef, uint64_t base, struct java_layout *ret);
/* Whether a layout, which may be forged, is one that the BPF program can use. */
bool java_layout_makes_sense(const struct java_layout *layout);
