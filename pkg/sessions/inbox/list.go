package inbox

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Filter narrows a list; zero fields do not.
type Filter struct {
	Kinds    []Kind
	States   []State
	Bands    []Band
	Assignee id.Person
	Portal   id.Portal
	// Unassigned has only items that nobody deals with.
	Unassigned bool
	// Department is that of the items, in letters of either case.
	Department string
	// Tags are words that an item must all have.
	Tags []string
	// Query are the beginnings of words of the contact, all of which an item must have.
	Query    string
	From, To time.Time
	// OverdueAt has only items that are overdue at a moment.
	OverdueAt time.Time
	Ascending bool
}

// List is a page of the items, newest first unless Ascending, after one of them; the zero id
// for the first page. It rides the narrowest of inbox_term_pkey, inbox_item_due, inbox_item_by_assignee,
// inbox_item_by_department, inbox_item_by_portal, inbox_item_by_band, inbox_item_by_state, inbox_item_active,
// inbox_item_unassigned, inbox_item_by_kind and inbox_item_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.InboxItem, limit int) ([]Item, error) {
	sql, args, some := f.statement(org, after, limit)
	if !some {
		return nil, nil
	}
	return tenant.All(ctx, t, org, scan, sql, args...)
}

// Of are those of some items that are there, oldest first. It rides inbox_item_pkey.
func Of(ctx context.Context, t *tenant.Tenants, org id.Org, which []id.InboxItem) ([]Item, error) {
	return tenant.All(ctx, t, org, scan, `SELECT `+columns+` FROM inbox_item i WHERE i.org_id = $1 AND i.id = ANY($2) ORDER BY i.id`, org, which)
}

// Newest are, of some kinds, the newest items of mail addresses in lower case: one of each address, of those whose
// visitors may be written to. It rides inbox_item_by_email.
func Newest(ctx context.Context, t *tenant.Tenants, org id.Org, kinds []Kind, addresses []string) ([]Item, error) {
	return tenant.All(ctx, t, org, scan, selectNewest, org, addresses, kinds)
}

// NewestIn is Newest in a transaction.
func NewestIn(ctx context.Context, tx *tenant.Tx, kinds []Kind, addresses []string) ([]Item, error) {
	return tenant.AllIn(ctx, tx, scan, selectNewest, tx.Org, addresses, kinds)
}

const selectNewest = `
	SELECT DISTINCT ON (lower(i.contact->>'email')) ` + columns + ` FROM inbox_item i
	WHERE i.org_id = $1 AND lower(i.contact->>'email') = ANY($2) AND i.kind = ANY($3) AND i.forgotten_at IS NULL AND i.state <> 'spam'
		AND COALESCE(i.contact->'consent'->>'given', 'true') = 'true'
	ORDER BY lower(i.contact->>'email'), i.id DESC`

// OfAddresses are, of some kinds, all items of mail addresses in lower case. It rides inbox_item_by_email.
func OfAddresses(ctx context.Context, t *tenant.Tenants, org id.Org, kinds []Kind, addresses []string) ([]id.InboxItem, error) {
	return tenant.All(ctx, t, org, pgx.RowTo[id.InboxItem], `
		SELECT i.id FROM inbox_item i WHERE i.org_id = $1 AND lower(i.contact->>'email') = ANY($2) AND i.kind = ANY($3)`, org, addresses, kinds)
}

// statement chooses the statement; some is false where nothing can be found.
func (f Filter) statement(org id.Org, after id.InboxItem, limit int) (sql string, args []any, some bool) {
	least, most := f.window(after)
	args = []any{org, least, most, f.Kinds, f.States, f.Bands, moment(f.From), moment(f.To), f.Assignee, f.Portal, limit, moment(f.OverdueAt),
		f.Unassigned, f.Department}
	order := ` ORDER BY i.id DESC LIMIT $11`
	if f.Ascending {
		order = ` ORDER BY i.id LIMIT $11`
	}
	const narrow = `i.org_id = $1 AND i.id >= $2 AND i.id <= $3
		AND ($4::TEXT[] IS NULL OR i.kind = ANY($4)) AND ($5::TEXT[] IS NULL OR i.state = ANY($5)) AND ($6::TEXT[] IS NULL OR i.band = ANY($6))
		AND ($7::TIMESTAMPTZ IS NULL OR i.created_at >= $7) AND ($8::TIMESTAMPTZ IS NULL OR i.created_at < $8)
		AND ($9::UUID IS NULL OR i.assignee_id = $9) AND ($10::UUID IS NULL OR i.portal_id = $10)
		AND ($12::TIMESTAMPTZ IS NULL OR i.sla_due_at <= $12 AND i.state IN ('new', 'open', 'waiting', 'snoozed'))
		AND (NOT $13::BOOL OR i.assignee_id IS NULL) AND ($14::TEXT = '' OR lower(i.department) = lower($14))`
	if f.Query != "" || len(f.Tags) > 0 {
		terms := queryTerms(f.Query)
		if len(terms) == 0 && f.Query != "" {
			return "", nil, false
		}
		terms = append(terms, tagTerms(f.Tags)...)
		order = ` ORDER BY t.item_id DESC LIMIT $11`
		if f.Ascending {
			order = ` ORDER BY t.item_id LIMIT $11`
		}
		return `SELECT ` + columns + ` FROM inbox_term t JOIN inbox_item i ON i.org_id = t.org_id AND i.id = t.item_id
			WHERE t.org_id = $1 AND t.term = $15 AND t.item_id >= $2 AND t.item_id <= $3 AND ` + narrow + `
				AND (SELECT count(*) FROM inbox_term o WHERE o.org_id = $1 AND o.term = ANY($16) AND o.item_id = t.item_id) = $17` + order,
			append(args, terms[0], terms, len(terms)), true
	}
	sql = `SELECT ` + columns + ` FROM inbox_item i WHERE ` + narrow
	inactive := func(s State) bool { return !s.Active() }
	switch {
	case !f.OverdueAt.IsZero():
		return sql + ` AND i.sla_due_at IS NOT NULL AND i.state IN ('new', 'open', 'waiting', 'snoozed')` + order, args, true
	case !f.Assignee.IsZero():
		return sql + ` AND i.assignee_id = $15` + order, append(args, f.Assignee), true
	case f.Department != "":
		return sql + ` AND i.department IS NOT NULL AND lower(i.department) = lower($15)` + order, append(args, f.Department), true
	case !f.Portal.IsZero():
		return sql + ` AND i.portal_id = $15` + order, append(args, f.Portal), true
	case len(f.Bands) == 1:
		return sql + ` AND i.band = $15` + order, append(args, f.Bands[0]), true
	case len(f.States) == 1:
		return sql + ` AND i.state = $15` + order, append(args, f.States[0]), true
	case f.States != nil && !slices.ContainsFunc(f.States, inactive):
		return sql + ` AND i.state IN ('new', 'open', 'waiting', 'snoozed')` + order, args, true
	case f.Unassigned:
		return sql + ` AND i.assignee_id IS NULL` + order, args, true
	case len(f.Kinds) == 1:
		return sql + ` AND i.kind = $15` + order, append(args, f.Kinds[0]), true
	}
	return sql + order, args, true
}

// slack is how far an item's id may be from the moment it was created, by the clocks of two
// machines.
const slack = time.Hour

// window are the ids that a page can have, both included.
func (f Filter) window(after id.InboxItem) (least, most uuid.UUID) {
	most = uuid.Max
	if !f.From.IsZero() {
		least = uuid.UUID(id.FirstInboxItem(f.From.Add(-slack)))
	}
	if !f.To.IsZero() {
		most = uuid.UUID(id.FirstInboxItem(f.To.Add(slack)))
	}
	compare := func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
	switch {
	case after.IsZero():
	case f.Ascending:
		least = slices.MaxFunc([]uuid.UUID{least, uuid.UUID(after.Next())}, compare)
	default:
		most = slices.MinFunc([]uuid.UUID{most, before(after)}, compare)
	}
	return least, most
}

// before is the id right before one.
func before(i id.InboxItem) uuid.UUID {
	u := uuid.UUID(i)
	for at := len(u) - 1; at >= 0; at-- {
		u[at]--
		if u[at] != 0xff {
			break
		}
	}
	return u
}

// moment is a time of a filter; nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
