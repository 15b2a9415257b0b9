/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/ruby_lines.h"

#include "base/macro.h"
#include "base/mem.h"
#include "bpf/interpreter.h"

enum {
	ENTRY_BYTES = 12, /* the line, a node, events */
	FIRST_BYTES = 48, /* the part of the index for the first words */
	RANKS = 9,	  /* in a word of it, of 7 bits each */
	BLOCK_WORDS = 512,
	BLOCK_RANKS = 8, /* offsets in a block: ranks of its parts, after the first, of 9 bits */
	BLOCK_BITS = 16,
	WORDS_MAX = RUBY_FEW_WORDS + (RUBY_INDEX_BYTES - FIRST_BYTES) / RUBY_BLOCK_BYTES * 512,
};

static void add(struct ruby_lines *l, uint32_t offset, uint32_t line)
{
	if (l->count && l->rows[l->count - 1].line == line)
		return;
	array_grow(&l->rows, l->count + 1, &l->room);
	l->rows[l->count++] = (struct function_line){ offset, line };
}

static uint64_t word_at(const uint8_t *index, size_t offset)
{
	uint64_t word;

	memcpy(&word, index + offset, sizeof(word));
	return word;
}

/* Returns the number of entries that begin at or before @word, which is below WORDS_MAX: the entry
 * of the word, counted from 1. As succ_index_lookup() in Ruby's iseq.c. */
static uint64_t entry_of(const uint8_t *index, uint32_t word)
{
	uint32_t part, bit;
	uint64_t rank = 0;

	if (word < RUBY_FEW_WORDS)
		return word_at(index, word / RANKS * 8) >> word % RANKS * 7 & 0x7f;
	word -= RUBY_FEW_WORDS;
	index += FIRST_BYTES + word / BLOCK_WORDS * RUBY_BLOCK_BYTES;
	word %= BLOCK_WORDS;
	part = word / 64;
	bit = word % 64;
	if (part)
		rank = word_at(index, BLOCK_RANKS) >> (part - 1) * 9 & 0x1ff;
	rank += (uint32_t)word_at(index, 0);
	return rank +
	       (uint32_t)__builtin_popcountll(word_at(index, BLOCK_BITS + part * 8) << (63 - bit));
}

void ruby_lines_decode(struct ruby_lines *lines, uint32_t words, uint32_t first, struct span in)
{
	const uint8_t *index = span_take(&in, RUBY_INDEX_BYTES);
	const size_t entries = in.left / ENTRY_BYTES;
	uint32_t word, line;
	uint64_t entry = 1;

	for (word = 0; index && entries && word < MIN(words, (uint32_t)WORDS_MAX); word++) {
		if (entries > 1)
			entry = entry_of(index, word);
		line = first;
		if (entry && entry <= entries)
			memcpy(&line, in.at + (entry - 1) * ENTRY_BYTES, sizeof(line));
		add(lines, word, line && line <= INT32_MAX ? line : first);
	}
	if (!lines->count)
		add(lines, 0, first);
}
