// Package move takes organizations from one shard to another while they are in use.
//
// Whoever wants a move writes it down in the directory (Begin); workers carry it out
// (Runner). A move is a row with a phase, and each phase a function that does a piece of
// work and answers the row as it is to be then. What it does may be repeated, so a
// process can die anywhere: another finds the row once the lease has ended, and goes on.
//
// Where an organization lives is said in one place, the directory's route, and changes in
// one statement (directory.FlipMove). Before it everything can be undone: the source
// opens again, and nothing was lost. After it there is only the way forward.
//
// A number guards both shards against a process that comes back from the dead: whoever
// takes a move makes the source's epoch grow, and shows that epoch to the destination.
// What the one before still sends is for an epoch that is gone.
//
//	preflight → fence ──────────────────────────────→ flipped → keep → delete → moved
//	          ↘ capture → copy → catchup ⇄ verify ↗
//
// A small organization is copied behind the fence, while its writers wait. From a large
// one rows are copied before, and its writers note the keys of what they touch meanwhile
// (package tenant, Touch); behind the fence only the last of them are left.
package move
