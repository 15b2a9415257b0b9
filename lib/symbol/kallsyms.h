/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of the kernel as /proc/kallsyms (symbols) and /proc/modules (load addresses and sizes)
 * describe it. Recording needs the address ranges, and saves the symbols in the session; reports
 * read those, or the symbols of the running kernel.
 *
 * Saved text symbols have kallsyms' own format. The symbols of each image follow a line with its
 * addresses: "# text START END" for the kernel, "# module NAME START END" for a module, START and
 * END in hexadecimal. START is always the same, because where the kernel is in memory is a secret
 * (kptr_restrict), and whoever reads the file need not know it; samples have offsets from START.
 * Files of earlier versions have the real addresses. Images are only ever added, so that the files
 * can hold those of several boots. Kernel and modules are in a compressed file, PATH.zst, which is
 * the same for all sessions of a boot, mostly: then it is stored once (internal/kallsyms_pack.h).
 *
 * Code outside both (BPF programs, pages of ftrace and kprobes) comes and goes, and moves with each
 * boot. It is in the plain file PATH: below "# absolute NAME" each sampled piece gets an address
 * that is made up, a slot of KALLSYMS_SLOT bytes for each symbol. Equal symbols are taken to be
 * equal code, since the name of a BPF program contains a hash of it. "# boot ID" says in which boot
 * the file was begun, "# boot ID NAME" the one in which the pieces of image NAME that follow were
 * added. Reports skip these lines. A plain file of an earlier version has kernel and modules, too.
 *
 *	struct kallsyms *k;
 *	if (kallsyms_load(path, &k, err) == 0)
 *		image = kallsyms_image(k, "xfs");
 *	kallsyms_free(k);
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One line of /proc/kallsyms. */
struct kallsyms_line {
	uint64_t address;
	char type; /* as nm(1) prints it */
	const char *name;
	const char *module; /* without brackets; "" for the kernel */
};

/* One line of /proc/modules. */
struct modules_line {
	const char *name;
	uint64_t size; /* bytes */
	uint64_t address;
};

/* Parses a line of kallsyms in place: the strings point into it. 0 or -EBADMSG. */
int kallsyms_line_parse(char *line, struct kallsyms_line *ret);
/* The same for a line of /proc/modules. */
int modules_line_parse(char *line, struct modules_line *ret);

/* The address range of the kernel, a module or a symbol outside both. */
struct kallsyms_range {
	char *name;   /* "" for the kernel's own text, else the module's or bracket's name */
	char *symbol; /* the symbol of code that is in neither kernel nor module; else NULL */
	uint64_t start, end; /* end excluded */
	void *data;	     /* for the caller, as are the next two; NULL and 0 at first */
	uint64_t key, since_ns;
};

/* Where images start in saved files: where x86 links the kernel and loads the first module, if it
 * does not randomize that. */
#define KALLSYMS_TEXT_START   0xffffffff81000000
#define KALLSYMS_MODULE_START 0xffffffffc0000000

/* Size of the slot of a symbol outside kernel and modules. */
#define KALLSYMS_SLOT (1ULL << 24)
/* So many lines may be lost in a power cut. Another boot leaves so many slots unused, because there
 * may be samples in the slots of lost lines. */
enum { KALLSYMS_UNSYNCED_MAX = 16 };

/* What is added to the name of a saved file for the one that is compressed. */
#define KALLSYMS_PACKED ".zst"

struct kallsyms_ranges {
	struct kallsyms_range *ranges; /* sorted, not overlapping */
	size_t count;
	bool hidden; /* kptr_restrict: all addresses read as 0, so there are no ranges */
};

/* Reads both files below @root. 0, then the caller calls kallsyms_ranges_done(); or -errno if
 * /proc/kallsyms cannot be read. A missing /proc/modules is not an error. If that hides addresses
 * and kallsyms does not (internal/kallsyms_file.h), a module starts at the page of its first
 * function. */
int kallsyms_ranges_read(const char *root, struct kallsyms_ranges *ret, struct error *err);
/* Reads only the modules again, which is cheap. Returns whether anything changed; then the caller's
 * data is lost. Where /proc/modules hides addresses, nothing does. */
bool kallsyms_modules_renew(const char *root, struct kallsyms_ranges *r);
/* Frees and empties it. */
void kallsyms_ranges_done(struct kallsyms_ranges *r);
/* The range that contains @address, or NULL; borrowed. */
struct kallsyms_range *kallsyms_ranges_find(const struct kallsyms_ranges *r, uint64_t address);

/* Where the image called @name ("" for the kernel) is in the memory of the kernel below @root;
 * false if that is not shown. */
bool kallsyms_start(const char *root, const char *name, uint64_t *ret);

/* Saves the text symbols of those kernels and modules of @r that @path does not have yet, from
 * /proc/kallsyms below @root; begins the plain file if missing, as of @boot. 0 or -errno. */
int kallsyms_save(const char *root, const struct kallsyms_ranges *r, const char *boot,
		  const char *path, struct error *err);
/* Appends the symbols of the running kernel (below @root) to @to, in the form of the plain file;
 * -EACCES, with the remedy in @err, if its addresses are hidden from this user. */
int kallsyms_copy_live(const char *root, struct strbuf *to, struct error *err);
/* The address that the file @path gives to @range, which is code outside kernel and modules; adds
 * it if missing, without a wait for the disk: that is kallsyms_sync(), which must be done for all
 * but the last KALLSYMS_UNSYNCED_MAX calls. @boot is the id of this boot. 0 or -errno. */
int kallsyms_enter(const char *path, const char *boot, const struct kallsyms_range *range,
		   uint64_t *ret_key, struct error *err);
/* Waits until what was entered in the file @path is on the disk. 0 or -errno. */
int kallsyms_sync(const char *path);

/* Unpacks all that was saved compressed as @path. 0 with the number of kernels and modules whose
 * symbols are damaged; -EBADMSG if none of them can be found; -ENOENT if there is no such file; or
 * -errno. */
int kallsyms_check(const char *path, size_t *ret_damaged, struct error *err);

/* The address range from the symbol @first to @last; both 0 if the kernel below @root does not show
 * it. */
void kallsyms_between(const char *root, const char *first, const char *last, uint64_t *ret_start,
		      uint64_t *ret_end);
/* The same of the scheduler, schedule() and the functions that sleep in it. */
static inline void kallsyms_scheduler(const char *root, uint64_t *ret_start, uint64_t *ret_end)
{
	kallsyms_between(root, "__sched_text_start", "__sched_text_end", ret_start, ret_end);
}
/* The same of the code through which interrupts enter the kernel, on x86. */
static inline void kallsyms_interrupts(const char *root, uint64_t *ret_start, uint64_t *ret_end)
{
	kallsyms_between(root, "asm_common_interrupt", "__irqentry_text_end", ret_start, ret_end);
}

struct kallsyms_symbol {
	uint64_t address;
	const char *name;
};

/* The text symbols of the kernel, of a module, or of code outside both. */
struct kallsyms_image {
	const char *name; /* "" for the kernel */
	uint64_t start;	  /* a sample's key + start = its address in this table */
	uint64_t end;	  /* end of the image, excluded; 0: not known */
	const struct kallsyms_symbol *symbols; /* sorted by address; of several at one address the
						* one to show comes first */
	size_t count;
};

struct kallsyms;

/* Reads what was saved as @path, or a plain copy of /proc/kallsyms, of which modules are left out,
 * as it does not have their start. Invalid lines are skipped. 0, caller frees; -ENOENT if there is
 * neither file, -ENODATA if they have no symbol; or -errno. */
int kallsyms_load(const char *path, struct kallsyms **ret, struct error *err);
/* Reads the symbols of the running kernel, as kallsyms_copy_live(). */
int kallsyms_load_live(const char *root, struct kallsyms **ret, struct error *err);
/* The same from a stream; @name is for messages. */
int kallsyms_load_stream(FILE *f, const char *name, struct kallsyms **ret, struct error *err);
/* NULL is fine. */
void kallsyms_free(struct kallsyms *k);
DEFINE_CLEANUP(struct kallsyms *, kallsyms_free);

/* Whether there are symbols of the image called @name; reads only headings. */
bool kallsyms_has(const struct kallsyms *k, const char *name);
/* Whether the last pieces of the image called @name were added to the file in @boot. */
bool kallsyms_is_of_boot(const struct kallsyms *k, const char *name, const char *boot);
/* A digest of the lines of the image called @name as they are stored, without unpacking or parsing
 * them; false if there is no such image. */
bool kallsyms_digest(const struct kallsyms *k, const char *name, uint64_t ret[2]);
/* The image called @name ("" for the kernel), parsed on the first call; or NULL. Borrowed until
 * kallsyms_free(). It may have no symbols. */
const struct kallsyms_image *kallsyms_image(const struct kallsyms *k, const char *name);
/* Number of images. */
size_t kallsyms_image_count(const struct kallsyms *k);
/* The @i-th image; borrowed until kallsyms_free(). */
const struct kallsyms_image *kallsyms_image_at(const struct kallsyms *k, size_t i);
