/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/kernel_images.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/relief.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "elf/elf_build_id.h"
#include "symbol/kallsyms.h"
#include "parser/parser.h"
#include "record/internal/kernel_reader.h"
#include "record/store/sampled_image.h"
#include "sfile/manifest.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Reading the ranges may take one part in REREAD_COST_SHARE of the time: where BPF programs come
 * and go, some address is always new. */
enum { REREAD_COST_SHARE = 1000, REREAD_MIN_MS = 1000 };
#define NS_PER_MS 1000000ULL

struct kernel_images {
	char *root, *samples, *vmlinux;
	struct sampled_images *binaries;
	struct relief *relief;			 /* while files are used; or NULL */
	bool given, absolute, wanted;		 /* given: the range came with the configuration */
	uint64_t start, end;			 /* of the kernel's own text; equal: unknown */
	struct kallsyms_ranges ranges, reported; /* the latter: of code that records reported */
	size_t reported_room;
	struct kernel_reader *reader;
	bool doubtful;		    /* code may have come or gone without a record */
	uint64_t doubted_ns;	    /* since when */
	uint64_t asked_ns, read_ns; /* when the ranges were last asked for, and read */
	uint64_t reread_at_ns;	    /* the ranges are not read before, unless */
	bool changed;		    /* a module or other code was loaded */
	bool saved;		    /* the session contains the symbols of these ranges */
	bool is_due;		    /* they were asked for */
	bool prepared;		    /* they were saved before sampling began */
	uint64_t enter_at_ns;	    /* no code is entered before: it failed, on a full disk */

	struct sampled_image *self; /* the kernel's own image; NULL: not made yet */
	char *suffix; /* distinguishes this kernel from others of the session: "" or "#12345678" */
};

/* Logs why there are no kernel addresses, and the remedy. */
static void explain(const struct kernel_images *k, const struct error *err)
{
	if (!k->wanted)
		return;
	if (err->code)
		log_warn("%s: kernel samples will have no symbols", err->text);
	else if (k->ranges.hidden)
		log_warn("kernel addresses are hidden: kernel samples will have no symbols; run as "
			 "root, after 'sysctl kernel.kptr_restrict=1' if it is 2, or 'sysctl "
			 "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1'");
	else
		log_warn("%s/proc/kallsyms does not give the address of the kernel: kernel samples "
			 "will have no symbols",
			 k->root);
}

static int by_start(const void *a, const void *b)
{
	const struct kallsyms_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Forgets the code from @start to @end. Pieces of it may be left, which do no harm. */
static void forget_range(struct kernel_images *k, uint64_t start, uint64_t end)
{
	struct kallsyms_ranges *reported = &k->reported;
	size_t i, kept = 0;

	for (i = 0; i < reported->count; i++) {
		struct kallsyms_range *range = &reported->ranges[i];

		if (range->end <= start || range->start >= end) {
			reported->ranges[kept++] = *range;
			continue;
		}
		free(range->name);
		free(range->symbol);
	}
	reported->count = kept;
}

/* Forgets code that modules have replaced. */
static void drop_replaced(struct kernel_images *k)
{
	size_t i;

	for (i = 0; i < k->ranges.count; i++)
		if (!k->ranges.ranges[i].symbol)
			forget_range(k, k->ranges.ranges[i].start, k->ranges.ranges[i].end);
}

/* After records may have been lost, keeps only the reported code that is also in the kernel's
 * lists, which were read after @since_ns. */
static void check_reported(struct kernel_images *k, uint64_t since_ns)
{
	size_t i = 0;

	k->doubtful = false;
	while (i < k->reported.count) {
		const struct kallsyms_range *reported = &k->reported.ranges[i];
		const struct kallsyms_range *now =
			kallsyms_ranges_find(&k->ranges, reported->start);

		/* The lists may not have what came since they were asked for. */
		if (reported->since_ns >= since_ns ||
		    (now && now->symbol && !strcmp(now->symbol, reported->symbol)))
			i++;
		else
			forget_range(k, reported->start, reported->end);
	}
}

/* Takes over @ranges, which were read in @took_ns. */
static void set_ranges(struct kernel_images *k, const struct kallsyms_ranges *ranges,
		       uint64_t took_ns)
{
	size_t i;

	kallsyms_ranges_done(&k->ranges);
	k->ranges = *ranges;
	k->saved = false;
	for (i = 0; i < k->ranges.count && !k->given; i++)
		if (!*k->ranges.ranges[i].name) {
			k->start = k->ranges.ranges[i].start;
			k->end = k->ranges.ranges[i].end;
		}
	k->read_ns = clock_now_ns();
	k->reread_at_ns = k->read_ns + MAX(took_ns * REREAD_COST_SHARE, REREAD_MIN_MS * NS_PER_MS);
}

static void read_ranges(struct kernel_images *k, struct error *err)
{
	uint64_t before = clock_now_ns();
	struct kallsyms_ranges ranges = { 0 };

	if (kallsyms_ranges_read(k->root, &ranges, err) == 0)
		set_ranges(k, &ranges, clock_now_ns() - before);
}

struct kernel_images *kernel_images_new(const struct kernel_images_config *config)
{
	struct kernel_images *k = xcalloc(1, sizeof(*k));
	struct error err = ERROR_INIT;

	k->root = xstrdup(config->root ? config->root : "");
	k->samples = xstrdup(config->samples);
	k->reader = kernel_reader_new(k->root);
	k->vmlinux = config->vmlinux ? path_absolute(config->vmlinux) : NULL;
	k->binaries = config->binaries;
	k->relief = config->relief;
	k->wanted = config->wanted;
	k->absolute = config->absolute;
	k->given = config->end > config->start;
	k->start = config->start;
	k->end = config->end;
	if (k->absolute)
		return k;
	read_ranges(k, &err);
	if (k->end <= k->start) {
		explain(k, &err);
		k->absolute = true;
	}
	return k;
}

bool kernel_images_text(const struct kernel_images *k, uint64_t *ret_start, uint64_t *ret_end)
{
	*ret_start = k->start;
	*ret_end = k->end;
	return !k->absolute;
}

void kernel_images_changed(struct kernel_images *k)
{
	k->changed = true;
}

/* The name that kallsyms shows in brackets after symbols with this prefix, which records lack.
 * NULL: unknown. */
static const char *brackets_of(const char *symbol)
{
	static const struct {
		const char *symbol, *brackets;
	} rows[] = {
		{ "bpf_", "bpf" },
		{ "ftrace_", "__builtin__ftrace" },
		{ "kprobe_", "__builtin__kprobes" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strncmp(symbol, rows[i].symbol, strlen(rows[i].symbol)))
			return rows[i].brackets;
	return NULL;
}

void kernel_images_code(struct kernel_images *k, uint64_t start, uint64_t length,
			const char *symbol)
{
	struct kallsyms_ranges *reported = &k->reported;
	const char *brackets = brackets_of(symbol);
	uint64_t end;

	if (k->absolute || !length || __builtin_add_overflow(start, length, &end))
		return;
	if (!brackets) {
		kernel_images_changed(k);
		return;
	}
	forget_range(k, start, end);
	array_grow(&reported->ranges, reported->count + 1, &k->reported_room);
	reported->ranges[reported->count++] = (struct kallsyms_range){ .name = xstrdup(brackets),
								       .symbol = xstrdup(symbol),
								       .start = start,
								       .end = end,
								       .since_ns = clock_now_ns() };
	qsort(reported->ranges, reported->count, sizeof(*reported->ranges), by_start);
}

/* Enters the running kernel in the manifest under the name of kallsyms, for its build-id. */
static struct sampled_image *kallsyms_binary(struct kernel_images *k)
{
	struct manifest_image image = { .path = "/proc/kallsyms" };

	(void)elf_build_id_read_kernel(k->root, &image.version.build_id);
	return sampled_image_file(k->binaries, &image, true);
}

static struct sampled_image *vmlinux_binary(struct kernel_images *k)
{
	struct manifest_image image = { .path = k->vmlinux };
	_cleanup_close_ int fd = open_regular(k->vmlinux, O_RDONLY);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		image.version.size = (uint64_t)st.st_size;
		image.version.mtime = (uint64_t)st.st_mtime;
		(void)parser_build_id(sampled_image_parser(k->binaries), fd,
				      &image.version.build_id);
	}
	return sampled_image_file(k->binaries, &image, true);
}

/* Returns the kernel's own image. The first call also determines the name of its symbols. */
static struct sampled_image *kernel_binary(struct kernel_images *k)
{
	struct sampled_image *symbols;
	const char *mark;

	if (k->self)
		return k->self;
	symbols = kallsyms_binary(k);
	mark = strchr(symbols->image.name, '#');
	k->suffix = xstrdup(mark ? mark : "");
	k->self = k->vmlinux ? vmlinux_binary(k) : symbols;
	return k->self;
}

/* The path of this kernel's symbols in the session. */
static char *symbols_path(struct kernel_images *k)
{
	_cleanup_free_ char *name = NULL;

	(void)kernel_binary(k);
	name = xasprintf("kallsyms%s", k->suffix);
	return path_join(k->samples, name);
}

static const char not_saved[] = "%s: the kernel's symbols will be those of the boot that reports";

/* Copies the symbols of this boot to the session, once for each image. */
static void save_symbols(struct kernel_images *k)
{
	_cleanup_free_ char *path = symbols_path(k);
	struct error err = ERROR_INIT;

	if (kallsyms_save(k->root, &k->ranges, kernel_reader_boot(k->reader), path, &err) < 0)
		log_warn(not_saved, err.text);
	k->saved = k->prepared = true;
}

void kernel_images_prepare(struct kernel_images *k)
{
	if (k->wanted && !k->absolute && !k->saved && k->ranges.count)
		save_symbols(k);
}

/* Enters code that is neither kernel nor module in the session. */
static bool enter_code(struct kernel_images *k, struct kallsyms_range *range)
{
	_cleanup_free_ char *path = symbols_path(k);
	struct error err = ERROR_INIT;
	int r;

	if (clock_now_ns() < k->enter_at_ns || !kernel_reader_lets_write(k->reader))
		return false;
	relief_leave(k->relief);
	r = kallsyms_enter(path, kernel_reader_boot(k->reader), range, &range->key, &err);
	relief_return(k->relief);
	if (r == 0) {
		kernel_reader_sync(k->reader, path);
		return true;
	}
	k->enter_at_ns = clock_now_ns() + NS_PER_S;
	log_warn("%s: samples in %s are counted as unknown", err.text, range->symbol);
	return false;
}

static struct sampled_image *range_binary(struct kernel_images *k, struct kallsyms_range *range)
{
	_cleanup_free_ char *name = NULL;

	if (range->data)
		return range->data;
	(void)kernel_binary(k);
	if (range->symbol && !enter_code(k, range))
		return NULL;
	name = xasprintf("%s%s", range->name, k->suffix);
	range->data = sampled_image_kernel(k->binaries, name, true);
	return range->data;
}

/* The range of @pc, or NULL; reported ranges come before guessed ones. */
static struct kallsyms_range *range_of(const struct kernel_images *k, uint64_t pc)
{
	struct kallsyms_range *reported = kallsyms_ranges_find(&k->reported, pc);

	return reported ? reported : kallsyms_ranges_find(&k->ranges, pc);
}

/* Finds the range of a module or other code. */
static bool find_range(struct kernel_images *k, uint64_t pc, struct place *ret)
{
	struct kallsyms_range *range = range_of(k, pc);
	struct sampled_image *image = range && *range->name ? range_binary(k, range) : NULL;

	if (!image)
		return false;
	*ret = (struct place){ .image = image,
			       .base = range->start - range->key,
			       .low = range->start,
			       .size = range->end - range->start };
	return true;
}

/* Returns the one image of kernels that hide their addresses. */
static void place_absolute(struct kernel_images *k, struct place *ret)
{
	if (!k->self)
		k->self = sampled_image_kernel(k->binaries, "no-vmlinux", true);
	*ret = (struct place){ .image = k->self };
}

/* Has the ranges read again, and the symbols that the session lacks added. Without a thread it is
 * done now. */
static void ask(struct kernel_images *k)
{
	_cleanup_free_ char *path = NULL;
	uint64_t now_ns = clock_now_ns();

	if (kernel_reader_is_asked(k->reader) ||
	    (k->asked_ns && now_ns < k->asked_ns + REREAD_MIN_MS * NS_PER_MS))
		return;
	k->asked_ns = now_ns;
	path = symbols_path(k);
	if (kernel_reader_ask(k->reader, path))
		return;
	read_ranges(k, NULL);
	if (k->doubtful)
		check_reported(k, k->asked_ns);
	save_symbols(k);
}

/* Takes over what was read. Modules may have changed since. */
static void take_over(struct kernel_images *k)
{
	struct kernel_reading reading;

	if (!kernel_reader_take(k->reader, &reading))
		return;
	if (reading.result == 0) {
		set_ranges(k, &reading.ranges, reading.took_ns);
		k->saved = !kallsyms_modules_renew(k->root, &k->ranges);
		drop_replaced(k);
		/* What changed since is doubtful until the next reading. */
		if (k->doubtful && k->doubted_ns <= k->asked_ns)
			check_reported(k, k->asked_ns);
	}
	if (!reading.is_saved)
		log_warn(not_saved, reading.why.text);
}

/* Reads the ranges outside the kernel's own text again for @pc. */
static void renew_ranges(struct kernel_images *k, uint64_t pc)
{
	if (k->changed) {
		k->changed = false;
		k->doubtful = true;
		k->doubted_ns = clock_now_ns();
		if (kallsyms_modules_renew(k->root, &k->ranges)) {
			k->saved = false;
			drop_replaced(k);
		}
	}
	if (k->doubtful ? clock_now_ns() >= k->read_ns + REREAD_MIN_MS * NS_PER_MS
			: !range_of(k, pc) && clock_now_ns() >= k->reread_at_ns)
		ask(k);
}

/* Ensures that the session gets the symbols of these ranges. */
static void save_soon(struct kernel_images *k)
{
	if (k->saved || !k->ranges.count)
		return;
	k->is_due = k->prepared;
	if (k->prepared)
		ask(k);
	else
		save_symbols(k);
}

/* Ends what the thread does, and saves what it has not. */
static void finish(struct kernel_images *k)
{
	kernel_reader_await(k->reader);
	take_over(k);
	if (k->is_due && !k->saved)
		save_symbols(k);
}

void kernel_images_find(struct kernel_images *k, uint64_t pc, struct place *ret)
{
	bool own = pc - k->start < k->end - k->start;

	if (k->absolute) {
		place_absolute(k, ret);
		return;
	}
	/* The kernel's own text does not move, so only other code is worth the cost of reading. */
	if (kernel_reader_is_asked(k->reader))
		take_over(k);
	if (!own)
		renew_ranges(k, pc);
	save_soon(k);
	if (own)
		*ret = (struct place){ .image = kernel_binary(k),
				       .base = k->start,
				       .low = k->start,
				       .size = k->end - k->start };
	else if (!find_range(k, pc, ret))
		*ret = (struct place){ .image = sampled_image_kernel(k->binaries, "unknown", true),
				       .low = pc,
				       .size = 1 };
}

bool kernel_images_is_saving(struct kernel_images *k)
{
	take_over(k);
	return kernel_reader_is_asked(k->reader);
}

void kernel_images_free(struct kernel_images *k)
{
	if (!k)
		return;
	finish(k);
	kernel_reader_free(k->reader);
	kallsyms_ranges_done(&k->ranges);
	kallsyms_ranges_done(&k->reported);
	free(k->root);
	free(k->samples);
	free(k->vmlinux);
	free(k->suffix);
	free(k);
}

void kernel_images_forget(struct kernel_images *k)
{
	size_t i;

	finish(k);
	for (i = 0; i < k->ranges.count; i++)
		k->ranges.ranges[i].data = NULL;
	for (i = 0; i < k->reported.count; i++)
		k->reported.ranges[i].data = NULL;
	free(k->suffix);
	k->suffix = NULL;
	k->self = NULL;
	k->saved = k->is_due = false;
}
