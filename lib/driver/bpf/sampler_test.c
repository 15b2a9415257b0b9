/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/sampler_test.h"

#include "base/macro.h"
#include "file/procfs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

/* The mapping that contains an address. */
struct search {
	uint64_t address;
	struct maps_line found; /* without ->path */
};

static int look_at(const struct maps_line *line, void *data)
{
	struct search *s = data;

	if (s->address < line->start || s->address >= line->end)
		return 0;
	s->found = *line;
	return 1;
}

/* In /proc a btrfs subvolume has another device than the file system itself; both have major 0. */
static bool same_device(const struct maps_line *line, uint32_t device)
{
	return (line->major == device >> 20 && line->minor == (device & 0xfffff)) ||
	       (line->major == 0 && device >> 20 == 0);
}

int sampler_test_address(int program, struct sample_control *control, uint64_t address)
{
	uint64_t arguments[] = { address };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = arguments, .ctx_size_in = sizeof(arguments));

	control->found = 0;
	if (bpf_prog_test_run_opts(program, &opts) < 0)
		return -errno;
	return control->found ? 0 : -ENOENT;
}

int sampler_test_self(int program, struct sample_control *control, struct error *err)
{
	struct search s = { .address = (uintptr_t)sampler_test_self };
	const struct maps_line *line = &s.found;
	int r, tested = sampler_test_address(program, control, s.address);

	if (tested < 0 && tested != -ENOENT)
		return error_errno(err, tested, "cannot run the self-test");
	r = procfs_maps("", (uint32_t)getpid(), look_at, &s);
	if (r <= 0)
		return error_errno(err, r ? r : -ENOENT, "self-test: cannot read /proc");
	if (tested < 0)
		return error_set(err, -ENOTSUP,
				 "self-test: an address of this process was not found; this kernel "
				 "stores mappings in an unknown way");
	if (control->test_region.start != line->start || control->test_region.end != line->end ||
	    control->test_offset != line->offset || control->test_seen.inode != line->inode ||
	    !same_device(line, control->test_seen.device))
		return error_set(err, -ENOTSUP,
				 "self-test: an address of this process was found in another file "
				 "or at another offset than in /proc");
	return 0;
}
