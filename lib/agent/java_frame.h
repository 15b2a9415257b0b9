/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How to unwind a method that HotSpot has compiled. Without -XX:+PreserveFramePointer only the code
 * shows how large its frame is; JVMTI does not report it. But all of HotSpot's compilers make and
 * remove frames by the same few instructions, so the size of the frame, and where it exists, are
 * read from them. Only for x86-64.
 *
 *	uint8_t cfi[JAVA_FRAME_BYTES];
 *	size_t bytes = java_frame_cfi(code, size, cfi);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { JAVA_FRAME_BYTES = 2048 };

/* Writes an .eh_frame for @code of @size bytes to @ret. Returns its bytes; 0 if the code is no
 * method without a frame pointer, or not recognised. */
size_t java_frame_cfi(const uint8_t *code, size_t size, uint8_t ret[JAVA_FRAME_BYTES]);
