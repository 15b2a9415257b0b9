/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elfwrite/elf_subset.h"

#include "base/mem.h"
#include "elfwrite/internal/elf_writer.h"
#include "elfwrite/line_table.h"

#include <errno.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Runs of code closer together than this share a section, since a section header costs as much. */
enum { GAP_MIN = 512, SECTIONS_MAX = 4096 };

/* The last symbol of a kernel may appear to extend to the end of memory. */
enum { RUN_MAX = 1 << 20 };

/* No module needs more than large pages; a damaged one could ask for gigabytes of padding. */
enum { ALIGNMENT_MAX = 2 << 20 };

/* Addresses of a code section of the original, and its number in the file written. */
struct place {
	uint64_t start, end;
	size_t section;
};

struct writing {
	const struct elf_subset *in;
	struct elf_writer w;
	struct place *places;
	size_t place_count, place_room;
	bool is_relocatable;
};

static void put_word(const struct writing *w, uint8_t *to, uint32_t value)
{
	bool big = elffile_header(w->in->ef)->e_ident[EI_DATA] == ELFDATA2MSB;
	int i;

	for (i = 0; i < 4; i++)
		to[big ? 3 - i : i] = (uint8_t)(value >> (8 * i));
}

static void add_note(struct writing *w, const char *section, const char *owner, uint32_t type,
		     const void *bytes, uint32_t size)
{
	uint32_t owner_size = (uint32_t)strlen(owner) + 1, owner_room = (owner_size + 3) & ~3u;
	uint32_t room = 12 + owner_room + ((size + 3) & ~3u);
	uint8_t *note = elf_writer_keep(&w->w, xcalloc(1, room));

	put_word(w, note, owner_size);
	put_word(w, note + 4, size);
	put_word(w, note + 8, type);
	memcpy(note + 12, owner, owner_size);
	memcpy(note + 12 + owner_room, bytes, size);
	(void)elf_writer_section(
		&w->w, section, &(GElf_Shdr){ .sh_type = SHT_NOTE, .sh_addralign = 4 }, note, room);
}

static void add_notes(struct writing *w)
{
	const struct build_id *id = elffile_build_id(w->in->ef);
	uint64_t size = elffile_size(w->in->ef);
	uint8_t original[8];

	if (id)
		add_note(w, ".note.gnu.build-id", "GNU", NT_GNU_BUILD_ID, id->bytes, id->size);
	put_word(w, original, (uint32_t)size);
	put_word(w, original + 4, (uint32_t)(size >> 32));
	add_note(w, ELFFILE_ORIGINAL, "OProfile", 1, original, sizeof(original));
}

/* --- code --- */

/* Copies the parts of runs @i and later that are in section @s to @to, the code from @start to
 * @end. */
static void copy_runs(const struct writing *w, size_t i, const struct elf_section *s,
		      uint64_t start, uint64_t end, uint8_t *to)
{
	const Elf_Data *data = elffile_data(s);
	uint64_t base = elffile_section_base(w->in->ef, s->index);

	for (; data && i < w->in->run_count && w->in->runs[i].start < end; i++) {
		uint64_t from = MAX(w->in->runs[i].start, start);
		uint64_t last = MIN(w->in->runs[i].end, end);

		last = MIN(last, base + data->d_size);
		if (from < last)
			memcpy(to + (from - start), (const uint8_t *)data->d_buf + (from - base),
			       last - from);
	}
}

static size_t add_code(struct writing *w, const struct elf_section *s, size_t run, uint64_t start,
		       uint64_t end)
{
	GElf_Shdr header = { .sh_type = SHT_PROGBITS,
			     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			     .sh_addr = w->is_relocatable ? 0 : start,
			     .sh_addralign = w->is_relocatable ? s->header.sh_addralign : 1 };
	uint8_t *bytes = elf_writer_keep(&w->w, xcalloc(1, end - start + 1));

	copy_runs(w, run, s, start, end, bytes);
	return elf_writer_section(&w->w, s->name, &header, bytes, end - start);
}

/* The first run that ends after @address. */
static size_t first_run(const struct elf_subset *in, uint64_t address)
{
	return FIRST_NOT(i, 0, in->run_count, in->runs[i].end <= address);
}

/* The used parts of a section of a linked file: a section for each cluster. */
static void add_clusters(struct writing *w, const struct elf_section *s, uint64_t gap)
{
	const struct elf_subset *in = w->in;
	const Elf_Data *data = elffile_data(s);
	uint64_t base = s->header.sh_addr, end;
	size_t i = first_run(in, base);

	/* The header may claim more than the file has. */
	if (!data || __builtin_add_overflow(base, data->d_size, &end))
		return;
	while (i < in->run_count && in->runs[i].start < end) {
		uint64_t from = MAX(in->runs[i].start, base), to = in->runs[i].end;
		size_t first = i;

		for (i++;
		     i < in->run_count && in->runs[i].start < end && in->runs[i].start - to <= gap;
		     i++)
			to = in->runs[i].end;
		(void)add_code(w, s, first, from, MIN(to, end));
	}
}

/* The smallest gap that leaves few enough sections. */
static uint64_t choose_gap(const struct elf_subset *in)
{
	uint64_t gap;

	for (gap = GAP_MIN;; gap *= 2) {
		size_t i, count = 1;

		for (i = 1; i < in->run_count; i++)
			count += in->runs[i].start - in->runs[i - 1].end > gap;
		if (count <= SECTIONS_MAX)
			return gap;
	}
}

/* Remembers which section the symbols of @s belong to. */
static void add_place(struct writing *w, const struct elf_section *s, size_t section)
{
	uint64_t base = elffile_section_base(w->in->ef, s->index);

	if (!section)
		return;
	array_grow(&w->places, w->place_count + 1, &w->place_room);
	w->places[w->place_count++] = (struct place){ base, base + s->header.sh_size, section };
}

/* A code section of a linked file: once without bytes, to say where it was, and then its used
 * parts. */
static void add_linked(struct writing *w, const struct elf_section *s, uint64_t gap)
{
	GElf_Shdr header = { .sh_type = SHT_NOBITS,
			     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			     .sh_addr = s->header.sh_addr,
			     .sh_addralign = 1 };

	add_place(w, s, elf_writer_section(&w->w, s->name, &header, NULL, s->header.sh_size));
	if (s->header.sh_type != SHT_NOBITS)
		add_clusters(w, s, gap);
}

/* In a relocatable file a code section's place follows from the sizes of those before it: sections
 * stay whole, with zeros for unused code. */
static void add_relocatable(struct writing *w, const struct elf_section *s)
{
	uint64_t base = elffile_section_base(w->in->ef, s->index);
	const Elf_Data *data = elffile_data(s);

	if (!data || data->d_size != s->header.sh_size || base + data->d_size < base ||
	    s->header.sh_addralign > ALIGNMENT_MAX)
		return;
	add_place(w, s, add_code(w, s, first_run(w->in, base), base, base + s->header.sh_size));
}

static void add_sections(struct writing *w)
{
	const struct elffile *ef = w->in->ef;
	size_t i, n = elffile_section_count(ef);
	uint64_t gap = choose_gap(w->in);

	for (i = 0; i < n; i++) {
		struct elf_section s;

		if (!elffile_section(ef, i, &s) || !elffile_section_is_code(ef, &s))
			continue;
		if (w->is_relocatable)
			add_relocatable(w, &s);
		else
			add_linked(w, &s, gap);
	}
}

/* --- symbols --- */

static const struct place *place_of(const struct writing *w, uint64_t address)
{
	size_t i;

	for (i = 0; i < w->place_count; i++)
		if (address >= w->places[i].start && address < w->places[i].end)
			return &w->places[i];
	return NULL;
}

/* The start of a kernel's text is looked up by these names. As data they hide no function there. */
static bool is_mark(const char *name)
{
	return !strcmp(name, "_text") || !strcmp(name, "_stext");
}

static void add_symbols(struct writing *w)
{
	const struct elf_subset *in = w->in;
	size_t i;

	for (i = 0; i < in->symbol_count; i++) {
		const struct elf_subset_symbol *from = &in->symbols[i];
		const struct place *place = place_of(w, from->address);
		unsigned char type = is_mark(from->name) ? STT_OBJECT : STT_FUNC;
		GElf_Sym sym = { .st_info = GELF_ST_INFO(STB_GLOBAL, type),
				 .st_other = from->is_go ? ELFFILE_OTHER_GO : 0,
				 .st_size = from->size,
				 .st_value = from->address };

		if (!place)
			continue;
		sym.st_shndx = (GElf_Section)place->section;
		if (w->is_relocatable)
			sym.st_value -= place->start;
		elf_writer_symbol(&w->w, &sym, from->name, from->next);
	}
}

/* --- the file --- */

/* The segments of the original say where in it code and data are. */
static void add_segments(struct writing *w)
{
	Elf *from = elffile_elf(w->in->ef);
	size_t i, count = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(from, &count) < 0 || count > UINT16_MAX)
		return;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(from, (int)i, &p) && p.p_type == PT_LOAD)
			elf_writer_segment(&w->w, &p, 0);
}

static void writing_done(struct writing *w)
{
	elf_writer_done(&w->w);
	free(w->places);
}

/* Writes the file to @fd; 0 or -EIO. */
static int write_all(const struct elf_subset *s, int fd)
{
	_cleanup_(writing_done) struct writing w = {
		.in = s, .is_relocatable = elffile_header(s->ef)->e_type == ET_REL
	};

	elf_writer_begin(&w.w, fd, elffile_header(s->ef));
	add_segments(&w);
	add_notes(&w);
	add_sections(&w);
	add_symbols(&w);
	return elf_writer_finish(&w.w, s->debug);
}

static int read_back(int fd, void **ret, size_t *ret_size)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t done = 0;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	bytes = xmalloc((size_t)st.st_size + 1);
	while (done < (size_t)st.st_size) {
		ssize_t n = pread(fd, bytes + done, (size_t)st.st_size - done, (off_t)done);

		if (n <= 0 && errno != EINTR)
			return n < 0 ? -errno : -EIO;
		done += n > 0 ? (size_t)n : 0;
	}
	*ret_size = done;
	*ret = STEAL(bytes);
	return 0;
}

/* A core file, such as a kernel's memory: a segment for each run, for this machine. */
static int write_core(const struct elf_subset *s, void **ret, size_t *ret_size)
{
	_cleanup_(strbuf_done) struct strbuf head = STRBUF_INIT, code = STRBUF_INIT;
	Elf64_Ehdr header = *elf64_getehdr(elffile_elf(s->ef));
	uint64_t start = sizeof(header) + s->run_count * sizeof(Elf64_Phdr);
	size_t i;

	header.e_phoff = sizeof(header);
	header.e_phnum = (Elf64_Half)s->run_count;
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	strbuf_add(&head, &header, sizeof(header));
	for (i = 0; i < s->run_count; i++) {
		uint64_t size = MIN(s->runs[i].end - s->runs[i].start, (uint64_t)RUN_MAX), offset;
		Elf64_Phdr segment = { .p_type = PT_LOAD,
				       .p_flags = PF_R | PF_X,
				       .p_offset = start + code.length,
				       .p_vaddr = s->runs[i].start,
				       .p_filesz = size,
				       .p_memsz = size,
				       .p_align = 1 };
		Elf_Data *data = NULL;

		if (elffile_offset(s->ef, s->runs[i].start, &offset))
			data = elffile_chunk(s->ef, offset, size, ELF_T_BYTE);
		if (!data)
			segment.p_filesz = segment.p_memsz = 0;
		else
			strbuf_add(&code, data->d_buf, size);
		strbuf_add(&head, &segment, sizeof(segment));
	}
	strbuf_add(&head, strbuf_text(&code), code.length);
	*ret_size = head.length;
	*ret = strbuf_take(&head);
	return 0;
}

int elf_subset_write(const struct elf_subset *s, void **ret, size_t *ret_size, struct error *err)
{
	_cleanup_close_ int fd = memfd_create("subset", MFD_CLOEXEC);
	int r;

	if (elffile_header(s->ef)->e_type == ET_CORE)
		return elf64_getehdr(elffile_elf(s->ef)) && s->run_count < PN_XNUM
			       ? write_core(s, ret, ret_size)
			       : error_set(err, -ENOTSUP, "%s: cannot copy parts of this core file",
					   elffile_path(s->ef));
	if (fd < 0)
		return error_errno(err, -errno, "cannot create a file in memory");
	if (write_all(s, fd) < 0)
		return error_set(err, -EIO, "%s: cannot write its used parts: %s",
				 elffile_path(s->ef), elf_errmsg(-1));
	r = read_back(fd, ret, ret_size);
	return r < 0 ? error_errno(err, r, "%s: cannot read it back", elffile_path(s->ef)) : 0;
}
