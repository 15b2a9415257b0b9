/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws the state of optop in a terminal, and reads keys and the mouse (ncurses(3)).
 *
 *	optop_screen_open();
 *	optop_screen_draw(&live, &ui);
 *	while ((key = optop_screen_key()) >= 0)
 *		...
 *	optop_screen_close();
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct live;

/* What only the screen needs. */
struct optop_screen_state {
	bool is_typing; /* a search */
	bool has_help;
	size_t rows; /* result: rows that fit */
};

/* Takes over the terminal. */
void optop_screen_open(void);
/* Gives it back; may be called again. */
void optop_screen_close(void);
/* Draws everything; keeps the selected row visible. */
void optop_screen_draw(struct live *l, struct optop_screen_state *s);
/* A key as getch(3) returns it, such as KEY_UP; ERR (-1) if there is none. Never waits. */
int optop_screen_key(void);
/* The row of the list that the mouse event which optop_screen_key() returned last was in; -1: none.
 * *@ret_wheel: -1 or 1 if the wheel was turned up or down, else 0. */
int optop_screen_mouse(int *ret_wheel);

/* Prints what the screen would show, as text: the line of quality and @count rows. */
void optop_screen_print(const struct live *l, size_t count, FILE *out);
