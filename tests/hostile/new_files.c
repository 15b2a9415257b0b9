/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * new_files DIR SECONDS: runs, for some milliseconds each, in one new file after the other. They
 * say of themselves that they are ELF files, in turn with nothing else, with three million
 * sections, and with a gibibyte of unwind information, all in holes.
 */
#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MANY = 3000000 };

/* In the first page: a header, and the sections of those that have some. The code follows. */
struct file {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3];
	char names[32];
	unsigned int number; /* makes each file another one */
};

#if defined(__x86_64__)
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
#else
static const unsigned char code[] = { 0x00, 0x04, 0x00, 0xd1, 0xe0, 0xff,
				      0xff, 0xb5, 0xc0, 0x03, 0x5f, 0xd6 };
#endif

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Fills in the @number-th file; returns its size. */
static off_t design(struct file *f, unsigned int number)
{
	const unsigned long frames = 1UL << 30;

	memset(f, 0, sizeof(*f));
	f->number = number;
	memcpy(f->header.e_ident, "\177ELF\2\1\1", 7);
	f->header.e_type = ET_DYN;
#if defined(__x86_64__)
	f->header.e_machine = EM_X86_64;
#else
	f->header.e_machine = EM_AARCH64;
#endif
	f->header.e_version = 1;
	f->header.e_ehsize = sizeof(f->header);
	if (number % 3 == 0)
		return 2 * PAGE;
	f->header.e_shentsize = sizeof(f->sections[0]);
	f->header.e_shoff = offsetof(struct file, sections);
	if (number % 3 == 1) {
		f->sections[0].sh_size = MANY;
		return 2 * PAGE + (off_t)MANY * (off_t)sizeof(f->sections[0]);
	}
	f->header.e_shnum = 3;
	f->header.e_shstrndx = 2;
	memcpy(f->names, "\0.eh_frame\0.shstrtab", 21);
	f->sections[1] = (Elf64_Shdr){ .sh_name = 1,
				       .sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_ALLOC,
				       .sh_addr = 2 * PAGE,
				       .sh_offset = 2 * PAGE,
				       .sh_size = frames };
	f->sections[2] = (Elf64_Shdr){ .sh_name = 11,
				       .sh_type = SHT_STRTAB,
				       .sh_offset = offsetof(struct file, names),
				       .sh_size = sizeof(f->names) };
	return 2 * PAGE + (off_t)frames;
}

static void run_file(const char *path, unsigned int number)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	double end = now() + 0.004;
	struct file f;
	off_t size = design(&f, number);
	void *at;

	if (fd < 0 || ftruncate(fd, size) < 0 ||
	    pwrite(fd, &f, sizeof(f), 0) != (ssize_t)sizeof(f) ||
	    pwrite(fd, code, sizeof(code), PAGE) != (ssize_t)sizeof(code)) {
		perror(path);
		exit(1);
	}
	(void)close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE);
	(void)close(fd);
	if (at == MAP_FAILED)
		exit(1);
	while (now() < end)
		((void (*)(unsigned long))at)(100000);
	(void)munmap(at, PAGE);
	(void)unlink(path);
}

int main(int argc, char **argv)
{
	double end = now() + (argc == 3 ? atof(argv[2]) : 0);
	unsigned int number;
	char path[4096];

	for (number = 0; now() < end; number++) {
		(void)snprintf(path, sizeof(path), "%s/new-%u", argv[1], number);
		run_file(path, number);
	}
	return 0;
}
