/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which image a kernel address is in: the kernel itself, a module, code outside both (BPF programs,
 * trampolines) under the name that kallsyms has in brackets, or {kern}/unknown. Every address gets
 * an answer, so that no kernel sample is lost.
 *
 *	kernel_images_find(k, pc, &place);
 *	key = pc - place.base;
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct sampled_image;
struct sampled_images;
struct kernel_images;

struct kernel_images_config {
	const char *root;    /* below which /proc lies */
	const char *samples; /* the session's directory, where symbols are kept */
	const char *vmlinux; /* NULL: /proc/kallsyms */
	uint64_t start, end; /* the kernel's text; 0: from kallsyms */
	bool absolute;	     /* one image for all, counted by address (--no-vmlinux) */
	bool wanted;	     /* kernel samples are expected: say so if symbols will be missing */
	struct sampled_images *binaries; /* borrowed for the kernel's life */
};

/* An image and the addresses in it that count from the same base. */
struct place {
	struct sampled_image *image;
	uint64_t base;	    /* key = address - base */
	uint64_t low, size; /* addresses low ... low + size - 1; size 0: all */
};

/* Reads the ranges. Never fails: addresses that cannot be had mean counting by address, which is
 * logged with the remedy. Strings are copied, caller frees. */
struct kernel_images *kernel_images_new(const struct kernel_images_config *config);
/* NULL is fine. */
void kernel_images_free(struct kernel_images *k);

/* Where kernel samples are wanted: keeps the symbols in the session now, not at the first of them,
 * when the CPU buffers fill meanwhile. */
void kernel_images_prepare(struct kernel_images *k);
/* The place of @pc. Reads the ranges anew where none has it, but seldom, as that takes long. */
void kernel_images_find(struct kernel_images *k, uint64_t pc, struct place *ret);
/* Where the kernel's own text lies; false if that is not known. */
bool kernel_images_text(const struct kernel_images *k, uint64_t *ret_start, uint64_t *ret_end);
/* From now on @length bytes at @start are the code called @symbol, whatever the kernel's lists say:
 * they may be read when it is gone. */
void kernel_images_code(struct kernel_images *k, uint64_t start, uint64_t length,
			const char *symbol);
/* Code was loaded: the next kernel_images_find() beside the kernel's own text reads the modules,
 * and other ranges if it may. */
void kernel_images_changed(struct kernel_images *k);
/* The binaries are gone: as after kernel_images_new(). */
void kernel_images_forget(struct kernel_images *k);
