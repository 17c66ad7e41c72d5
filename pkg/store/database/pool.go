package database

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DB is a pool of connections to one database.
type DB struct {
	*pgxpool.Pool
	checked *engineCheck
}

// PoolOptions bound a pool.
type PoolOptions struct {
	// MaxConns is the largest number of connections; zero means 16.
	MaxConns int32
	// CheckAfter is how long a connection may lie idle and still be used without asking the
	// server first whether it is there, which is a trip and a transaction; zero means a second.
	CheckAfter time.Duration
	// Tracer observes statements; nil for none.
	Tracer pgx.QueryTracer
	// URL is what new connections go by so that another password or
	// address reaches a running process; nil for the one that the pool was made for. While
	// it fails they go by that one. What is open stays open until Reset.
	URL func(context.Context) (string, error)
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
	if o.CheckAfter > 0 {
		cfg.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > o.CheckAfter }
	}
	cfg.ConnConfig.Tracer = o.Tracer
	// Whoever waits for a connection has a deadline of their own. A slow server, which
	// answers several times before one is made, must be able to make one at all.
	cfg.ConnConfig.ConnectTimeout = 15 * time.Second
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
	if o.URL != nil {
		cfg.BeforeConnect = aim(o.URL)
	}
	engine := &engineCheck{}
	cfg.AfterConnect = engine.check
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, fmt.Errorf("database pool: %w", err)
	}
	return &DB{pool, engine}, nil
}

// closeWithin bounds how long Close waits for connections whose server does not answer.
const closeWithin = 5 * time.Second

// Close closes the pool and waits for its connections to end, for some seconds at most:
// what waits for a server that does not answer ends by itself later.
func (db *DB) Close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		db.Pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closeWithin):
	}
}

// aim points a connection that is about to be made at where its database is by now.
func aim(url func(context.Context) (string, error)) func(context.Context, *pgx.ConnConfig) error {
	return func(ctx context.Context, c *pgx.ConnConfig) error {
		now, err := url(ctx)
		if err != nil {
			return nil //nolint:nilerr // a directory that is away takes no shard with it
		}
		to, err := pgx.ParseConfig(now)
		if err != nil {
			return nil //nolint:nilerr // whoever wrote it there is told
		}
		c.Host, c.Port, c.Database, c.User, c.Password = to.Host, to.Port, to.Database, to.User, to.Password
		c.TLSConfig, c.Fallbacks = to.TLSConfig, to.Fallbacks
		return nil
	}
}
