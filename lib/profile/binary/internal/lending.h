/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images that binaries keep and lend to the binaries of a later profile of the same session, which
 * they outlive. Everything is borrowed.
 *
 *	const struct binaries *from = lending_find(bs, image, &number);
 *	if (!from)
 *		lending_note(bs, image);	...it was opened and is kept
 */
#pragma once

#include <stdint.h>

struct binaries;

/* Notes that image number @image is kept, and is lent if it is certainly the same elsewhere. */
void lending_note(struct binaries *bs, uint32_t image);
/* Who lends image number @image, which has number *@ret there; NULL if nobody does. */
const struct binaries *lending_find(const struct binaries *bs, uint32_t image, uint32_t *ret);
