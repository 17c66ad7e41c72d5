// Package tenant gives an organization its database: it finds the shard the
// organization lives on, and guards every read and write there with the fence,
// so that a process that missed a move neither loses a write nor serves old
// data. Nothing else begins a transaction on a shard.
//
// The fence is a row (org_fence) with an epoch. A writer on PostgreSQL takes
// the organization's shared advisory lock and checks the row in a statement of
// its own after it, under READ COMMITTED; whoever moves the organization takes
// the same lock exclusively. On CockroachDB reading the row in a serializable
// transaction is enough. A reader checks the row after the data, in the same
// trip.
package tenant
