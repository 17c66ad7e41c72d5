package tenant

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
)

// row is a row of a tenant table by its key, as move_dirty has it.
type row struct{ table, pk string }

// rowOf writes a key's parts so that KeyParts finds them again, whatever they contain.
func rowOf(table string, pk []fmt.Stringer) row {
	parts := make([]string, len(pk))
	for i, part := range pk {
		parts[i] = part.String()
	}
	return row{table, Table{}.PK(parts...)}
}

// PK is a key as move_dirty has it, of its parts after org_id.
func (Table) PK(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = url.PathEscape(part)
	}
	return strings.Join(escaped, "/")
}

// KeyParts are the parts after org_id of a key that move_dirty has.
func (t Table) KeyParts(pk string) ([]string, error) {
	if len(t.Key) == 0 {
		return nil, nil
	}
	parts := strings.Split(pk, "/")
	if len(parts) != len(t.Key) {
		return nil, fmt.Errorf("%q is no key of %s", pk, t.Name)
	}
	for i, part := range parts {
		var err error
		if parts[i], err = url.PathUnescape(part); err != nil {
			return nil, fmt.Errorf("%q is no key of %s: %w", pk, t.Name, err)
		}
	}
	return parts, nil
}

// queueJournal queues the notes of what a transaction touched, of organizations that are being
// copied elsewhere. A note that is there already is taken again: whoever takes it off
// the journal waits for this transaction's end and so sees what it wrote. In one order
// for all, so that two transactions do not wait for each other.
func queueJournal(b *pgx.Batch, touched map[id.Org]map[row]struct{}) {
	type note struct {
		org id.Org
		row
	}
	var notes []note
	for org, rows := range touched {
		for r := range rows {
			notes = append(notes, note{org, r})
		}
	}
	slices.SortFunc(notes, func(a, b note) int {
		return cmp.Or(bytes.Compare(a.org[:], b.org[:]), cmp.Compare(a.table, b.table), cmp.Compare(a.pk, b.pk))
	})
	for some := range slices.Chunk(notes, notedAtOnce) {
		var (
			orgs        []id.Org
			tables, pks []string
		)
		for _, n := range some {
			orgs, tables, pks = append(orgs, n.org), append(tables, n.table), append(pks, n.pk)
		}
		b.Queue(insertNoted, orgs, tables, pks)
	}
}

const (
	// notedAtOnce is how many notes a message has. A key is 2 KiB long at most, so that is
	// well below the 16 MiB that CockroachDB takes.
	notedAtOnce = 2000
	insertNoted = `
		INSERT INTO move_dirty (org_id, table_name, pk)
		SELECT o, t, p FROM unnest($1::UUID[], $2::TEXT[], $3::TEXT[]) AS touched (o, t, p) ORDER BY o, t, p
		ON CONFLICT (org_id, table_name, pk) DO UPDATE SET pk = excluded.pk`
)
