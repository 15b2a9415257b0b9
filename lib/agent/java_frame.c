/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "agent/java_frame.h"

#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__

enum {
	WORD = 8,
	ENTRY_MAX = 512,     /* bytes before the prologue: checks of the receiver's class */
	FRAME_MAX = 1 << 20, /* bytes of a frame */
	RETURN_MAX = 32,     /* bytes between the end of a frame and the return: a poll */
	EPILOGUE_BYTES = 32, /* of instructions for an epilogue, at most */
	PUSH_RBP = 0x55,
	POP_RBP = 0x5d,
	RET = 0xc3,
	CFI_ADVANCE = 4, /* DW_CFA_advance_loc4 */
	CFI_CFA_OFFSET = 0x0e,
	CFI_RBP = 0x86, /* DW_CFA_offset of register 6 */
};

/* The code, and what was found in it. */
struct method {
	const uint8_t *code;
	size_t size;
	size_t pushed; /* where rbp has been pushed; 0: it is stored in the frame */
	size_t made;   /* where the frame is complete */
	uint32_t cfa;  /* then at rsp + this */
};

/* The instructions for unwinding, as they are written. */
struct writer {
	uint8_t *bytes;
	size_t used, at; /* ->at: the place in the code */
};

static uint32_t word_at(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The length of "sub" (@operation 0xec) or "add" (0xc4) $*@ret, %rsp at @at; 0 if it is none. */
static size_t changes_rsp(const struct method *m, size_t at, uint8_t operation, uint32_t *ret)
{
	const uint8_t *code = m->code + at;

	if (m->size - at < 7 || code[0] != 0x48 || code[2] != operation)
		return 0;
	*ret = code[1] == 0x83 ? code[3] : word_at(code + 3);
	if (*ret % WORD || !*ret || *ret > FRAME_MAX)
		return 0;
	return code[1] == 0x83 && code[3] < 0x80 ? 4 : code[1] == 0x81 ? 7 : 0;
}

/* Whether the stack is touched below rsp: mov %eax, -N(%rsp). */
static bool is_bang(const struct method *m, size_t at)
{
	return m->size - at > 7 && m->code[at] == 0x89 && m->code[at + 1] == 0x84 &&
	       m->code[at + 2] == 0x24 && (int32_t)word_at(m->code + at + 3) < 0;
}

/* Bangs; push %rbp; perhaps sub $N, %rsp. A frame pointer would be set after the push. */
static bool finds_pushed(struct method *m, size_t at)
{
	uint32_t frame = 0;

	if (!is_bang(m, at))
		return false;
	while (is_bang(m, at))
		at += 7;
	if (m->size - at < 8 || m->code[at] != PUSH_RBP)
		return false;
	m->pushed = ++at;
	if (m->code[at] == 0x48 && (m->code[at + 1] == 0x8b || m->code[at + 1] == 0x89))
		return false;
	m->made = at + changes_rsp(m, at, 0xec, &frame);
	m->cfa = (m->made > at ? frame : 0) + 2 * WORD;
	return true;
}

/* sub $N, %rsp; mov %rbp, N - 8(%rsp): a method that calls nothing. */
static bool finds_stored(struct method *m, size_t at)
{
	uint32_t frame;
	size_t next = at + changes_rsp(m, at, 0xec, &frame);

	if (next == at || m->size - next < 8 || m->code[next] != 0x48 || m->code[next + 1] != 0x89)
		return false;
	if (m->code[next + 2] == 0x6c && m->code[next + 3] == 0x24 &&
	    m->code[next + 4] == frame - WORD)
		m->made = next + 5;
	else if (m->code[next + 2] == 0xac && m->code[next + 3] == 0x24 &&
		 word_at(m->code + next + 4) == frame - WORD)
		m->made = next + 8;
	else
		return false;
	m->pushed = 0;
	m->cfa = frame + WORD;
	return true;
}

static bool finds_prologue(struct method *m)
{
	size_t at;

	for (at = 0; at < ENTRY_MAX && at + 8 < m->size; at++) {
		if (is_bang(m, at))
			return finds_pushed(m, at);
		if (finds_stored(m, at))
			return true;
	}
	return false;
}

/* Writes that from @at on the CFA is at rsp + @offset. */
static void write_cfa(struct writer *w, size_t at, uint32_t offset)
{
	uint32_t distance = (uint32_t)(at - w->at);

	w->bytes[w->used++] = CFI_ADVANCE;
	memcpy(w->bytes + w->used, &distance, sizeof(distance));
	w->used += sizeof(distance);
	w->bytes[w->used++] = CFI_CFA_OFFSET;
	for (; offset >= 0x80; offset >>= 7)
		w->bytes[w->used++] = (uint8_t)(offset | 0x80);
	w->bytes[w->used++] = (uint8_t)offset;
	w->at = at;
}

/* The CFA in the frame is known, and where the caller's rbp is. */
static void write_prologue(struct writer *w, const struct method *m)
{
	if (m->pushed)
		write_cfa(w, m->pushed, 2 * WORD);
	if (!m->pushed || m->made > m->pushed)
		write_cfa(w, m->made, m->cfa);
	w->bytes[w->used++] = CFI_RBP;
	w->bytes[w->used++] = 2;
}

/* The place after the next return from @at on, which is near if there is one. */
static size_t after_return(const struct method *m, size_t at)
{
	size_t end = at + RETURN_MAX < m->size ? at + RETURN_MAX : m->size;

	while (at < end)
		if (m->code[at++] == RET)
			break;
	return at;
}

/* add $N, %rsp; pop %rbp: from there to the return there is no frame. */
static void write_epilogues(struct writer *w, const struct method *m)
{
	size_t at = m->made, length;
	uint32_t frame;

	while (at + 8 < m->size && w->used + EPILOGUE_BYTES < JAVA_FRAME_BYTES) {
		length = changes_rsp(m, at, 0xc4, &frame);
		if (!length || frame + 2 * WORD != m->cfa || m->code[at + length] != POP_RBP) {
			at++;
			continue;
		}
		at += length;
		write_cfa(w, at, 2 * WORD);
		write_cfa(w, ++at, WORD);
		at = after_return(m, at);
		write_cfa(w, at, m->cfa);
	}
}

/* The start of the record, and of the instructions for unwinding: version 1, "zR"; alignments 1 and
 * -8; the return address is register 16; addresses of 4 bytes, relative to the PC; the CFA is rsp +
 * 8, the return address at CFA - 8. */
static const uint8_t head[] = {
	20, 0, 0, 0, 0, 0, 0, 0,  1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90,
	1,  0, 0, 0, 0, 0, 0, 28, 0, 0,	  0,   0, 0, 0,	   0,  0, 0,	0,  0, 0,
};
enum { FDE = 24, FDE_START = 32, FDE_SIZE = 36 };

static void put_word(uint8_t *at, size_t word)
{
	uint32_t low = (uint32_t)word;

	memcpy(at, &low, sizeof(low));
}

size_t java_frame_cfi(const uint8_t *code, size_t size, uint8_t ret[JAVA_FRAME_BYTES])
{
	struct method m = { .code = code, .size = size };
	struct writer w = { ret, sizeof(head), 0 };

	if (!finds_prologue(&m))
		return 0;
	memset(ret, 0, JAVA_FRAME_BYTES);
	memcpy(ret, head, sizeof(head));
	write_prologue(&w, &m);
	write_epilogues(&w, &m);
	w.used = (w.used + WORD - 1) / WORD * WORD;
	put_word(ret + FDE, w.used - FDE - 4);
	/* The record is linked at the next multiple of 8 after the code. */
	put_word(ret + FDE_START, -((size + WORD - 1) / WORD * WORD + FDE_START));
	put_word(ret + FDE_SIZE, size);
	return w.used;
}

#else

size_t java_frame_cfi(const uint8_t *code, size_t size, uint8_t ret[JAVA_FRAME_BYTES])
{
	(void)code, (void)size, (void)ret;
	return 0;
}

#endif
