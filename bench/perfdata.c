/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perfdata.h"

#include "base/mem.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

/* tools/perf/Documentation/perf.data-file-format.txt of the kernel's sources */
struct part {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attribute_size;
	struct part attributes, data, event_types;
	uint64_t features[4];
};

struct attribute {
	struct perf_event_attr attr;
	struct part ids;
};

enum { PROCESS = 1000, BASE = 1 << 28, PATH_ROOM = 512 };

struct perfdata {
	FILE *file;
	const char *path; /* borrowed */
	uint64_t time;
};

/* What ends a record that is no sample: sample_id_all */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
};

struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[8];
	struct trailer trailer;
};

struct mapping {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[PATH_ROOM];
	struct trailer trailer;
};

struct sample {
	struct perf_event_header header;
	uint64_t pc;
	uint32_t pid, tid;
	uint64_t time, period, frames, chain[2];
};

static void put(struct perfdata *p, const void *bytes, size_t size)
{
	(void)fwrite(bytes, size, 1, p->file); /* perfdata_close() asks whether all went well */
}

static struct trailer trailer_of(struct perfdata *p)
{
	return (struct trailer){ PROCESS, PROCESS, ++p->time };
}

static void put_head(struct perfdata *p, uint64_t data_size)
{
	struct file_header header = { .magic = "PERFILE2",
				      .size = sizeof(header),
				      .attribute_size = sizeof(struct attribute),
				      .attributes = { sizeof(header), sizeof(struct attribute) },
				      .data = { sizeof(header) + sizeof(struct attribute),
						data_size } };
	struct attribute attribute = {
		.attr = { .type = PERF_TYPE_SOFTWARE,
			  .size = sizeof(struct perf_event_attr),
			  .config = PERF_COUNT_SW_CPU_CLOCK,
			  .sample_period = 1000000,
			  .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
			  .mmap = 1,
			  .comm = 1,
			  .mmap2 = 1,
			  .sample_id_all = 1 },
	};

	put(p, &header, sizeof(header));
	put(p, &attribute, sizeof(attribute));
}

static void put_process(struct perfdata *p, const char *image, uint64_t image_size)
{
	struct comm comm = {
		{ PERF_RECORD_COMM, 0, sizeof(comm) }, PROCESS, PROCESS, "bench", trailer_of(p)
	};
	struct mapping mapping = { .header = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
					       sizeof(mapping) },
				   .pid = PROCESS,
				   .tid = PROCESS,
				   .start = BASE,
				   .length = image_size,
				   .protection = 5, /* read and execute */
				   .flags = 2,	    /* private */
				   .trailer = trailer_of(p) };

	(void)snprintf(mapping.path, sizeof(mapping.path), "%s", image);
	put(p, &comm, sizeof(comm));
	put(p, &mapping, sizeof(mapping));
}

int perfdata_create(const char *path, const char *image, uint64_t image_size, struct perfdata **ret,
		    struct error *err)
{
	FILE *file = fopen(path, "we");
	struct perfdata *p;

	if (!file)
		return error_errno(err, -errno, "%s", path);
	p = xcalloc(1, sizeof(*p));
	*p = (struct perfdata){ .file = file, .path = path };
	put_head(p, 0);
	put_process(p, image, image_size);
	*ret = p;
	return 0;
}

void perfdata_add(struct perfdata *p, uint64_t offset, uint64_t count)
{
	struct sample sample = { .header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
					     sizeof(sample) },
				 .pc = BASE + offset,
				 .pid = PROCESS,
				 .tid = PROCESS,
				 .time = ++p->time,
				 .period = count,
				 .frames = 2,
				 .chain = { PERF_CONTEXT_USER, BASE + offset } };

	put(p, &sample, sizeof(sample));
}

int perfdata_close(struct perfdata *p, struct error *err)
{
	long size = ftell(p->file) - (long)(sizeof(struct file_header) + sizeof(struct attribute));
	int r = 0;

	rewind(p->file);
	put_head(p, (uint64_t)size);
	if (ferror(p->file) | fclose(p->file))
		r = error_errno(err, -EIO, "%s", p->path);
	free(p);
	return r;
}
