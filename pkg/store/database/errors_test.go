package database_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
)

func TestUnavailable(t *testing.T) {
	pg := func(code string) error { return fmt.Errorf("query: %w", &pgconn.PgError{Code: code}) }
	tests := map[string]struct {
		err  error
		want bool
	}{
		"none":                  {nil, false},
		"a fault of ours":       {errors.New("other"), false},
		"no rows":               {pgx.ErrNoRows, false},
		"unique violation":      {pg("23505"), false},
		"syntax error":          {pg("42601"), false},
		"the caller went":       {context.Canceled, false},
		"deadline":              {fmt.Errorf("query: %w", context.DeadlineExceeded), true},
		"outcome unknown":       {fmt.Errorf("x: %w", database.ErrOutcomeUnknown), true},
		"serialization failure": {pg("40001"), true},
		"deadlock":              {pg("40P01"), true},
		"statement time-out":    {pg("57014"), true},
		"too many connections":  {pg("53300"), true},
		"disk full":             {pg("53100"), true},
		"shutdown":              {pg("57P01"), true},
		"starting up":           {pg("57P03"), true},
		"connection failure":    {pg("08006"), true},
		"standby":               {pg("25006"), true},
		"end of file":           {fmt.Errorf("read: %w", io.EOF), true},
		"cut short":             {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		"connection reset":      {&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, true},
		"the network timed out": {&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}, true},
		"closed connection":     {errors.New("conn closed"), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, database.Unavailable(tt.err)) })
	}
}

func TestUnreachableServerIsUnavailable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	db, err := database.Open("postgres://nobody@"+l.Addr().String()+"/none?sslmode=disable", database.PoolOptions{})
	require.NoError(t, err, "opening does not connect")
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = db.InTx(ctx, database.TxOptions{}, addEffect)
	require.True(t, database.Unavailable(err), "%v", err)
}

func TestViolates(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	_, err := w.direct.Exec(ctx, `
		CREATE TABLE town (name TEXT CONSTRAINT town_pkey PRIMARY KEY, n BIGINT CONSTRAINT town_n_check CHECK (n > 0));
		INSERT INTO town VALUES ('Bath', 1)`)
	require.NoError(t, err)
	const unique, check = `INSERT INTO town VALUES ('Bath', 1)`, `INSERT INTO town VALUES ('York', 0)`
	tests := map[string]struct {
		sql, constraint string
		want            bool
	}{
		"unique":             {unique, "town_pkey", true},
		"another constraint": {unique, "town_n_check", false},
		"check":              {check, "town_n_check", true},
		"no violation":       {`SELECT 1/0`, "", false},
		"none":               {`SELECT 1`, "town_pkey", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := w.direct.Exec(ctx, tt.sql)
			require.Equal(t, tt.want, database.Violates(err, tt.constraint), "%v", err)
		})
	}
}
