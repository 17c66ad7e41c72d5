package database

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Engine is the kind of server on the other end.
type Engine string

// The engines every statement is written for.
const (
	Cockroach Engine = "cockroach"
	Postgres  Engine = "postgres"
)

// Name is what people call it.
func (e Engine) Name() string {
	if e == Cockroach {
		return "CockroachDB"
	}
	return "PostgreSQL"
}

// EngineError says that it is not certain which engine a connection leads to, or that it is
// not the one that the pool's other connections lead to. The two need different locks (see
// package tenant), so nothing is sent over such a connection.
type EngineError struct{ Reason string }

func (e *EngineError) Error() string { return "refused the connection to the database: " + e.Reason }

// identitySQL asks a server what it is. The parameters that it reports as a connection
// begins may be a pooler's own, so they are not enough. Whoever reads pg_locks on PostgreSQL
// finds there the lock that reading it takes; CockroachDB has the table and it is empty.
const identitySQL = `
	SELECT version(), EXISTS (SELECT 1 FROM pg_catalog.pg_locks WHERE pid = pg_backend_pid()),
		current_setting('default_transaction_isolation')`

// identity is what a server says of itself.
type identity struct {
	// version is the text of version(), and parameter that of the parameter crdb_version.
	version, parameter string
	// locks says that it shows the locks that a session holds.
	locks bool
	// isolation is what transactions run at that do not say.
	isolation string
}

func identify(ctx context.Context, c *pgconn.PgConn) (identity, error) {
	// The simplest way there is: one trip, and nothing that is prepared or traced.
	result := c.ExecParams(ctx, identitySQL, nil, nil, nil, nil).Read()
	if result.Err != nil {
		return identity{}, result.Err
	}
	row := result.Rows[0]
	return identity{
		version: string(row[0]), locks: string(row[1]) == "t", isolation: string(row[2]),
		parameter: c.ParameterStatus("crdb_version"),
	}, nil
}

// engine is which engine it is for certain. The error is an *EngineError.
func (i identity) engine() (Engine, error) {
	switch {
	case strings.HasPrefix(i.version, "CockroachDB ") && !i.locks:
		return Cockroach, nil
	case strings.HasPrefix(i.version, "PostgreSQL ") && i.locks && i.parameter == "":
		return Postgres, nil
	}
	return "", &EngineError{fmt.Sprintf("it is not certain whether it is PostgreSQL or CockroachDB: its version is %q, "+
		"its parameter crdb_version %q, and pg_locks shows its own locks: %t", i.version, i.parameter, i.locks)}
}

// engineCheck is the engine that a pool's connections lead to, once the first one was made.
type engineCheck struct{ engine atomic.Pointer[Engine] }

// check finds out what a new connection leads to and readies it. The error is an
// *EngineError, an *UnsupportedError, or that of a statement.
func (s *engineCheck) check(ctx context.Context, c *pgx.Conn) error {
	i, err := identify(ctx, c.PgConn())
	if err != nil {
		return err
	}
	found, err := i.engine()
	if err != nil {
		return err
	}
	if err := i.supported(found); err != nil {
		return err
	}
	if !s.engine.CompareAndSwap(nil, &found) && *s.engine.Load() != found {
		return &EngineError{fmt.Sprintf("it is %s, where the connections before led to %s", i.version, s.engine.Load().Name())}
	}
	c.PgConn().CustomData()[engineKey] = found
	// Single statements rely on it as transactions do: on CockroachDB nothing but being
	// serializable guards them, and on PostgreSQL each has to see what was committed before it.
	if want := isolations[found]; i.isolation != want {
		return c.PgConn().Exec(ctx, "SET default_transaction_isolation = '"+want+"'").Close()
	}
	return nil
}

var isolations = map[Engine]string{Cockroach: "serializable", Postgres: "read committed"}

const engineKey = "engine"

// engineOf is what check found out of a connection of a pool.
func engineOf(c *pgx.Conn) Engine {
	e, _ := c.PgConn().CustomData()[engineKey].(Engine)
	return e
}

// Engine is what the database's server is.
func (db *DB) Engine(ctx context.Context) (Engine, error) {
	if e := db.checked.engine.Load(); e != nil {
		return *e, nil
	}
	conn, err := db.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()
	return engineOf(conn.Conn()), nil
}
