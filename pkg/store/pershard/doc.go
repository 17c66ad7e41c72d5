// Package pershard runs work for every shard, each shard apart from the others: a
// goroutine, a deadline, a pace and a failure of its own. A database that is frozen, slow
// or gone takes nothing of the others' time, and a directory that is frozen leaves the
// last known list of shards in force.
//
// A Loop repeats work for as long as a process runs; Gather asks all shards once.
package pershard
