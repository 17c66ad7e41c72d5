// Package live holds the sockets of live conversations: it lets clients and team
// members in by their tokens, runs each conversation (package conversation) in a
// room of its own, keeps the room's time and pays for it, carries out what the
// API asks of it, and brings a socket that came to the wrong process to the right
// one. A session over an organization's media server has no socket: a process joins
// its room there as the persona.
//
// A process says on every shard that it lives, on each apart from the others. One that
// could not for too long on a shard has lost the sessions of that shard and closes their
// rooms; their clients come back, here or elsewhere, with the token each was given.
package live
