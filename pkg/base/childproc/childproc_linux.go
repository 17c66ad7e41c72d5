// Package childproc has child processes end with the process that started them.
package childproc

import "syscall"

// EndWithParent has the kernel send a child the signal when its parent dies, however it
// dies. Elsewhere than on Linux it does nothing: there a child of a killed parent lives on.
func EndWithParent(attr *syscall.SysProcAttr, s syscall.Signal) { attr.Pdeathsig = s }
