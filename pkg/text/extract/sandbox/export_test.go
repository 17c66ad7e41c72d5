package sandbox

import (
	"io"
	"os"
	"syscall"
	"time"
)

// Spinning is a type of document that no reader ends: see Spin.
const Spinning = "test/spinning"

// Spin makes the process a child that confines itself as every child does and then
// computes, allocating nothing and waiting for nothing, if it was started to read a
// document of that type. It gives up after many times what it may compute.
func Spin() {
	if len(os.Args) < 2 || os.Args[1] != Command {
		return
	}
	o, err := parse(os.Args[2:])
	if err != nil || o.contentType != Spinning {
		return
	}
	own, err := taken()
	if err != nil || confine(o, own) != nil {
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, ready)
	for n := 0; ; n++ {
		if n%1_000_000 == 0 && computed() > 10*o.processor {
			os.Exit(2)
		}
	}
}

// computed is how long the process has computed so far.
func computed() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
