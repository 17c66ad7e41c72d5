package route

import (
	"slices"
	"strings"

	"visavis.dev/pkg/base/problem"
)

// Paging is the query of every list (spec, Endpoints).
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many items a page holds at most."`
	Cursor string `query:"cursor" pattern:"^[A-Za-z0-9_-]{1,200}$" doc:"The previous page's nextCursor. It belongs to its list and its filters."`
}

// After reads where the page before this one ended; nil for the first page.
func After[P any](c *Call, p Paging) (*P, error) {
	if p.Cursor == "" {
		return nil, nil
	}
	var position P
	if err := c.service.Cursors.Open(c.list(), p.Cursor, &position); err != nil {
		return nil, problem.Invalid("query.cursor", "The cursor does not belong to this list and its filters.").WithCause(err)
	}
	return &position, nil
}

// Paged makes a page of items that were asked for with one more than the
// limit, to know whether there is another page. at is an item's position.
func Paged[T, P any](c *Call, p Paging, items []T, at func(T) P) (Page[T], error) {
	if len(items) <= p.Limit {
		return Page[T]{Items: items}, nil
	}
	items = items[:p.Limit]
	next, err := c.service.Cursors.Seal(c.list(), at(items[len(items)-1]))
	return Page[T]{Items: items, Next: &next}, err
}

// Listed makes a list's page: find finds items that come after a position, the
// zero one for the first page, at is an item's position, and show makes the
// answer's form of it. The cursor is looked at before the filters, which find reads.
func Listed[P, T, O any](c *Call, p Paging, find func(after P, limit int) ([]T, error), at func(T) P, show func(T) O) (Page[O], error) {
	after, err := After[P](c, p)
	if err != nil {
		return Page[O]{}, err
	}
	if after == nil {
		after = new(P)
	}
	found, err := find(*after, p.Limit+1)
	if err != nil {
		return Page[O]{}, err
	}
	page, err := Paged(c, p, found, at)
	return Map(page, show), err
}

// Several reads values of a filter, separated by commas; nil for none.
func Several[T ~string](name, text string, known []T) (values []T, err error) {
	if text == "" {
		return nil, nil
	}
	for value := range strings.SplitSeq(text, ",") {
		if !slices.Contains(known, T(value)) {
			return nil, problem.Invalid("query."+name, "%s takes %s, separated by commas.", name, problem.And(known))
		}
		values = append(values, T(value))
	}
	return values, nil
}

// Map makes a page of other items.
func Map[T, U any](p Page[T], f func(T) U) Page[U] {
	items := make([]U, len(p.Items))
	for i, item := range p.Items {
		items[i] = f(item)
	}
	return Page[U]{Items: items, Next: p.Next}
}

// list names the list a cursor belongs to: operation, path, organization and filters. A
// list that is read without a key is nobody's own.
func (c *Call) list() string {
	org := ""
	if c.Principal != nil {
		org = c.Org().String()
	}
	query := c.request.URL.Query()
	query.Del("limit")
	query.Del("cursor")
	for name, values := range query {
		slices.Sort(values)
		query[name] = values
	}
	return strings.Join([]string{c.Op.ID, c.request.URL.Path, org, query.Encode()}, "\n")
}
