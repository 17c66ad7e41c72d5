// Package embedded runs a database server as a child process in a directory of
// its own: CockroachDB when its binary is on the PATH, else PostgreSQL. It is
// for development, where nobody should have to set up a database first, and
// for tests.
//
// What lives here: finding the server's binaries, creating its data directory,
// choosing the operating system user it runs as and the port it listens on,
// starting it, waiting until it answers, and stopping it. The directory is held
// by one process at a time and survives the sudden death of the server, of its
// parent, or of both.
//
// What does not live here: schemas, migrations, connection pools and anything
// else that talks to a database whoever runs it. Production databases are not
// run by this package.
//
// # The directory
//
//	lock         held with flock(2) while a Server uses the directory
//	port         the port of the last start, used again when it is free
//	password     the superuser's password (PostgreSQL)
//	server.log   what the server writes to its standard output and error
//	postgres/    the PostgreSQL cluster, or
//	cockroach/   the CockroachDB store
//
// The engine is chosen once: a directory that holds data is always opened with
// the engine that wrote it.
package embedded
