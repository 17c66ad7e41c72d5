// Package hint tells workers that something was committed for them, so that they need not
// look for it all the time. A hint is best effort: it may come late, twice or never, and
// says only where to look. Who gets one looks once at most; who gets none looks by itself
// every few seconds.
//
// A Hub hands hints on within a process; a Sender and a Listener carry them between
// processes, in small signed datagrams.
package hint
