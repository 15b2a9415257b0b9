/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills in the place of a task in its key. */
#pragma once

#include "mapping.bpf.h"

/* Whether @address, in the kernel, is in code that may be replaced while its samples are counted:
 * modules, and code generated at run time. */
static __always_inline bool is_passing(__u64 address)
{
	const volatile struct sample_control *c = &control;

	return address - c->text_start >= c->text_bytes;
}

/* Fills in the image and the offset of @address in user space. Returns false, and counts it, if the
 * address is in no mapping. */
static __always_inline bool place_user(struct run *run, __u64 address)
{
	struct sample_key *key = &run->scratch->key;
	const struct mapping *v = run->task->mm ? mapping_at(run, address) : NULL;

	if (!v) {
		if (run->task->mm && run->scratch->mappings.result == VMA_NONE)
			run->totals->no_mapping += run->weight;
		else
			run->totals->no_tree += run->weight;
		return false;
	}
	key->place = v->place;
	key->offset = address - v->start + v->offset;
	key->image.file = v->image.file;
	return true;
}
