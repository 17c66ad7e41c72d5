package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// containerMemory is the variable that tells the container's memory limit in
	// bytes, where the deployment knows it; the control group's counts without it.
	containerMemory = "VISAVIS_CONTAINER_MEMORY"
	// heapPart is the part of it that the Go runtime may use. The rest is for stacks
	// of C, the kernel's buffers and what child processes share.
	heapPart = 0.9
	// gcPercent lets the heap grow to four times what is live before it is
	// collected. Little is live in a process that answers requests, so that costs
	// tens of megabytes and saves a part of every request. Near the memory limit the
	// runtime collects more often by itself.
	gcPercent = 300
	// gcPercentUnlimited is for a process that nothing tells where its memory ends.
	gcPercentUnlimited = 100
)

// tuneMemory keeps the heap within the container. It leaves an operator's own
// GOMEMLIMIT and GOGC alone.
func tuneMemory() error {
	if os.Getenv("GOMEMLIMIT") == "" {
		limit, err := memoryLimit(os.Getenv(containerMemory), memlimit.FromCgroup)
		if err != nil {
			return err
		}
		if limit > 0 {
			debug.SetMemoryLimit(limit)
		}
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percentFor(debug.SetMemoryLimit(-1)))
	}
	return nil
}

// memoryLimit is what the Go runtime may use; zero where nothing limits the process.
func memoryLimit(told string, ofGroup func() (uint64, error)) (int64, error) {
	var container uint64
	var err error
	if told != "" {
		if container, err = strconv.ParseUint(told, 10, 63); err != nil {
			return 0, fmt.Errorf("%s: want a number of bytes, not %q", containerMemory, told)
		}
	} else if container, err = ofGroup(); err != nil {
		return 0, nil //nolint:nilerr // a machine without control groups limits nobody
	}
	return int64(float64(container) * heapPart), nil
}

// machine is more memory than any machine has: Go's own value for no limit lies above.
const machine = 1 << 50

func percentFor(limit int64) int {
	if limit >= machine {
		return gcPercentUnlimited
	}
	return gcPercent
}
