/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that followed processes map as code are reported as the sampling program knows them. */
#include "test.h"

#include "driver/bpf/mapped_code.h"
#include "driver/bpf/sampler.h"
#include "driver/bpf/sampler_images.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 4096 };

/* What was reported. */
struct seen {
	const char *wanted;
	struct sample_image last;
	size_t count; /* of files with that path */
};

static bool see(const struct sample_image *image, void *data)
{
	_cleanup_free_ char *path = sampler_image_path(image);
	struct seen *s = data;

	if (strcmp(path, s->wanted) != 0)
		return false;
	s->last = *image;
	s->count++;
	return true;
}

static struct sampler *new_sampler(bool follow)
{
	const struct sampler_config config = {
		.keys = 64, .follow = follow, .depth = 8, .tables = 256
	};
	struct error err = ERROR_INIT;
	struct sampler *s = NULL;

	(void)sampler_new(&config, &s, &err);
	return s;
}

/* A file with code in it, at @path. */
static int new_file(const char *path)
{
	static const char code[BYTES] = { 1 };
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);

	CHECK(fd >= 0 && write(fd, code, sizeof(code)) == sizeof(code));
	return fd;
}

/* Maps the file; returns where that was, until all that was reported is read. */
static uintptr_t map_code(int fd, struct mapped_code *m, struct seen *seen)
{
	void *code = mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	CHECK(code != MAP_FAILED);
	while (mapped_code_read(m, see, seen))
		;
	CHECK_EQ(munmap(code, BYTES), 0);
	return (uintptr_t)code;
}

static void code_that_a_followed_process_maps_is_reported(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *real = realpath(dir, NULL), *path = xasprintf("%s/code", real);
	_cleanup_(sampler_freep) struct sampler *s = new_sampler(true);
	_cleanup_close_ int fd = new_file(path);
	struct seen seen = { .wanted = path };
	struct sample_file file;
	struct mapped_code *m;
	uintptr_t at;

	if (!s)
		SKIP("no BPF here");
	CHECK_EQ(sampler_identify(s, fd, &file), 0);
	m = mapped_code_open(s);
	CHECK(mapped_code_count(m) > 0 && mapped_code_fd(m, 0) >= 0);
	(void)map_code(fd, m, &seen);
	CHECK_EQ(seen.count, 0); /* the process is not followed yet */
	CHECK_EQ(sampler_follow(s, (uint32_t)getpid(), SAMPLE_FOLLOW_ON), 0);
	at = map_code(fd, m, &seen);
	CHECK_EQ(seen.count, 1);
	CHECK_EQ(seen.last.file.inode, file.inode);
	CHECK_EQ(seen.last.file.device, file.device);
	CHECK_EQ(seen.last.file.generation, file.generation);
	CHECK_EQ(seen.last.mapped.start, at);
	CHECK_EQ(seen.last.tgid, (uint32_t)getpid());
	mapped_code_close(m);
}

static void nothing_is_watched_if_all_processes_are_sampled(void)
{
	_cleanup_(sampler_freep) struct sampler *s = new_sampler(false);
	struct mapped_code *m;

	if (!s)
		SKIP("no BPF here");
	m = mapped_code_open(s);
	CHECK_EQ(mapped_code_count(m), 0);
	mapped_code_close(m);
}

TESTS(T(code_that_a_followed_process_maps_is_reported),
      T(nothing_is_watched_if_all_processes_are_sampled))
