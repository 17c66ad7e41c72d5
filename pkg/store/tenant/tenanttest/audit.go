package tenanttest

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"visavis.dev/pkg/store/tenant"
)

// Every test that has a shard of this package fails where the product's own statements
// write a table of which no row is touched in the transaction. The check is by table: one of
// two rows that is not touched it does not find.
func init() { tenant.Audit(&auditor{audited: auditedTables(), exempt: byTest}) }

// auditedTables are those whose rows move with their organization.
func auditedTables() map[string]bool {
	tables := map[string]bool{}
	for _, t := range tenant.Tables {
		tables[t.Name] = !t.Stays
	}
	return tables
}

type auditor struct {
	audited map[string]bool
	// exempt says that the statement of whoever calls is not audited.
	exempt func() bool
}

// written are the tables that a transaction wrote, each with a statement that did.
type written struct {
	mu     sync.Mutex
	tables map[string]string
}

type (
	writtenKey struct{}
	textKey    struct{}
)

// Begin is part of tenant.Auditor.
func (*auditor) Begin(ctx context.Context) context.Context {
	return context.WithValue(ctx, writtenKey{}, &written{tables: map[string]string{}})
}

// Queued is part of tenant.Auditor.
func (a *auditor) Queued(ctx context.Context, sql string) {
	a.note(ctx, sql, pgconn.NewCommandTag("INSERT 0 1"))
}

// End is part of tenant.Auditor.
func (a *auditor) End(ctx context.Context, touched map[string]bool) error {
	w := ctx.Value(writtenKey{}).(*written)
	w.mu.Lock()
	defer w.mu.Unlock()
	for table, sql := range w.tables {
		if a.audited[table] && !touched[table] {
			return fmt.Errorf("a row of %s is written and none is touched, so that a move would lose it: %s", table, sql)
		}
	}
	return nil
}

// TraceQueryStart is part of pgx.QueryTracer.
func (*auditor) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, textKey{}, data.SQL)
}

// TraceQueryEnd is part of pgx.QueryTracer.
func (a *auditor) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	if sql, ok := ctx.Value(textKey{}).(string); ok && data.Err == nil {
		a.note(ctx, sql, data.CommandTag)
	}
}

// TraceBatchStart is part of pgx.BatchTracer.
func (*auditor) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery is part of pgx.BatchTracer.
func (a *auditor) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if data.Err == nil {
		a.note(ctx, data.SQL, data.CommandTag)
	}
}

// TraceBatchEnd is part of pgx.BatchTracer.
func (*auditor) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// writes finds the tables that a statement writes.
var writes = regexp.MustCompile(`(?i)\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+([a-z_]+)`)

// note notes what a statement of a transaction wrote.
func (a *auditor) note(ctx context.Context, sql string, tag pgconn.CommandTag) {
	w, ok := ctx.Value(writtenKey{}).(*written)
	if !ok || tag.RowsAffected() == 0 || a.exempt() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, found := range writes.FindAllStringSubmatch(sql, -1) {
		w.tables[found[1]] = sql
	}
}

// byTest says whether the function that sends a statement is a test's.
func byTest() bool {
	calls := make([]uintptr, 40)
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		name, ours := strings.CutPrefix(f.Function, "visavis.dev/")
		if !ours || strings.HasPrefix(name, "pkg/store/tenant.") || strings.HasPrefix(name, "pkg/store/database.") ||
			strings.HasPrefix(name, "pkg/store/tenant/tenanttest.(*auditor)") || name == "pkg/store/tenant/tenanttest.byTest" {
			continue
		}
		folder, _, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
		return strings.HasSuffix(f.File, "_test.go") || strings.HasSuffix(folder, "test")
	}
	return false
}
