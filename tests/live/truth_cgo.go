// SPDX-License-Identifier: GPL-2.0-or-later

// C that Go calls, and Go that C calls back.
package main

/*
#include <stdint.h>
extern uint64_t called_back(uint64_t);
static __attribute__((noinline)) uint64_t c_work(uint64_t steps)
{
	uint64_t x = steps;

	while (steps--) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}
static __attribute__((noinline)) uint64_t c_calls_go(uint64_t steps)
{
	return called_back(steps) + 1;
}
*/
import "C"

import (
	"os"
	"strconv"
	"time"
)

var sink C.uint64_t

//go:noinline
func goWork(steps C.uint64_t) (x C.uint64_t) {
	for ; steps > 0; steps-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//export called_back
func called_back(steps C.uint64_t) C.uint64_t {
	return goWork(steps)
}

//go:noinline
func callsC(steps C.uint64_t) C.uint64_t {
	return C.c_work(steps) + C.c_calls_go(steps)
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for time.Now().Before(end) {
		sink += callsC(1000000)
	}
}
