/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/cfi.h"

#include "unwind/internal/cfi_program.h"

#include <dwarf.h>

enum {
	PROGRAM_MAX = 4096, /* bytes of a CIE's: real ones have a dozen */
	LETTERS_MAX = 16,   /* of the augmentation of a CIE, with the NUL: real ones have five */
};

/* The start of a record, which CIEs and FDEs have in common. */
struct record {
	struct span body; /* after the id */
	uint64_t id;	  /* raw */
	size_t id_offset; /* of the id in the section */
	bool is_cie;
};

/* The encoding @encoding; an address of the machine's size as what it is. */
static uint8_t sized(const struct cfi *cfi, uint8_t encoding)
{
	return cfi->machine == UNWIND_I386 && (encoding & 0x0f) == DW_EH_PE_absptr
		       ? encoding | DW_EH_PE_udata4
		       : encoding;
}

/* Reads a number with the form in the low bits of an encoding. */
static int read_value(struct span *in, uint8_t form, uint64_t *ret)
{
	uint16_t half;
	uint32_t word;
	int r;

	switch (form) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return span_u64(in, ret);
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		r = span_u32(in, &word);
		if (r == 0)
			*ret = form == DW_EH_PE_sdata4 ? (uint64_t)(int32_t)word : word;
		return r;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		r = span_u16(in, &half);
		if (r == 0)
			*ret = form == DW_EH_PE_sdata2 ? (uint64_t)(int16_t)half : half;
		return r;
	case DW_EH_PE_uleb128:
		return span_uleb(in, ret);
	case DW_EH_PE_sleb128:
		return span_sleb(in, (int64_t *)ret);
	}
	return -EBADMSG;
}

int cfi_pointer(struct span *in, uint8_t encoding, uint64_t here, uint64_t data, uint64_t *ret)
{
	uint64_t value;
	int r = read_value(in, encoding & 0x0f, &value);

	if (r < 0)
		return r;
	switch (encoding & ~0x0f) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		value += here;
		break;
	case DW_EH_PE_datarel:
		value += data;
		break;
	default: /* relative to text, to the function, aligned, or somewhere else in memory */
		return -EBADMSG;
	}
	*ret = value;
	return 0;
}

static uint64_t address_of(const struct cfi *cfi, const struct span *in)
{
	return cfi->address + (uint64_t)(in->at - cfi->bytes.at);
}

/* 1, 0 for a terminator, or -EBADMSG. */
static int read_record(const struct cfi *cfi, size_t offset, struct record *ret, size_t *ret_next)
{
	struct span in = cfi->bytes;
	uint32_t word;
	uint64_t length, none;
	bool wide;

	*ret_next = SIZE_MAX;
	if (!span_take(&in, offset) || span_u32(&in, &word) < 0)
		return -EBADMSG;
	wide = word == UINT32_MAX;
	length = word;
	if ((wide && span_u64(&in, &length) < 0) || length > in.left)
		return -EBADMSG;
	*ret_next = (size_t)(in.at - cfi->bytes.at) + (size_t)length;
	if (!length)
		return 0;
	ret->body = span_of(in.at, (size_t)length);
	ret->id_offset = (size_t)(in.at - cfi->bytes.at);
	/* In .eh_frame the id has four bytes even if the length has more (LSB Core, 10.6.1). */
	if (wide && cfi->debug) {
		if (span_u64(&ret->body, &ret->id) < 0)
			return -EBADMSG;
		none = UINT64_MAX;
	} else {
		if (span_u32(&ret->body, &word) < 0)
			return -EBADMSG;
		ret->id = word;
		none = cfi->debug ? UINT32_MAX : 0;
	}
	ret->is_cie = ret->id == none;
	return 1;
}

/* Reads what the augmentation string announces; 0 or -EBADMSG. */
static int read_augmentation(const struct cfi *cfi, struct cfi_cie *cie, const char *letters,
			     struct span *in)
{
	struct span data;
	uint64_t size, ignored;
	uint8_t encoding;

	if (*letters == '\0')
		return 0;
	if (*letters++ != 'z' || span_uleb(in, &size) < 0 || size > SIZE_MAX ||
	    span_sub(in, (size_t)size, &data) < 0)
		return -EBADMSG;
	cie->augmented = true;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			if (span_u8(&data, &encoding) < 0)
				return -EBADMSG;
			cie->encoding = sized(cfi, encoding);
			break;
		case 'L':
			if (span_u8(&data, &encoding) < 0)
				return -EBADMSG;
			break;
		case 'P':
			if (span_u8(&data, &encoding) < 0 ||
			    read_value(&data, sized(cfi, encoding) & 0x0f, &ignored) < 0)
				return -EBADMSG;
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* AArch64: signed by key B; see unwind_row.h */
		case 'G': /* AArch64: memory tags */
			break;
		default: /* unknown; the length says where the rest ends */
			return 0;
		}
	}
	return 0;
}

static int read_cie(const struct cfi *cfi, struct span in, struct cfi_cie *cie)
{
	const char *letters;
	uint8_t version, byte;
	struct span head;
	int r;

	if (span_u8(&in, &version) < 0)
		return -EBADMSG;
	head = span_of(in.at, MIN(in.left, (size_t)LETTERS_MAX));
	if (!(letters = span_string(&head)))
		return -EBADMSG;
	(void)span_take(&in, strlen(letters) + 1);
	if (version != 1 && version != 3 && version != 4)
		return -EBADMSG;
	/* The size of an address; no segments. */
	if (version == 4 && (span_u8(&in, &byte) < 0 || byte != unwind_word(cfi->machine) ||
			     span_u8(&in, &byte) < 0 || byte))
		return -EBADMSG;
	cie->encoding = sized(cfi, DW_EH_PE_absptr);
	if (span_uleb(&in, &cie->code_align) < 0 || span_sleb(&in, &cie->data_align) < 0)
		return -EBADMSG;
	if (version == 1) {
		r = span_u8(&in, &byte);
		cie->ra = r == 0 ? byte : 0;
	} else {
		r = span_uleb(&in, &cie->ra);
	}
	if (r < 0 || read_augmentation(cfi, cie, letters, &in) < 0 || in.left > PROGRAM_MAX)
		return -EBADMSG;
	cie->program = in;
	cie->is_usual = !cfi->debug && cie->augmented && cie->code_align &&
			cie->encoding == (DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	return cfi_program_initial(cie, cfi->machine);
}

/* The CIE at @offset, or NULL. A damaged one is remembered with a code_align of 0, which no program
 * can use. */
static const struct cfi_cie *find_cie(struct cfi *cfi, uint64_t offset)
{
	struct cfi_cie *cie;
	struct record record;
	size_t next;

	if (!cfi->last || cfi->last_offset != offset) {
		cie = map_get(&cfi->cies, offset);
		if (!cie) {
			cie = arena_alloc(&cfi->arena, sizeof(*cie));
			*cie = (struct cfi_cie){ .code_align = 0 };
			if (offset > cfi->bytes.left ||
			    read_record(cfi, (size_t)offset, &record, &next) != 1 ||
			    !record.is_cie || read_cie(cfi, record.body, cie) < 0)
				*cie = (struct cfi_cie){ .code_align = 0 };
			map_set(&cfi->cies, offset, cie);
		}
		cfi->last = cie;
		cfi->last_offset = offset;
	}
	return cfi->last->code_align ? cfi->last : NULL;
}

/* Reads an FDE of the usual form, fast: its CIE is that of the FDE before, its addresses have four
 * bytes and are relative to the PC. False if it is anything else. */
static bool read_usual(const struct cfi *cfi, size_t offset, struct cfi_fde *ret, size_t *ret_next)
{
	enum { ID = 4, START = 8, SIZE = 12, AUGMENTATION = 16, PROGRAM = 17 };
	const struct cfi_cie *cie = cfi->last;
	const uint8_t *record;
	size_t length;

	if (!cie || !cie->is_usual || offset > cfi->bytes.left ||
	    cfi->bytes.left - offset < PROGRAM)
		return false;
	record = cfi->bytes.at + offset;
	length = (size_t)get_le32(record) + ID;
	if (length < (size_t)PROGRAM + record[AUGMENTATION] || length > cfi->bytes.left - offset ||
	    record[AUGMENTATION] & 0x80 || get_le32(record) == UINT32_MAX ||
	    offset + ID - get_le32(record + ID) != cfi->last_offset)
		return false;
	ret->start = cfi->address + offset + START + (uint64_t)(int32_t)get_le32(record + START);
	if (__builtin_add_overflow(ret->start, (uint64_t)(int32_t)get_le32(record + SIZE),
				   &ret->end))
		return false;
	ret->program = span_of(record + PROGRAM + record[AUGMENTATION],
			       length - PROGRAM - record[AUGMENTATION]);
	ret->cie = cie;
	*ret_next = offset + length;
	return true;
}

int cfi_read(struct cfi *cfi, size_t offset, struct cfi_fde *ret, size_t *ret_next)
{
	struct record record;
	uint64_t start, length, size;
	const struct cfi_cie *cie;
	int r;

	if (read_usual(cfi, offset, ret, ret_next))
		return 1;
	r = read_record(cfi, offset, &record, ret_next);
	if (r <= 0 || record.is_cie)
		return r < 0 ? r : 0;
	/* .eh_frame counts back from the id, .debug_frame from the section's start. */
	cie = find_cie(cfi, cfi->debug ? record.id : record.id_offset - record.id);
	if (!cie)
		return -EBADMSG;
	if (cfi_pointer(&record.body, cie->encoding, address_of(cfi, &record.body), 0, &start) <
		    0 ||
	    cfi_pointer(&record.body, cie->encoding & 0x0f, 0, 0, &length) < 0 ||
	    __builtin_add_overflow(start, length, &ret->end))
		return -EBADMSG;
	if (cie->augmented &&
	    (span_uleb(&record.body, &size) < 0 || !span_take(&record.body, (size_t)size)))
		return -EBADMSG;
	ret->start = start;
	ret->program = record.body;
	ret->cie = cie;
	return 1;
}

void cfi_done(struct cfi *cfi)
{
	map_done(&cfi->cies);
	arena_done(&cfi->arena);
	cfi->last = NULL;
}
