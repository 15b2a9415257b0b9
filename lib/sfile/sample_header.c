/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/sample_header.h"

#include "base/macro.h"

#include <errno.h>
#include <unistd.h>

static const char magic[4] = { 'D', 'A', 'E', '\n' };

/*
 * The layouts, in host byte order and with the alignment of 64-bit machines:
 *
 *	bytes	version 0x13		version 0x12
 *	0	magic "DAE\n"		the same
 *	4	u32 version
 *	8	u32 cpu_type
 *	12	u32 event
 *	16	u32 unit mask
 *	20	u32 count
 *	24	u32 is_kernel, 4 zero
 *	32	double cpu_mhz
 *	40	u64 mtime
 *	48	u32 cg_to_is_kernel
 *	52	4 zero			u32 Cell's SPU
 *	56	u64 anon_start		u64 Cell's embedded offset
 *	64	u64 cg_to_anon_start	u64 anon_start
 *	72				u64 cg_to_anon_start
 *	80				8 reserved
 */
enum { HEADER_NEEDED = 80 }; /* bytes needed to identify the layout */

struct layout {
	uint32_t version;
	size_t size, anon_start, cg_to_anon_start;
};
static const struct layout layouts[] = {
	{ SAMPLE_HEADER_VERSION, SAMPLE_HEADER_SIZE, 56, 64 },
	{ SAMPLE_HEADER_VERSION_0_9, SAMPLE_HEADER_SIZE_0_9, 64, 72 },
};

/* The CPU types of version 0x12 that version 0x13 lacks: the real-time clock, IA-64, Alphas before
 * the EV67, Cell, PA6T, AVR32 and POWER's compatibility mode. The numbers after each are one less
 * now. */
static const uint32_t given_up[] = { 5, 7, 8, 9, 12, 13, 14, 15, 43, 45, 50, 55 };
enum { CPU_TYPES_0_9 = 84 }; /* how many version 0x12 had, ppc64/power8 the last */

static uint32_t u32_at(struct span in, size_t offset)
{
	uint32_t value;

	memcpy(&value, in.at + offset, sizeof(value));
	return value;
}

static uint64_t u64_at(struct span in, size_t offset)
{
	uint64_t value;

	memcpy(&value, in.at + offset, sizeof(value));
	return value;
}

static const struct layout *find_layout(uint32_t version)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].version == version)
			return &layouts[i];
	return NULL;
}

/* Sets the reason why a file with our magic cannot be read. Returns -EBADMSG. */
static int refuse_version(const char *path, uint32_t version, struct error *err)
{
	if (find_layout(__builtin_bswap32(version)))
		return error_set(err, -EBADMSG,
				 "%s: written on a machine with the other byte order; convert it "
				 "with opimport",
				 path);
	if (version < SAMPLE_HEADER_VERSION_0_9)
		return error_set(err, -EBADMSG,
				 "%s: written by OProfile 0.9.7 or older (version %#x)", path,
				 version);
	return error_set(err, -EBADMSG, "%s: unknown version %#x", path, version);
}

/* Returns whether the file has the alignment of 32-bit x86. There the descriptor (size, current) is
 * 8 bytes earlier, where we have cg_to_anon_start, and zeros follow it. */
static bool is_32_bit(struct span in)
{
	uint32_t size = u32_at(in, 64), current = u32_at(in, 68);

	return u64_at(in, 72) == 0 && size && (size & (size - 1)) == 0 && current &&
	       current <= size;
}

uint32_t sample_header_cpu_type(uint32_t version, uint32_t number)
{
	uint32_t before = 0;

	if (version != SAMPLE_HEADER_VERSION_0_9)
		return number;
	while (before < ARRAY_SIZE(given_up) && given_up[before] < number)
		before++;
	if (number >= CPU_TYPES_0_9 ||
	    (before < ARRAY_SIZE(given_up) && given_up[before] == number))
		return SAMPLE_HEADER_CPU_0_9 + number;
	return number - before;
}

bool sample_header_has_magic(struct span in)
{
	return in.left >= HEADER_NEEDED && memcmp(in.at, magic, sizeof(magic)) == 0;
}

int sample_header_decode(struct span in, const char *path, struct sfile_header *ret,
			 struct error *err)
{
	const struct layout *layout;

	if (in.left < sizeof(magic) || memcmp(in.at, magic, sizeof(magic)) != 0)
		return error_set(err, -EBADMSG, "%s: not a sample file: %s", path,
				 in.left ? "does not start with DAE" : "empty");
	if (in.left < HEADER_NEEDED)
		return error_set(err, -EBADMSG, "%s: cut short: %zu bytes", path, in.left);
	layout = find_layout(u32_at(in, 4));
	if (!layout)
		return refuse_version(path, u32_at(in, 4), err);
	if (layout->version == SAMPLE_HEADER_VERSION && is_32_bit(in))
		return error_set(err, -EBADMSG,
				 "%s: written by a 32-bit OProfile; convert it with opimport",
				 path);
	*ret = (struct sfile_header){
		.version = layout->version,
		.cpu_type = sample_header_cpu_type(layout->version, u32_at(in, 8)),
		.event = u32_at(in, 12),
		.unit_mask = u32_at(in, 16),
		.count = u32_at(in, 20),
		.is_kernel = u32_at(in, 24) != 0,
		.mtime = u64_at(in, 40),
		.cg_to_is_kernel = u32_at(in, 48) != 0,
		.anon_start = u64_at(in, layout->anon_start),
		.cg_to_anon_start = u64_at(in, layout->cg_to_anon_start),
	};
	memcpy(&ret->cpu_mhz, in.at + 32, sizeof(ret->cpu_mhz));
	return (int)layout->size;
}

int sample_header_read(int fd, const char *path, struct sfile_header *ret, struct error *err)
{
	uint8_t bytes[SAMPLE_HEADER_SIZE_MAX];
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

	if (n < 0)
		return error_errno(err, -errno, "cannot read %s", path);
	return sample_header_decode(span_of(bytes, (size_t)n), path, ret, err);
}

void sample_header_encode(const struct sfile_header *header, uint8_t bytes[SAMPLE_HEADER_SIZE])
{
	const uint32_t words[] = { SAMPLE_HEADER_VERSION, header->cpu_type, header->event,
				   header->unit_mask,	  header->count,    header->is_kernel };
	uint32_t cg_to_is_kernel = header->cg_to_is_kernel;

	memset(bytes, 0, SAMPLE_HEADER_SIZE);
	memcpy(bytes, magic, sizeof(magic));
	memcpy(bytes + 4, words, sizeof(words));
	memcpy(bytes + 32, &header->cpu_mhz, sizeof(header->cpu_mhz));
	memcpy(bytes + 40, &header->mtime, sizeof(header->mtime));
	memcpy(bytes + 48, &cg_to_is_kernel, sizeof(cg_to_is_kernel));
	memcpy(bytes + 56, &header->anon_start, sizeof(header->anon_start));
	memcpy(bytes + 64, &header->cg_to_anon_start, sizeof(header->cg_to_anon_start));
}
