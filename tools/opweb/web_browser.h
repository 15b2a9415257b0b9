/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the desktop's browser. The address has a secret, so it is not on a command line, which all
 * users can read: the browser gets a file that only the user can read, and which redirects to it.
 *
 *	char *file = web_browser_open("http://127.0.0.1:8123/s/.../");
 *	web_browser_close(file);
 */
#pragma once

/* Starts the browser, without waiting for it. Returns the name of the file, for
 * web_browser_close(); NULL if there is no desktop, or no place for the file. */
char *web_browser_open(const char *address);
/* Removes the file, which may be NULL, and frees its name. */
void web_browser_close(char *file);
