/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This library is linked into other programs: it uses nothing of the rest of the tree. */
#include "agent/opagent.h"

#include "base/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The jitdump of Linux; the last two are our own; others ignore them. */
enum {
	RECORD_LOAD = 0,
	RECORD_DEBUG_INFO = 2,
	RECORD_CLOSE = 3,
	RECORD_UNWINDING = 4,
	RECORD_UNLOAD = 0x4f50,
	RECORD_INLINED = 0x4f51
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

/* Followed by the calls, the rows and the names. */
struct inlined {
	struct record record;
	uint64_t address;
	uint32_t calls, rows;
};

struct inlined_call {
	uint32_t caller, line, file, function; /* the last two: offsets of names */
};

struct inlined_row {
	uint32_t offset, call;
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

/* --- inlined calls --- */

enum { INLINED_MAX = 1 << 20, CALLS_DEEP = 32, NAMES_RECENT = 16 };

/* Names one after the other. One is looked for among the last ones, because calls that follow each
 * other are in the same files. */
struct names {
	char *bytes;
	size_t used;
	uint32_t recent[NAMES_RECENT];
	unsigned int count;
};

/* The offset of @text, for which there is room. */
static uint32_t add_name(struct names *n, const char *text)
{
	size_t i, length = strlen(text) + 1, at = n->used;

	for (i = 0; i < NAMES_RECENT && i < n->count; i++)
		if (!strcmp(n->bytes + n->recent[i], text))
			return n->recent[i];
	memcpy(n->bytes + at, text, length);
	n->recent[n->count++ % NAMES_RECENT] = (uint32_t)at;
	n->used += length;
	return (uint32_t)at;
}

static const char *file_of(struct op_inlined_call const *c)
{
	return c->filename ? c->filename : "";
}

/* The bytes that it takes at most, if no name is found. */
static size_t inlined_size(struct op_inlined_calls const *in)
{
	size_t i, size = in->nr_calls * sizeof(struct inlined_call) +
			 in->nr_rows * sizeof(struct inlined_row);

	for (i = 0; i < in->nr_calls; i++)
		size += strlen(file_of(&in->calls[i])) + strlen(in->calls[i].function) + 2;
	return size;
}

/* Writes the calls, the rows and the names to @ret; returns their size. */
static size_t pack_inlined(struct op_inlined_calls const *in, char *ret)
{
	struct inlined_call *calls = (struct inlined_call *)(void *)ret;
	struct inlined_row *rows = (struct inlined_row *)(void *)(calls + in->nr_calls);
	struct names names = { .bytes = (char *)(rows + in->nr_rows) };
	size_t i;

	for (i = 0; i < in->nr_calls; i++) {
		calls[i].caller = in->calls[i].caller;
		calls[i].line = in->calls[i].lineno;
		calls[i].file = add_name(&names, file_of(&in->calls[i]));
		calls[i].function = add_name(&names, in->calls[i].function);
	}
	for (i = 0; i < in->nr_rows; i++)
		rows[i] = (struct inlined_row){ in->rows[i].offset, in->rows[i].call };
	return (size_t)(names.bytes + names.used - ret);
}

/* Whether the call has a function and is inside earlier ones, at most CALLS_DEEP with itself. */
static bool is_call(struct op_inlined_calls const *in, size_t i)
{
	unsigned int number = (unsigned int)i + 1, caller, depth = 0;

	for (; number; number = caller) {
		caller = in->calls[number - 1].caller;
		if (caller >= number || ++depth > CALLS_DEEP)
			return false;
	}
	return in->calls[i].function;
}

static bool is_row(struct op_inlined_calls const *in, size_t i)
{
	return in->rows[i].call <= in->nr_calls &&
	       (i == 0 || in->rows[i].offset > in->rows[i - 1].offset);
}

/* Whether readers of the record will accept it. */
static bool makes_sense(struct op_inlined_calls const *in)
{
	size_t i;

	for (i = 0; i < in->nr_calls; i++)
		if (!is_call(in, i))
			return false;
	for (i = 0; i < in->nr_rows; i++)
		if (!is_row(in, i))
			return false;
	return true;
}

EXPORT int op_write_inlined_calls(op_agent_t handle, uint64_t vma,
				  struct op_inlined_calls const *inlined)
{
	struct agent *a = agent_of(handle);
	struct inlined head = { .address = vma };
	struct iovec parts[2] = { { &head, sizeof(head) } };
	char *packed;
	int result = -1;

	if (!a)
		return -1;
	if (inlined && (!inlined->nr_calls || !inlined->nr_rows))
		return 0;
	errno = EFBIG;
	if (inlined && (inlined->nr_calls >= INLINED_MAX / sizeof(struct inlined_call) ||
			inlined->nr_rows >= INLINED_MAX / sizeof(struct inlined_row)))
		return -1;
	errno = EINVAL;
	if (!inlined || !inlined->calls || !inlined->rows || !makes_sense(inlined))
		return -1;
	errno = EFBIG;
	packed = malloc(inlined_size(inlined));
	if (!packed)
		return -1;
	head.calls = (uint32_t)inlined->nr_calls;
	head.rows = (uint32_t)inlined->nr_rows;
	parts[1] = (struct iovec){ packed, pack_inlined(inlined, packed) };
	if (parts[1].iov_len + sizeof(head.calls) + sizeof(head.rows) <= INLINED_MAX)
		result = write_record(a, RECORD_INLINED, parts, 2);
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
