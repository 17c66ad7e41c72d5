//go:build !linux

// Package childproc has child processes end with the process that started them.
package childproc

import "syscall"

// EndWithParent does nothing here: a child of a killed parent lives on.
func EndWithParent(*syscall.SysProcAttr, syscall.Signal) {}
