/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fast checksum for long contents, to compare them and to detect damage; not for anything that
 * must resist an attacker. The value depends on the machine's byte order. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Digest of @size bytes; different seeds give independent ones. */
uint64_t digest_bytes(const void *data, size_t size, uint64_t seed);
