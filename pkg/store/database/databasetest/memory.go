package databasetest

import "golang.org/x/sys/unix"

const (
	// inMemory is Linux's filesystem in memory, where copying the template for each test
	// takes a third of the time that a disk needs.
	inMemory = "/dev/shm"
	// enough is far more than the databases of all tests that run at once: containers
	// often have 64 MiB there.
	enough = 4 << 30
)

// memory is a folder in memory with room for the tests' databases; empty where there is
// none.
func memory() string {
	var fs unix.Statfs_t
	if err := unix.Statfs(inMemory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < enough {
		return ""
	}
	return inMemory
}
