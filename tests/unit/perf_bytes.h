/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf records as the kernel would write them, put together byte by byte, and a ring in plain
 * memory for them. */
#pragma once

#include "base/strbuf.h"
#include "perf/perf_record.h"
#include "perf/ring.h"
#include "perf/user_stack.h"

#include <string.h>

enum { BYTES_RING_SIZE = 4096 };

/* A CPU buffer without a kernel. */
struct bytes_ring {
	struct perf_event_mmap_page page;
	uint8_t data[BYTES_RING_SIZE];
};

/* Writes one record into the ring, as the kernel does; it must fit. */
static inline void bytes_write(struct bytes_ring *r, const void *record, size_t size)
{
	const uint8_t *from = record;
	size_t i;

	if (r->page.data_head + size - r->page.data_tail > BYTES_RING_SIZE)
		abort();
	for (i = 0; i < size; i++)
		r->data[(r->page.data_head + i) % BYTES_RING_SIZE] = from[i];
	r->page.data_head += size;
}

static inline void bytes_u32(struct strbuf *b, uint32_t value)
{
	strbuf_add(b, &value, sizeof(value));
}

static inline void bytes_u64(struct strbuf *b, uint64_t value)
{
	strbuf_add(b, &value, sizeof(value));
}

/* A text padded to 8 bytes as the kernel pads it. */
static inline void bytes_text(struct strbuf *b, const char *text)
{
	strbuf_add(b, text, strlen(text) + 1);
	while (b->length % 8)
		strbuf_add(b, "", 1);
}

static inline void bytes_begin(struct strbuf *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	strbuf_clear(b);
	strbuf_add(b, &header, sizeof(header));
}

/* Fills in the size; the record is @b. */
static inline void bytes_end(struct strbuf *b)
{
	uint16_t size = (uint16_t)b->length;

	memcpy(b->text + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

/* pid,tid time id: the end of all records but samples. */
static inline void bytes_trailer(struct strbuf *b, uint32_t pid, uint64_t time_ns, uint64_t id)
{
	bytes_u32(b, pid);
	bytes_u32(b, pid);
	bytes_u64(b, time_ns);
	bytes_u64(b, id);
	bytes_end(b);
}

static inline void bytes_sample(struct strbuf *b, uint16_t mode, uint32_t pid, uint64_t ip,
				uint64_t time_ns)
{
	bytes_begin(b, PERF_RECORD_SAMPLE, mode);
	bytes_u64(b, 1);
	bytes_u64(b, ip);
	bytes_u32(b, pid);
	bytes_u32(b, pid);
	bytes_u64(b, time_ns);
	bytes_end(b);
}

/* As bytes_sample(), with the @count words of a call chain, marks among them. */
static inline void bytes_chain_sample(struct strbuf *b, uint16_t mode, uint32_t pid, uint64_t ip,
				      const uint64_t *words, size_t count)
{
	size_t i;

	bytes_sample(b, mode, pid, ip, 1);
	bytes_u64(b, count);
	for (i = 0; i < count; i++)
		bytes_u64(b, words[i]);
	bytes_end(b);
}

/* The end of a sample with registers and a stack copy, after bytes_chain_sample(): the given
 * registers, all others 0, and @count words from sp on; nothing if @sp is 0. */
static inline void bytes_user_stack(struct strbuf *b, const uint64_t ip_sp_fp[3],
				    const uint64_t *words, size_t count)
{
	uint64_t regs[64] = { 0 };
	size_t i, room = count ? count + 2 : 0; /* the kernel fills what there is of it */

#if defined(__aarch64__)
	regs[32] = ip_sp_fp[0];
	regs[31] = ip_sp_fp[1];
	regs[29] = ip_sp_fp[2];
#else
	regs[8] = ip_sp_fp[0];
	regs[7] = ip_sp_fp[1];
	regs[6] = ip_sp_fp[2];
#endif
	bytes_u64(b, ip_sp_fp[1] ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	for (i = 0; i < 64 && ip_sp_fp[1]; i++)
		if (USER_STACK_REGS >> i & 1)
			bytes_u64(b, regs[i]);
	bytes_u64(b, room * 8);
	for (i = 0; i < room; i++)
		bytes_u64(b, i < count ? words[i] : 0xdeadbeef);
	if (room)
		bytes_u64(b, count * 8);
	bytes_end(b);
}

static inline void bytes_map(struct strbuf *b, uint32_t pid, uint64_t start, uint64_t length,
			     uint64_t inode, const char *path, uint64_t time_ns)
{
	bytes_begin(b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	bytes_u32(b, pid);
	bytes_u32(b, pid);
	bytes_u64(b, start);
	bytes_u64(b, length);
	bytes_u64(b, 0x1000); /* offset */
	bytes_u32(b, 8);      /* major */
	bytes_u32(b, 1);
	bytes_u64(b, inode);
	bytes_u64(b, 77); /* generation */
	bytes_u32(b, 5);  /* protection: read, execute */
	bytes_u32(b, 2);
	bytes_text(b, path);
	bytes_trailer(b, pid, time_ns, 2);
}

static inline void bytes_comm(struct strbuf *b, uint32_t pid, uint32_t tid, const char *name,
			      bool exec, uint64_t time_ns)
{
	bytes_begin(b, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	bytes_u32(b, pid);
	bytes_u32(b, tid);
	bytes_text(b, name);
	bytes_trailer(b, pid, time_ns, 2);
}

/* FORK or EXIT. */
static inline void bytes_task(struct strbuf *b, uint32_t type, const uint32_t pid_ppid_tid_ptid[4],
			      uint64_t time_ns)
{
	int i;

	bytes_begin(b, type, 0);
	for (i = 0; i < 4; i++)
		bytes_u32(b, pid_ppid_tid_ptid[i]);
	bytes_u64(b, time_ns);
	bytes_trailer(b, pid_ppid_tid_ptid[1], time_ns, 2);
}

static inline void bytes_ksymbol(struct strbuf *b, uint64_t start, uint32_t length,
				 const uint16_t type_flags[2], const char *name, uint64_t time_ns)
{
	bytes_begin(b, PERF_RECORD_KSYMBOL, 0);
	bytes_u64(b, start);
	bytes_u32(b, length);
	bytes_u32(b, type_flags[0] | (uint32_t)type_flags[1] << 16);
	bytes_text(b, name);
	bytes_trailer(b, 0, time_ns, 2);
}

static inline void bytes_cgroup(struct strbuf *b, uint64_t id, const char *path, uint64_t time_ns)
{
	bytes_begin(b, PERF_RECORD_CGROUP, 0);
	bytes_u64(b, id);
	bytes_text(b, path);
	bytes_trailer(b, 0, time_ns, 2);
}

static inline void bytes_lost(struct strbuf *b, uint64_t lost, uint64_t time_ns)
{
	bytes_begin(b, PERF_RECORD_LOST, 0);
	bytes_u64(b, 2);
	bytes_u64(b, lost);
	bytes_trailer(b, 0, time_ns, 2);
}
