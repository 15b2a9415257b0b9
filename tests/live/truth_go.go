// SPDX-License-Identifier: GPL-2.0-or-later

// A program in Go with a known profile (truth.h): functions that are called by recursion, by methods,
// in goroutines, inlined, and from deferred functions after a panic. A step is bound by the latency of
// a multiplication. Its constants have 32 bits: with longer ones, a loop was slower than another if
// the other thread of its core was busy, too.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
)

const unit = 20000

var sink uint64

type worker struct{ factor uint64 }

//go:noinline
func small(steps int) (x uint64) {
	for ; steps > 0; steps-- {
		x = x*1664525 + 1013904223 // small
	}
	return x
}

//go:noinline
func recurse(depth, steps int) uint64 {
	if depth == 0 {
		return small(steps)
	}
	return recurse(depth-1, steps) + 1
}

//go:noinline
func (w *worker) large(steps int) (x uint64) {
	for ; steps > 0; steps-- {
		x = x*w.factor + 1013904223 // large
	}
	return x
}

func step(x uint64) uint64 {
	return x*1664525 + 1013904223 // inlined
}

//go:noinline
func caller(steps int) (x uint64) {
	for ; steps > 0; steps-- {
		x = step(x)
	}
	return x
}

//go:noinline
func recovered(steps int) (x uint64) {
	for ; steps > 0; steps-- {
		x = x*1664525 + 1013904223 // recovered
	}
	return x
}

//go:noinline
func panics(steps int) (x uint64) {
	defer func() {
		_ = recover()
		x = recovered(steps)
	}()
	panic("on purpose")
}

// The CPU time of the process, in seconds.
func cpu() float64 {
	var used syscall.Rusage

	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Sec) + float64(used.Utime.Usec)/1e6
}

func work(end float64) {
	w := &worker{1664525}
	for x := uint64(0); cpu() < end; sink = x {
		x += recurse(20, 10*unit) + w.large(40*unit) + caller(30*unit) + panics(20*unit)
	}
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			work(seconds)
		}()
	}
	group.Wait()
	for _, share := range []string{"small 10", "(*worker).large 40", "caller 30", "recovered 20"} {
		fmt.Println("share", os.Args[2], "main."+share)
	}
}
