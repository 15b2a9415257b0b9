/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiled BPF object, which is a part of the executable (bpf/meson.build). */
#pragma once

#include <stddef.h>

extern const unsigned char sampler_object[];
extern const size_t sampler_object_size;
