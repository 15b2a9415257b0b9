/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This library is linked into other programs: it uses nothing of the rest of the tree. */
#include "agent/opagent.h"

#include "base/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The jitdump of Linux; UNLOAD is our own; others ignore it. */
enum {
	RECORD_LOAD = 0,
	RECORD_DEBUG_INFO = 2,
	RECORD_CLOSE = 3,
	RECORD_UNWINDING = 4,
	RECORD_UNLOAD = 0x4f50
};

static const uint32_t dump_magic = 0x4a695444, agent_magic = 0x6f704167;

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t id, size;
	uint64_t time;
};

struct load {
	struct record record;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct lines {
	struct record record;
	uint64_t address, count;
};

struct line {
	uint64_t address;
	uint32_t line, discriminator;
};

struct unwinding {
	struct record record;
	uint64_t size, index_size, mapped_size;
};

struct unload {
	struct record record;
	uint64_t address;
};

struct agent {
	uint32_t magic;
	int fd;
	pthread_mutex_t lock; /* of the file and the index */
	uint64_t index;
	void *mark; /* the file's first page, mapped executable, by which profilers find it */
	size_t mark_size;
};

static uint32_t machine(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__i386__)
	return EM_386;
#elif defined(__aarch64__)
	return EM_AARCH64;
#elif defined(__arm__)
	return EM_ARM;
#elif defined(__powerpc64__)
	return EM_PPC64;
#elif defined(__s390x__)
	return EM_S390;
#elif defined(__riscv)
	return EM_RISCV;
#else
	return EM_NONE;
#endif
}

static struct agent *agent_of(op_agent_t handle)
{
	struct agent *a = handle;

	if (a && a->magic == agent_magic)
		return a;
	errno = EINVAL;
	return NULL;
}

/* Writes everything; a record that was written in part is cut off again, as it would make the rest
 * of the file unreadable. */
static int write_all(struct agent *a, struct iovec *parts, int count)
{
	off_t start = lseek(a->fd, 0, SEEK_END);
	ssize_t n;

	while (count) {
		n = writev(a->fd, parts, count);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int saved = errno;

			if (start >= 0 && ftruncate(a->fd, start) == 0)
				(void)lseek(a->fd, start, SEEK_SET);
			errno = saved;
			return -1;
		}
		for (; count && (size_t)n >= parts->iov_len; parts++, count--)
			n -= (ssize_t)parts->iov_len;
		if (count) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* Creates the file; one of another user with its name is not written to. */
static int create_dump(void)
{
	const char *dir = getenv("JITDUMPDIR");
	char path[4096];
	int fd, flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

	if (snprintf(path, sizeof(path), "%s/jit-%d.dump", dir && *dir ? dir : "/tmp",
		     (int)getpid()) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(path, flags, 0600);
	if (fd < 0 && errno == EEXIST && unlink(path) == 0) /* left by an earlier process */
		fd = open(path, flags, 0600);
	return fd;
}

static int start_dump(struct agent *a)
{
	struct header h = { .magic = dump_magic,
			    .version = 1,
			    .size = sizeof(h),
			    .machine = machine(),
			    .pid = (uint32_t)getpid(),
			    .time = clock_now_ns() };
	struct iovec part = { &h, sizeof(h) };

	if (write_all(a, &part, 1) < 0)
		return -1;
	a->mark_size = (size_t)sysconf(_SC_PAGESIZE);
	a->mark = mmap(NULL, a->mark_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, a->fd, 0);
	/* On a file system mounted noexec the file is found by its name. */
	if (a->mark == MAP_FAILED)
		a->mark = NULL;
	return 0;
}

EXPORT op_agent_t op_open_agent(void)
{
	struct agent *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->magic = agent_magic;
	a->fd = create_dump();
	if (a->fd >= 0 && start_dump(a) == 0) {
		(void)pthread_mutex_init(&a->lock, NULL);
		return a;
	}
	if (a->fd >= 0)
		(void)close(a->fd);
	free(a);
	return NULL;
}

/* Writes a record whose header is the first of @parts, and sets its size and time. The caller has
 * the lock. */
static int write_locked(struct agent *a, uint32_t id, struct iovec *parts, int count)
{
	struct record *r = parts->iov_base;
	uint64_t size = 0;
	int i;

	for (i = 0; i < count; i++)
		size += parts[i].iov_len;
	if (size > UINT32_MAX) {
		errno = EFBIG;
		return -1;
	}
	r->id = id;
	r->size = (uint32_t)size;
	r->time = clock_now_ns();
	if (id == RECORD_LOAD)
		((struct load *)parts->iov_base)->index = a->index++;
	return write_all(a, parts, count);
}

static int write_record(struct agent *a, uint32_t id, struct iovec *parts, int count)
{
	int result;

	(void)pthread_mutex_lock(&a->lock);
	result = write_locked(a, id, parts, count);
	(void)pthread_mutex_unlock(&a->lock);
	return result;
}

EXPORT int op_close_agent(op_agent_t handle)
{
	struct agent *a = agent_of(handle);
	struct record r;
	struct iovec part = { &r, sizeof(r) };
	int result;

	if (!a)
		return -1;
	result = write_record(a, RECORD_CLOSE, &part, 1);
	if (a->mark)
		(void)munmap(a->mark, a->mark_size);
	if (close(a->fd) < 0)
		result = -1;
	(void)pthread_mutex_destroy(&a->lock);
	a->magic = 0;
	free(a);
	return result;
}

EXPORT int op_write_unwindable_code(op_agent_t handle, char const *symbol_name, uint64_t vma,
				    void const *code, unsigned int size, void const *eh_frame,
				    size_t eh_frame_size)
{
	struct unwinding u = { .size = eh_frame_size };
	struct agent *a = agent_of(handle);
	struct load l = { .pid = (uint32_t)getpid(),
			  .tid = (uint32_t)gettid(),
			  .vma = vma,
			  .address = vma,
			  .size = size };
	struct iovec parts[] = { { &l, sizeof(l) },
				 { (void *)symbol_name, symbol_name ? strlen(symbol_name) + 1 : 0 },
				 { (void *)code, size } };
	struct iovec unwinding[] = { { &u, sizeof(u) }, { (void *)eh_frame, eh_frame_size } };
	int result = 0;

	if (!a)
		return -1;
	if (!symbol_name || !size || (!eh_frame && eh_frame_size)) {
		errno = EINVAL;
		return -1;
	}
	/* Nobody else may write code between these. */
	(void)pthread_mutex_lock(&a->lock);
	if (eh_frame_size)
		result = write_locked(a, RECORD_UNWINDING, unwinding, 2);
	if (result == 0)
		result = write_locked(a, RECORD_LOAD, parts, code ? 3 : 2);
	(void)pthread_mutex_unlock(&a->lock);
	return result;
}

EXPORT int op_write_native_code(op_agent_t handle, char const *symbol_name, uint64_t vma,
				void const *code, unsigned int size)
{
	return op_write_unwindable_code(handle, symbol_name, vma, code, size, NULL, 0);
}

/* The rows in the file's format, each followed by its name; caller frees. */
static char *pack_lines(struct debug_line_info const *rows, size_t count, size_t *ret_size)
{
	char *packed, *at;
	size_t i, size = 0;

	for (i = 0; i < count; i++)
		size += sizeof(struct line) + strlen(rows[i].filename) + 1;
	packed = at = malloc(size);
	for (i = 0; packed && i < count; i++) {
		struct line l = { .address = rows[i].vma, .line = rows[i].lineno };
		size_t length = strlen(rows[i].filename) + 1;

		memcpy(at, &l, sizeof(l));
		memcpy(at + sizeof(l), rows[i].filename, length);
		at += sizeof(l) + length;
	}
	*ret_size = size;
	return packed;
}

EXPORT int op_write_debug_line_info(op_agent_t handle, void const *code, size_t nr_entry,
				    struct debug_line_info const *compile_map)
{
	struct agent *a = agent_of(handle);
	struct lines l = { .count = nr_entry };
	struct iovec parts[2] = { { &l, sizeof(l) } };
	char *packed;
	int result;

	if (!a)
		return -1;
	if (!nr_entry)
		return 0;
	if (!compile_map) {
		errno = EINVAL;
		return -1;
	}
	/* The format ties lines to code by its address, which for most callers is @code. */
	l.address = code ? (uint64_t)(uintptr_t)code : compile_map[0].vma;
	packed = pack_lines(compile_map, nr_entry, &parts[1].iov_len);
	if (!packed)
		return -1;
	parts[1].iov_base = packed;
	result = write_record(a, RECORD_DEBUG_INFO, parts, 2);
	free(packed);
	return result;
}

EXPORT int op_unload_native_code(op_agent_t handle, uint64_t vma)
{
	struct agent *a = agent_of(handle);
	struct unload u = { .address = vma };
	struct iovec part = { &u, sizeof(u) };

	return a ? write_record(a, RECORD_UNLOAD, &part, 1) : -1;
}

EXPORT int op_major_version(void)
{
	return 1;
}

EXPORT int op_minor_version(void)
{
	return 0;
}
