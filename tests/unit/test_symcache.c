/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/digest.h"
#include "base/parallel.h"
#include "symbol/symcache.h"
#include "symbol/internal/lru_directory.h"
#include "symbol/internal/symcache_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { SYMBOLS = 700 };

/* A table with names of many lengths, aliases cut away, and one symbol in pieces. */
static struct symtab *make_table(size_t count)
{
	static char names[SYMBOLS][64];
	struct symtab *st = symtab_new();
	size_t i;

	for (i = 0; i < count; i++) {
		struct symbol sym = { .offset = 0x1000 + i * 0x40,
				      .end = 0x1000 + i * 0x40 + (i == 5 ? 0x100 : 0x30),
				      .address = 0x401000 + i * 0x40,
				      .name = names[i],
				      .rank = i % 3 };

		(void)snprintf(names[i], sizeof(names[i]), "f%0*zu", (int)(i * 13 % 50), i);
		symtab_add(st, &sym);
	}
	symtab_settle(st);
	return st;
}

static bool equal(const struct symbol *a, const struct symbol *b)
{
	return a->offset == b->offset && a->end == b->end && a->address == b->address &&
	       a->whole == b->whole && a->rank == b->rank && !strcmp(a->name, b->name);
}

/* Number of symbols in which two tables differ. */
static size_t differences(const struct symtab *a, const struct symtab *b)
{
	size_t i, n = symtab_count(a), differ = 0;

	if (symtab_count(b) != n)
		return SIZE_MAX;
	for (i = 0; i < n; i++)
		differ += !equal(symtab_at(a, i), symtab_at(b, i));
	return differ;
}

static void tables_come_back_as_they_were(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(symcache_closep) struct symcache *c = symcache_open(directory, SYMCACHE_CAP);
	_cleanup_(symtab_freep) struct symtab *st = make_table(SYMBOLS), *empty = symtab_new();
	_cleanup_(symtab_freep) struct symtab *found = NULL, *none = NULL;
	uint64_t offset;

	CHECK(!symcache_find(c, "one", NULL));
	symcache_store(c, "one", st);
	symcache_store(c, "empty", empty);
	found = symcache_find(c, "one", NULL);
	none = symcache_find(c, "empty", NULL);
	if (!CHECK(found && none))
		return;
	CHECK_EQ(symtab_count(none), 0);
	for (offset = 0; offset < 0x1000 + SYMBOLS * 0x40 + 0x100; offset += 0x10) {
		const struct symbol *a = symtab_find(st, offset), *b = symtab_find(found, offset);

		if (!CHECK(!a == !b && (!a || equal(a, b))))
			break;
	}
	CHECK_EQ(differences(st, found), 0);
	CHECK(!symcache_find(c, "two", NULL));
	CHECK_EQ(symcache_stats(c)->hits, 2);
	CHECK_EQ(symcache_stats(c)->misses, 2);
	CHECK_EQ(symcache_stats(c)->stored, 2);
	CHECK_EQ(symcache_stats(c)->damaged, 0);
}

/* The path of the only table in a cache; caller frees. */
static char *only_file(const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	char *path = NULL;

	while ((entry = readdir(d)))
		if (strstr(entry->d_name, ".sym"))
			path = path_join(directory, entry->d_name);
	(void)closedir(d);
	return path;
}

static struct symtab *load_again(void *data)
{
	return data ? make_table(SYMBOLS) : NULL;
}

/* Whatever byte is wrong: the table is not there, or each symbol of it is right. */
static void damage_is_found_and_made_good(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(symcache_closep) struct symcache *c = symcache_open(directory, SYMCACHE_CAP);
	_cleanup_(symtab_freep) struct symtab *st = make_table(SYMBOLS);
	struct symcache_reload reload = { .load = load_again, .data = st };
	_cleanup_free_ char *path = NULL;
	size_t at = 0, rounds = 0, size = 1;

	for (; at < size; at += 211, rounds++) {
		_cleanup_(symtab_freep) struct symtab *found = NULL;
		_cleanup_close_ int fd = -1;
		struct stat file;
		uint8_t byte;

		symcache_store(c, "one", st);
		if (!path)
			path = only_file(directory);
		fd = open(path, O_RDWR | O_CLOEXEC);
		CHECK_EQ(fstat(fd, &file), 0);
		size = (size_t)file.st_size;
		CHECK_EQ(pread(fd, &byte, 1, (off_t)at), 1);
		byte ^= 0x10;
		CHECK_EQ(pwrite(fd, &byte, 1, (off_t)at), 1);
		found = symcache_find(c, "one", &reload);
		if (found && !CHECK(differences(st, found) == 0))
			printf("# byte %zu\n", at);
		symtab_free(STEAL(found));
		if (!CHECK(symcache_stats(c)->damaged == rounds + 1))
			printf("# byte %zu is not missed\n", at);
		CHECK(access(path, F_OK) < 0);
	}
	CHECK(rounds > 100);
}

/* Sets the version of the file at @path, which is in order otherwise. */
static void write_version(const char *path, const char *key, uint32_t version)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	_cleanup_free_ uint8_t *bytes = NULL;
	struct symcache_header h;
	size_t pages = 0, size;
	struct stat file;

	CHECK_EQ(fstat(fd, &file), 0);
	size = (size_t)file.st_size;
	bytes = xmalloc(size);
	CHECK_EQ(pread(fd, bytes, size, 0), file.st_size);
	/* As many digests as the bytes before them have pages. */
	while (pages * SYMCACHE_PAGE < size - pages * sizeof(uint64_t))
		pages++;
	memcpy(&h, bytes, sizeof(h));
	h.version = version;
	h.check = digest_bytes(&h, offsetof(struct symcache_header, check), 1);
	h.check = digest_bytes(key, strlen(key), h.check);
	h.check = digest_bytes(bytes + size - pages * sizeof(uint64_t), pages * sizeof(uint64_t),
			       h.check);
	CHECK_EQ(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
}

/* What an older or newer oprofile has left is no damage that a checksum would find. */
static void files_of_other_versions_are_written_again(void)
{
	static const struct {
		uint32_t version;
		bool found;
	} rows[] = { { SYMCACHE_VERSION, true },
		     { SYMCACHE_VERSION - 1, false },
		     { SYMCACHE_VERSION + 1, false } };
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(symcache_closep) struct symcache *c = symcache_open(directory, SYMCACHE_CAP);
	_cleanup_(symtab_freep) struct symtab *st = make_table(SYMBOLS);
	size_t i, refused = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(symtab_freep) struct symtab *found = NULL, *again = NULL;
		_cleanup_free_ char *path = NULL;

		symcache_store(c, "one", st);
		path = only_file(directory);
		write_version(path, "one", rows[i].version);
		found = symcache_find(c, "one", NULL);
		CHECK_EQ(found != NULL, rows[i].found);
		refused += !rows[i].found;
		CHECK_EQ(symcache_stats(c)->damaged, refused);
		symcache_store(c, "one", st);
		again = symcache_find(c, "one", NULL);
		CHECK(again && differences(st, again) == 0);
	}
}

static void files_cut_short_are_not_believed(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(symcache_closep) struct symcache *c = symcache_open(directory, SYMCACHE_CAP);
	_cleanup_(symtab_freep) struct symtab *st = make_table(SYMBOLS);
	_cleanup_free_ char *path = NULL;
	size_t length;

	for (length = 0; length < 40000; length += 997) {
		symcache_store(c, "one", st);
		if (!path)
			path = only_file(directory);
		CHECK_EQ(truncate(path, (off_t)length), 0);
		CHECK(!symcache_find(c, "one", NULL));
		CHECK(access(path, F_OK) < 0);
	}
}

/* If the table cannot be read again either. */
static void a_symbol_that_is_lost_says_so(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(symcache_closep) struct symcache *c = symcache_open(directory, SYMCACHE_CAP);
	_cleanup_(symtab_freep) struct symtab *st = make_table(SYMBOLS), *found = NULL;
	struct symcache_reload reload = { .load = load_again };
	_cleanup_free_ char *path = NULL;
	size_t i, lost = 0;
	int fd;

	symcache_store(c, "one", st);
	path = only_file(directory);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK_EQ(pwrite(fd, "?", 1, 20000), 1);
	(void)close(fd);
	found = symcache_find(c, "one", &reload);
	if (!CHECK(found))
		return;
	for (i = 0; i < SYMBOLS; i++) {
		const struct symbol *sym = symtab_at(found, i);

		CHECK_EQ(sym->end, symtab_at(st, i)->end);
		lost += !strcmp(sym->name, "(damaged in the symbol cache)");
	}
	CHECK(lost > 0 && lost < SYMBOLS / 2);
}

static void what_was_used_least_goes_first(void)
{
	_cleanup_directory_ char *directory = test_directory();
	static const char *const keys[] = { "one", "two", "three", "four" };
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	_cleanup_(symtab_freep) struct symtab *st = make_table(SYMBOLS);
	_cleanup_free_ char *first = NULL;
	struct symcache *c = symcache_open(directory, SYMCACHE_CAP);
	struct symtab *found;
	struct stat file;
	size_t i;

	symcache_store(c, keys[0], st);
	first = only_file(directory);
	CHECK_EQ(stat(first, &file), 0);
	CHECK_EQ(utimensat(AT_FDCWD, first, old, 0), 0);
	for (i = 1; i < 3; i++)
		symcache_store(c, keys[i], st);
	/* Using it makes it young again. */
	symtab_free(symcache_find(c, keys[0], NULL));
	symcache_close(c);
	CHECK_EQ(stat(first, &file), 0);
	CHECK(file.st_mtime > 1000);
	CHECK_EQ(utimensat(AT_FDCWD, first, old, 0), 0);

	c = symcache_open(directory, (uint64_t)file.st_size * 7 / 2);
	symcache_store(c, keys[3], st);
	symcache_close(c);
	c = symcache_open(directory, SYMCACHE_CAP);
	CHECK(!symcache_find(c, keys[0], NULL));
	found = symcache_find(c, keys[3], NULL);
	CHECK(found);
	symtab_free(found);
	symcache_close(c);
}

static void who_writes_little_seldom_looks_at_all_files(void)
{
	enum { LIMIT = 100000, WRITERS = 100000, EACH = LIMIT / 1000 };
	static const struct {
		uint64_t written;
		uint32_t random;
		bool is_due;
	} cases[] = {
		{ 0, 0, false },
		{ 1, 0, true },
		{ 1, UINT32_MAX, false },
		{ LIMIT / 100, UINT32_MAX, true },
		{ LIMIT * 2, UINT32_MAX, true },
		{ LIMIT / 200, UINT32_MAX / 2 - 1, true },
		{ LIMIT / 200, UINT32_MAX / 2 + 1, false },
	};
	size_t i, looks = 0;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!CHECK(lru_directory_is_due(cases[i].written, LIMIT, cases[i].random) ==
			   cases[i].is_due))
			printf("# case %zu\n", i);
	for (i = 0; i < WRITERS; i++)
		looks += lru_directory_is_due(EACH, LIMIT, (uint32_t)i * (UINT32_MAX / WRITERS));
	/* They write the limit a hundred times, and look at each hundredth of it. */
	CHECK(looks > 9900 && looks < 10100);
	CHECK(!lru_directory_is_due(0, 0, 0));
	CHECK(lru_directory_is_due(1, 0, UINT32_MAX));
}

static void directories_that_others_write_are_refused(void)
{
	_cleanup_directory_ char *directory = test_directory();

	CHECK_EQ(chmod(directory, 0777), 0);
	CHECK(!symcache_open(directory, SYMCACHE_CAP));
	CHECK(!symcache_open("/proc/nowhere", SYMCACHE_CAP));
}

/* Only root can give a file away, and so test it. */
static void files_of_others_are_not_believed(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(symcache_closep) struct symcache *c = symcache_open(directory, SYMCACHE_CAP);
	_cleanup_(symtab_freep) struct symtab *st = make_table(10), *found = NULL;
	_cleanup_free_ char *path = NULL;

	symcache_store(c, "one", st);
	path = only_file(directory);
	if (chown(path, 12345, 12345) < 0)
		return;
	found = symcache_find(c, "one", NULL);
	CHECK(!found);
	CHECK_EQ(symcache_stats(c)->damaged, 1);
}

static void the_environment_names_the_directory(void)
{
	_cleanup_free_ char *named = NULL;

	CHECK_EQ(setenv("OPROFILE_SYMBOL_CACHE", "no", 1), 0);
	CHECK(!symcache_directory());
	CHECK_EQ(setenv("OPROFILE_SYMBOL_CACHE", "/some/where", 1), 0);
	named = symcache_directory();
	CHECK_STR(named, "/some/where");
}

struct crowd {
	struct symcache *cache;
	struct symtab *tables[PARALLEL_MAX];
	struct symtab *model; /* read before: tables are for one thread at a time */
	size_t wrong;
};

static void use_cache(size_t i, unsigned int thread, void *data)
{
	struct crowd *crowd = data;
	struct symtab *found = symcache_find(crowd->cache, "one", NULL);

	if (i % 3 == 0)
		symcache_store(crowd->cache, "one", crowd->tables[thread]);
	if (found && differences(crowd->model, found))
		__atomic_fetch_add(&crowd->wrong, 1, __ATOMIC_RELAXED);
	symtab_free(found);
}

static void many_may_read_and_write_at_once(void)
{
	_cleanup_directory_ char *directory = test_directory();
	struct crowd crowd = { .cache = symcache_open(directory, SYMCACHE_CAP) };
	size_t i;

	crowd.model = make_table(SYMBOLS);
	for (i = 0; i < PARALLEL_MAX; i++)
		crowd.tables[i] = make_table(SYMBOLS);
	parallel_each(120, use_cache, &crowd);
	CHECK_EQ(crowd.wrong, 0);
	CHECK_EQ(symcache_stats(crowd.cache)->damaged, 0);
	CHECK_EQ(symcache_stats(crowd.cache)->failed, 0);
	for (i = 0; i < PARALLEL_MAX; i++)
		symtab_free(crowd.tables[i]);
	symtab_free(crowd.model);
	symcache_close(crowd.cache);
}

/* What each tool does, with a cap that makes it remove what others use; 0, or what went wrong. */
static int use_directory(const char *directory, const struct symtab *model, uint64_t cap,
			 unsigned int seed)
{
	size_t round, turn, wrong = 0;

	for (round = 0; round < 12; round++) {
		struct symcache *c = symcache_open(directory, cap);

		for (turn = 0; turn < 8; turn++) {
			_cleanup_free_ char *key = xasprintf("key %zu", (round * seed + turn) % 8);
			_cleanup_(symtab_freep) struct symtab *found = symcache_find(c, key, NULL);

			wrong += found && differences(model, found);
			if (!found)
				symcache_store(c, key, model);
		}
		wrong += symcache_stats(c)->damaged + symcache_stats(c)->failed;
		symcache_close(c);
	}
	return wrong ? 1 : 0;
}

/* Bytes of all files in the directory, and how many of them are not tables. */
static uint64_t directory_size(const char *directory, size_t *ret_others)
{
	DIR *d = opendir(directory);
	const struct dirent *entry;
	uint64_t size = 0;
	struct stat file;

	*ret_others = 0;
	while ((entry = readdir(d))) {
		if (fstatat(dirfd(d), entry->d_name, &file, 0) < 0 || !S_ISREG(file.st_mode))
			continue;
		size += (uint64_t)file.st_size;
		*ret_others += !strstr(entry->d_name, ".sym") || strstr(entry->d_name, ".tmp");
	}
	(void)closedir(d);
	return size;
}

static void many_tools_may_use_one_directory(void)
{
	enum { TOOLS = 6 };
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(symtab_freep) struct symtab *st = make_table(SYMBOLS);
	struct symcache *c = symcache_open(directory, SYMCACHE_CAP);
	pid_t tools[TOOLS];
	size_t i, others;
	uint64_t cap;
	int status;

	symcache_store(c, "key 0", st);
	symcache_close(c);
	cap = directory_size(directory, &others) * 5;
	for (i = 0; i < TOOLS; i++) {
		tools[i] = fork();
		if (tools[i] == 0)
			_exit(use_directory(directory, st, cap, (unsigned int)i + 1));
	}
	for (i = 0; i < TOOLS; i++) {
		CHECK_EQ(waitpid(tools[i], &status, 0), tools[i]);
		CHECK_EQ(status, 0);
	}
	/* Who stores last leaves no more than may be there. */
	c = symcache_open(directory, cap);
	symcache_store(c, "key 0", st);
	symcache_close(c);
	CHECK(directory_size(directory, &others) <= cap);
	CHECK_EQ(others, 0);
}

TESTS(T(tables_come_back_as_they_were), T(damage_is_found_and_made_good),
      T(files_of_other_versions_are_written_again), T(files_cut_short_are_not_believed),
      T(a_symbol_that_is_lost_says_so), T(what_was_used_least_goes_first),
      T(who_writes_little_seldom_looks_at_all_files), T(directories_that_others_write_are_refused),
      T(files_of_others_are_not_believed), T(the_environment_names_the_directory),
      T(many_may_read_and_write_at_once), T(many_tools_may_use_one_directory))
