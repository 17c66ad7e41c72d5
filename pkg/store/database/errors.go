package database

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// serialization says whether the engine asks for the transaction to be run
// again: serialization_failure or deadlock_detected.
func serialization(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// lostConnection says whether the connection broke under the transaction.
// Before COMMIT that means nothing was committed.
func lostConnection(err error) bool {
	if errors.Is(err, ErrOutcomeUnknown) {
		return false
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return shutdownCode(pg.Code)
	}
	var netErr net.Error
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.As(err, &netErr) && !netErr.Timeout() ||
		strings.Contains(err.Error(), "conn closed")
}

// Unavailable says whether an error means that the database cannot be used
// right now, as against a fault in what it was asked.
func Unavailable(err error) bool {
	if err == nil {
		return false
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return shutdownCode(pg.Code) || serialization(err) ||
			pg.Code == "57014" || // query_canceled: statement_timeout
			strings.HasPrefix(pg.Code, "53") // insufficient resources: connections, memory, disk
	}
	var (
		connect *pgconn.ConnectError
		netErr  net.Error // also those that lostConnection leaves out: time-outs
	)
	return errors.As(err, &connect) || errors.As(err, &netErr) || errors.Is(err, ErrOutcomeUnknown) ||
		errors.Is(err, context.DeadlineExceeded) || lostConnection(err)
}

// shutdownCode: class 08 (connection exception), 57P01–57P05 (the server is
// going away or starting), 25006 (a primary that became a standby).
func shutdownCode(code string) bool {
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P") || code == "25006"
}

// NoTable says whether err is that of a statement about a table that is not there.
func NoTable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42P01"
}

// Violates says whether err is the violation of the named constraint.
func Violates(err error, constraint string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.HasPrefix(pg.Code, "23") && pg.ConstraintName == constraint
}
