/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/mapped_code.h"

#include "base/mem.h"
#include "driver/bpf/sampler.h"
#include "perf/perf_event.h"
#include "perf/perf_record.h"
#include "perf/ring.h"

#include <bpf/bpf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { RING_BYTES = 1 << 16 };

struct watched {
	int fd;
	struct ring ring;
};

struct mapped_code {
	int followed;
	struct watched *cpus;
	size_t count, room;
};

static void watch(struct mapped_code *m, unsigned int cpu)
{
	const struct perf_attrs attrs = { .sideband_bytes = RING_BYTES };
	struct watched w = { .fd = perf_event_open_mappings(&attrs, cpu) };

	if (w.fd < 0)
		return;
	if (ring_map(&w.ring, w.fd, RING_BYTES) < 0 || ioctl(w.fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		ring_done(&w.ring);
		(void)close(w.fd);
		return;
	}
	array_grow(&m->cpus, m->count + 1, &m->room);
	m->cpus[m->count++] = w;
}

struct mapped_code *mapped_code_open(const struct sampler *sampler)
{
	struct mapped_code *m = xcalloc(1, sizeof(*m));
	long cpus = sysconf(_SC_NPROCESSORS_CONF), cpu;

	m->followed = sampler_maps(sampler)->followed;
	if (m->followed < 0)
		return m;
	for (cpu = 0; cpu < cpus; cpu++)
		watch(m, (unsigned int)cpu);
	return m;
}

void mapped_code_close(struct mapped_code *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->count; i++) {
		ring_done(&m->cpus[i].ring);
		(void)close(m->cpus[i].fd);
	}
	free(m->cpus);
	free(m);
}

size_t mapped_code_count(const struct mapped_code *m)
{
	return m->count;
}

int mapped_code_fd(const struct mapped_code *m, size_t i)
{
	return m->cpus[i].fd;
}

static bool is_followed(const struct mapped_code *m, uint32_t tgid)
{
	uint32_t state;

	return bpf_map_lookup_elem(m->followed, &tgid, &state) == 0;
}

/* Fills in the names of @path, the last one first. Returns whether they have room. */
static bool fill_path(struct sample_image *image, const char *path)
{
	const char *end = path + strlen(path), *slash;
	size_t bytes;

	image->length = 0;
	for (; end > path; end = slash) {
		slash = memrchr(path, '/', (size_t)(end - path));
		bytes = slash ? (size_t)(end - slash) : 0; /* with a NUL instead of the slash */
		if (!bytes || image->length + bytes > sizeof(image->path))
			return false;
		memcpy(image->path + image->length, slash + 1, bytes - 1);
		image->path[image->length + bytes - 1] = '\0';
		image->length += (uint32_t)bytes;
	}
	return true;
}

/* Fills in the file that the record is about. Returns false if there is none. */
static bool fill_image(struct sample_image *image, const struct perf_record *r)
{
	const uint64_t device = r->map.file.device;

	if (r->type != PERF_RECORD_MMAP2 || !r->map.file.inode || *r->map.path != '/')
		return false;
	*image = (struct sample_image){
		.kind = SAMPLE_TABLE,
		.tgid = r->pid,
		.file = { .inode = r->map.file.inode,
			  .device = (uint32_t)(device >> 32 << 20 | (device & 0xfffff)),
			  .generation = r->map.file.generation },
		.mapped = { r->map.start, r->map.end },
	};
	image->seen = image->file;
	return fill_path(image, r->map.path);
}

/* Takes records from @ring until @each returns true, which is returned. */
static bool read_ring(const struct mapped_code *m, struct ring *ring,
		      bool (*each)(const struct sample_image *image, void *data), void *data)
{
	struct sample_image image;
	struct perf_record record;
	struct span bytes;
	bool is_enough = false;

	ring_refresh(ring);
	while (!is_enough && ring_peek(ring, &bytes) > 0) {
		if (perf_record_decode(bytes, &record) == 0 && is_followed(m, record.pid) &&
		    fill_image(&image, &record))
			is_enough = each(&image, data);
		ring_take(ring);
	}
	ring_release(ring);
	return is_enough;
}

bool mapped_code_read(struct mapped_code *m,
		      bool (*each)(const struct sample_image *image, void *data), void *data)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (read_ring(m, &m->cpus[i].ring, each, data))
			return true;
	return false;
}
