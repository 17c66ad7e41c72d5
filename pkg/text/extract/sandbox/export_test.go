package sandbox

import (
	"io"
	"os"
	"syscall"
	"time"
)

// Types of documents that no reader knows: see Misbehave.
const (
	// Spinning computes, allocating nothing and waiting for nothing. It gives up after
	// many times what it may compute.
	Spinning = "test/spinning"
	// Hoarding has a list that grows to four times the memory that it may have.
	Hoarding = "test/hoarding"
)

// Misbehave makes the process a child that confines itself as every child does and then
// does what it should not, if it was started to read a document of such a type.
func Misbehave() {
	if len(os.Args) < 2 || os.Args[1] != Command {
		return
	}
	o, err := parse(os.Args[2:])
	if err != nil || o.contentType != Spinning && o.contentType != Hoarding {
		return
	}
	has, err := taken()
	if err != nil || confine(o, has) != nil {
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, ready)
	if o.contentType == Hoarding {
		for much := []byte{1}; int64(len(much)) < 4*o.memory; {
			much = append(much, make([]byte, len(much)/4+1)...)
		}
		os.Exit(0)
	}
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
