package database

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Engine is the kind of server on the other end.
type Engine string

// The engines every statement is written for.
const (
	Cockroach Engine = "cockroach"
	Postgres  Engine = "postgres"
)

// DB is a pool of connections to one database.
type DB struct {
	*pgxpool.Pool
}

// PoolOptions bound a pool.
type PoolOptions struct {
	// MaxConns is the largest number of connections; zero means 16.
	MaxConns int32
	// Tracer observes statements; nil for none.
	Tracer pgx.QueryTracer
}

// Open makes a pool for a postgres:// URL. It does not connect: a server that
// is away at start is the same as one that goes away later.
func Open(url string, o PoolOptions) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// pgx redacts the password from its own message.
		return nil, fmt.Errorf("database URL: %w", err)
	}
	cfg.MaxConns = 16
	if o.MaxConns > 0 {
		cfg.MaxConns = o.MaxConns
	}
	cfg.ConnConfig.Tracer = o.Tracer
	cfg.ConnConfig.ConnectTimeout = 3 * time.Second
	cfg.MaxConnIdleTime = 5 * time.Minute
	cfg.MaxConnLifetime = time.Hour
	cfg.MaxConnLifetimeJitter = 10 * time.Minute
	cfg.HealthCheckPeriod = 15 * time.Second
	params := cfg.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "visavis"
	}
	// A statement that outlives its request holds locks for nobody.
	if params["statement_timeout"] == "" {
		params["statement_timeout"] = "30s"
	}
	if params["idle_in_transaction_session_timeout"] == "" {
		params["idle_in_transaction_session_timeout"] = "60s"
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, fmt.Errorf("database pool: %w", err)
	}
	return &DB{pool}, nil
}

// engineOf reads what the server said of itself when the connection began.
func engineOf(c *pgx.Conn) Engine {
	if c.PgConn().ParameterStatus("crdb_version") != "" {
		return Cockroach
	}
	return Postgres
}
