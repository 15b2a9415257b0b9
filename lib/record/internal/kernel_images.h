/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which image a kernel address is in: the kernel itself, a module, code outside both (BPF programs,
 * trampolines) under the name that kallsyms shows in brackets, or {kern}/unknown. Every address has
 * an image, so no kernel sample is lost.
 *
 *	kernel_images_find(k, pc, &place);
 *	key = pc - place.base;
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct relief;
struct sampled_image;
struct sampled_images;
struct kernel_images;

struct kernel_images_config {
	const char *root;    /* parent of /proc */
	const char *samples; /* the session's directory, for symbols */
	const char *vmlinux; /* NULL: /proc/kallsyms */
	uint64_t start, end; /* the kernel's text; 0: from kallsyms */
	bool absolute;	     /* one image for the whole kernel, counted by address (--no-vmlinux) */
	bool wanted;	     /* kernel samples are expected: warn if symbols will be missing */
	struct sampled_images *binaries; /* borrowed for the kernel's life */
	struct relief *relief;		 /* while files are used; the same, or NULL */
};

/* An image, and a range of addresses with the same base in it. */
struct place {
	struct sampled_image *image;
	uint64_t base;	    /* key = address - base */
	uint64_t low, size; /* addresses low ... low + size - 1; size 0: all */
};

/* Reads the ranges. Never fails: without addresses the kernel is counted by address, which is
 * logged with the remedy. Strings are copied; caller frees. */
struct kernel_images *kernel_images_new(const struct kernel_images_config *config);
/* NULL is fine. */
void kernel_images_free(struct kernel_images *k);

/* Copies the symbols to the session now if kernel samples are wanted. At the first sample the CPU
 * buffers would fill meanwhile. */
void kernel_images_prepare(struct kernel_images *k);
/* Finds the place of @pc. Reads the ranges again if none contains it, but rarely, because that is
 * slow. */
void kernel_images_find(struct kernel_images *k, uint64_t pc, struct place *ret);
/* The range of the kernel's own text; false if unknown. */
bool kernel_images_text(const struct kernel_images *k, uint64_t *ret_start, uint64_t *ret_end);
/* Returns whether the symbols are being copied to the session. */
bool kernel_images_is_saving(struct kernel_images *k);
/* Notes that @length bytes at @start are the code @symbol, whatever the kernel's lists say, which
 * may be read after it is unloaded. */
void kernel_images_code(struct kernel_images *k, uint64_t start, uint64_t length,
			const char *symbol);
/* Notes that code was loaded: the next kernel_images_find() outside the kernel's own text reads the
 * modules, and other ranges if it is time. */
void kernel_images_changed(struct kernel_images *k);
/* Forgets the binaries, which are gone: as after kernel_images_new(). */
void kernel_images_forget(struct kernel_images *k);
