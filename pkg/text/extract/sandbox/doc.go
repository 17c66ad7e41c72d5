// Package sandbox reads documents in processes of their own: what a hostile document
// makes of its reader (a crash, all memory, no end) ends that process and nothing else.
//
// A child is this same program with [Command] as its only word. It has no environment,
// reads one document from its standard input, writes what it says to its standard output
// and can open nothing else: no file and no connection. Its memory, processor time and
// files are bounded by resource limits (setrlimit), which need no rights and no cgroup,
// and which hold before it reads the first byte. The parent ends it after a time, with
// whatever it started, and it ends with its parent.
//
// That a document ends its child is the document's fault, at the first time; that a child
// does not start, or is killed while it is within its limits, is not.
package sandbox
