// Package cockroach checks the statements of the code base and the migrations against
// CockroachDB's own grammar. It is a module of its own for the size of that grammar.
package cockroach
