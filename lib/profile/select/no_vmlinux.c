/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/no_vmlinux.h"

#include "sfile/setup.h"

#include <string.h>

static const struct {
	const char *warning, *remedy;
} recorded = { "the kernel is shown as one image (no-vmlinux), because its addresses were hidden "
	       "when it was profiled, or --no-vmlinux was given; profile as root with "
	       "kernel.kptr_restrict at most 1, or with kernel.kptr_restrict=0 and "
	       "kernel.perf_event_paranoid at most 1",
	       "the whole kernel: its addresses were hidden, or --no-vmlinux was given; profile as "
	       "root, with sysctl kernel.kptr_restrict=1" },
  imported = { "the kernel is shown as one image (no-vmlinux), because its symbols were not found "
	       "when the perf.data was imported; run opimport on the machine where it was "
	       "recorded, or unpack what perf archive makes there to ~/.debug and import it again",
	       "the whole kernel: opimport did not find its symbols; import the perf.data on the "
	       "machine where it was recorded, or see opimport(1)" };

static bool is_import(const char *samples)
{
	struct setup s = { 0 };
	bool is = setup_read(samples, &s, NULL) == 0 && s.driver && !strcmp(s.driver, SETUP_IMPORT);

	setup_done(&s);
	return is;
}

const char *no_vmlinux_warning(const char *samples)
{
	return is_import(samples) ? imported.warning : recorded.warning;
}

const char *no_vmlinux_remedy(const char *samples)
{
	return is_import(samples) ? imported.remedy : recorded.remedy;
}
