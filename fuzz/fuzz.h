/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entry point that libFuzzer and run_corpus.c call; always returns 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
