package database

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// EngineOf asks what the server of a connection is that is no pool's. The error may be an
// *EngineError.
func EngineOf(ctx context.Context, c *pgx.Conn) (Engine, error) {
	i, err := identify(ctx, c.PgConn())
	if err != nil {
		return "", err
	}
	return i.engine()
}

// Create makes an empty database beside the one that a connection is to, in UTF-8 and with
// the C collation, which CockroachDB always has.
func Create(ctx context.Context, c *pgx.Conn, name string) error {
	engine, err := EngineOf(ctx, c)
	if err != nil {
		return err
	}
	sql := `CREATE DATABASE ` + pgx.Identifier{name}.Sanitize()
	if engine == Postgres {
		sql += ` TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`
	}
	_, err = c.Exec(ctx, sql)
	return err
}

// Drop deletes a database beside the one that a connection is to, whoever uses it, if there
// is one.
func Drop(ctx context.Context, c *pgx.Conn, name string) error {
	engine, err := EngineOf(ctx, c)
	if err != nil {
		return err
	}
	how := ` WITH (FORCE)`
	if engine == Cockroach {
		how = ` CASCADE`
	}
	_, err = c.Exec(ctx, `DROP DATABASE IF EXISTS `+pgx.Identifier{name}.Sanitize()+how)
	return err
}
