/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sample files: lib/sfile/sample_header.c, odb.c, sfile.c and check.c. The input is the file. */
#include "fuzz.h"

#include "file/path.h"
#include "sfile/check.h"
#include "sfile/sfile.h"

#include <fcntl.h>
#include <string.h>

enum { HEADER = 72 };

static void must(bool ok)
{
	if (!ok)
		abort();
}

static bool put(const char *path, const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && write(fd, data, size) == (ssize_t)size;
}

/* As a report does. */
static void read_all(const char *path)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	const struct odb_node *nodes;
	uint64_t sum = 0;
	size_t n, i;

	if (sfile_open(path, &sf, NULL) < 0)
		return;
	nodes = odb_nodes(sfile_odb(sf), &n);
	for (i = 0; i < n; i++)
		sum += nodes[i].value;
	must(sum <= (uint64_t)n * UINT32_MAX);
	if (n)
		must(odb_get(sfile_odb(sf), nodes[0].key) >= nodes[0].value);
}

/* As a daemon does that goes on with the session of one that died. */
static void add_some(const char *path)
{
	_cleanup_(odb_closep) struct odb *db = NULL;
	uint64_t key;

	if (odb_open(path, ODB_WRITE, HEADER, &db, NULL) < 0)
		return;
	for (key = 0; key < 200; key++) {
		must(odb_add(db, key * 4, 1) == 0);
		must(odb_get(db, key * 4) >= 1);
	}
}

static void repair(const char *path)
{
	struct check_result result;

	must(check_file(path, CHECK_ENDS, &result) == 0);
	must(check_file(path, CHECK_CHAINS, &result) == 0);
	if (check_repair(path, &result, NULL) < 0) {
		must(!result.repairable);
		return;
	}
	must(check_file(path, CHECK_CHAINS, &result) == 0 && !result.problems);
	read_all(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Without a disk below, where there is such a place: repairs wait for it. */
	char dir[32] = "/dev/shm/opfuzz-XXXXXX";
	_cleanup_free_ char *path = NULL;

	if (!mkdtemp(dir) && !mkdtemp(strcpy(dir, "/tmp/opfuzz-XXXXXX")))
		return 0;
	path = path_join(dir, "f");
	if (put(path, data, size)) {
		read_all(path);
		repair(path);
	}
	if (put(path, data, size))
		add_some(path);
	(void)unlink(path);
	(void)rmdir(dir);
	return 0;
}
