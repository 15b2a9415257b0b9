/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file system that hangs: hangfs -f -o allow_other MOUNTPOINT. Its files "code" and "jit-1.dump"
 * contain code that counts its argument down. The first open of each succeeds; later ones wait
 * until this process ends, and no signal ends them. */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse3/fuse.h>
#include <string.h>
#include <unistd.h>

/* mov rax, rdi; again: dec rax; jnz again; ret */
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
static const char *const paths[] = { "/code", "/jit-1.dump" };
static int opened[2];

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *file)
{
	(void)file;
	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	st->st_mode = S_IFREG | 0755;
	st->st_size = 4096;
	if (!strcmp(path, "/"))
		st->st_mode = S_IFDIR | 0755;
	return !strcmp(path, "/") || !strcmp(path, paths[0]) || !strcmp(path, paths[1]) ? 0
											: -ENOENT;
}

static int open_file(const char *path, struct fuse_file_info *file)
{
	(void)file;
	while (__atomic_exchange_n(&opened[!strcmp(path, paths[1])], 1, __ATOMIC_SEQ_CST))
		(void)pause();
	return 0;
}

static int read_file(const char *path, char *buffer, size_t size, off_t offset,
		     struct fuse_file_info *file)
{
	char page[4096] = { 0 };

	(void)path, (void)file;
	memcpy(page, code, sizeof(code));
	if (offset >= (off_t)sizeof(page))
		return 0;
	size = size < sizeof(page) - (size_t)offset ? size : sizeof(page) - (size_t)offset;
	memcpy(buffer, page + offset, size);
	return (int)size;
}

static const struct fuse_operations operations = { .getattr = get_attributes,
						   .open = open_file,
						   .read = read_file };

int main(int argc, char **argv)
{
	return fuse_main(argc, argv, &operations, NULL);
}
