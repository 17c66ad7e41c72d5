// Package database speaks to CockroachDB and PostgreSQL: it opens pools,
// brings schemas up to date, and runs transactions that are right on both.
//
// InTx is the one way to begin a transaction. Which organization a
// transaction belongs to, and the fence that guards it, is package tenant's
// business; the SQL itself stands in the packages that own the tables.
package database
