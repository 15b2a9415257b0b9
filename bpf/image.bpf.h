/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends the path of each file to user space when it is first seen. */
#pragma once

#include "maps.bpf.h"
#include "path.bpf.h"

/* Writes the message about a file, which is mapped at @region or executed, to the scratch. */
static __always_inline struct sample_image *describe(struct run *run, struct file *file,
						     const struct sample_file *id,
						     const struct sample_region *region)
{
	struct sample_image *image = &run->scratch->image;

	image->kind = SAMPLE_IMAGE;
	image->tgid = run->scratch->key.tgid;
	image->file = *id;
	image->mapped = *region;
	image->sampled = run->slot != SAMPLE_SLOT_PROCESS;
	image->executed = run->executes;
	path_fill(&run->scratch->walk, file, run->task, image);
	return image;
}

/* The size of the message. */
static __always_inline __u64 image_bytes(const struct sample_image *image)
{
	__u32 length = image->length;

	if (length > SAMPLE_PATH_BYTES)
		length = SAMPLE_PATH_BYTES;
	return offsetof(struct sample_image, path) + length;
}

enum { WAKE_EVERY_NS = 4000000 }; /* on a CPU, at most */

/* Wakes user space for a file that is executed, or sampled, for the first time: the process may not
 * live for long, and its file may have no name any more. Not always, as that costs much more than a
 * sample. */
static __always_inline void wake_for_image(struct run *run)
{
	__u64 now_ns = bpf_ktime_get_ns();

	if (now_ns - run->scratch->woke_ns < WAKE_EVERY_NS) {
		run->totals->wakes_held++;
		run->scratch->is_held = 1;
		return;
	}
	run->scratch->woke_ns = now_ns;
	run->scratch->is_held = 0;
	wake(run->slot);
}

/* Wakes user space at a later sample for files of @slot for which it was too early: their processes
 * may still run. */
static __always_inline void wake_late(__u32 slot, __u64 now_ns)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &slot);

	if (!scratch || !scratch->is_held || now_ns < scratch->woke_ns + WAKE_EVERY_NS)
		return;
	scratch->woke_ns = now_ns;
	scratch->is_held = 0;
	wake(slot);
}

/* Sends a file that is seen for the first time. Returns its enum
 * image_kind. */
static __noinline int send_image(struct run *run, struct file *file, const struct sample_file *id,
				 const struct sample_region *region)
{
	struct known_image known = { .kind = IMAGE_FILE };
	struct sample_image *image;
	void *sent;

	if (!run || !id || !region)
		return IMAGE_FILE;
	sent = bpf_map_lookup_elem(&images, &run->slot);
	if (!sent)
		return IMAGE_FILE;
	image = describe(run, file, id, region);
	if (image->nameless)
		known.kind = image_is_memory(image) ? IMAGE_MEMORY : IMAGE_NAMELESS;
	if (bpf_map_update_elem(sent, id, &known, BPF_NOEXIST))
		return (int)known.kind;
	if (image->truncated)
		run->totals->path_truncated++;
	if (!send(run->slot, image, image_bytes(image), sizeof(*image))) {
		run->totals->ring_full++;
		bpf_map_delete_elem(sent, id);
	} else if (image->sampled || image->executed) {
		wake_for_image(run);
	}
	return (int)known.kind;
}

/* Makes sure that user space knows the file. Returns its enum
 * image_kind. */
static __always_inline int meet_image(struct run *run, struct file *file,
				      const struct sample_file *id,
				      const struct sample_region *region)
{
	void *sent = bpf_map_lookup_elem(&images, &run->slot);
	const struct known_image *known = sent ? bpf_map_lookup_elem(sent, id) : NULL;

	return known ? (int)known->kind : send_image(run, file, id, region);
}
