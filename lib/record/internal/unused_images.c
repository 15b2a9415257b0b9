/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"
#include "base/mem.h"
#include "helper/relief.h"
#include "file/path.h"
#include "record/internal/chain_recorder.h"
#include "record/store/sampled_image.h"
#include "record/code/source_files.h"
#include "record/internal/transient.h"
#include "record/record.h"
#include "sfile/manifest_unused.h"

#include <string.h>

uint32_t record_live_chains(const struct record *rec)
{
	return chain_recorder_live(rec->trace);
}

bool record_has_chains_since(const struct record *rec, uint32_t first)
{
	return chain_recorder_is_crowded(rec->trace, first);
}

void record_note_images(struct record *rec)
{
	relief_leave(rec->relief);
	manifest_unused_clear(rec->samples);
	relief_return(rec->relief);
	sampled_image_note_used(rec->binaries);
}

static bool is_used(const char *name, void *data)
{
	const struct record *rec = data;

	return sampled_image_was_used(rec->binaries, name) || source_files_have(rec->sources, name);
}

/* Whether it is a name that a manifest gives to a kernel: with "#" and eight digits, if there was
 * another one before. Names of source files are whatever a program says. */
static bool is_kernel(const char *name)
{
	static const char kernel[] = "/proc/kallsyms";
	const size_t length = strlen(kernel);

	if (strncmp(name, kernel, length) != 0)
		return false;
	return !name[length] || (name[length] == '#' && strlen(name) == length + 9 &&
				 strspn(name + length + 1, "0123456789abcdef") == 8);
}

/* Removes what the session has of the image, if that is the kernel or a source file. */
static void drop_content(const char *name, void *data)
{
	const struct record *rec = data;
	_cleanup_free_ char *symbols = path_join(rec->samples, path_base(name));

	source_files_remove(rec->sources, name);
	if (is_kernel(name))
		(void)path_remove_tree(symbols, NULL);
}

void record_drop_images(struct record *rec)
{
	const struct manifest_choice choice = { is_used, drop_content, rec };
	struct error err = ERROR_INIT;
	ssize_t count;

	if (!rec->session_ready)
		return;
	/* What was used since the list was begun may be forgotten. */
	if (!sampled_image_has_noted(rec->binaries)) {
		manifest_unused_clear(rec->samples);
		return;
	}
	relief_leave(rec->relief);
	count = manifest_unused_drop(rec->samples, &choice, &err);
	relief_return(rec->relief);
	if (count && sampled_image_reopen_manifest(rec->binaries, &err) < 0) {
		rec->session_ready = false; /* the next sample opens it again */
		count = -1;
	}
	if (count < 0)
		log_warn("%s", err.text);
	else if (count)
		log_info("%s: %zd images that nothing refers to any more were removed from images",
			 rec->samples, count);
}
