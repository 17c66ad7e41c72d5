package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Correct writes what a candidate is called and how they are reached, of one who is locked and was
// changed from before. The record says what was corrected, and not what it says. What was mailed to
// another address opens nothing any more. The error is an errdefs.Invalid or ErrOnHold.
func Correct(ctx context.Context, tx *tenant.Tx, before, c Candidate, who activity.Actor) (Candidate, error) {
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	if before.OnHold {
		return before, ErrOnHold
	}
	for field, value := range map[string]string{"name": c.Name, "phone": pointed(c.Phone)} {
		if strings.ContainsFunc(value, unicode.IsControl) {
			return before, errdefs.InvalidField(field, "has a line break or another control character")
		}
	}
	if strings.TrimSpace(c.Name) == "" {
		return before, errdefs.InvalidField("name", "is empty")
	}
	if strings.TrimSpace(pointed(c.Phone)) == "" {
		c.Phone = nil
	}
	fields := []string{}
	if c.Name != before.Name {
		fields = append(fields, "name")
	}
	if !same(c.Email, before.Email) {
		fields = append(fields, "email")
		if err := c.readdress(ctx, tx); err != nil {
			return c, err
		}
		if before.emailKey != nil && !same(c.emailKey, before.emailKey) {
			if err := c.revoke(ctx, tx, who.At); err != nil {
				return c, err
			}
		}
	}
	if !same(c.Phone, before.Phone) {
		fields = append(fields, "phone")
	}
	if len(fields) == 0 {
		return before, nil
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: correctedAction, Data: map[string]any{"fields": fields}}); err != nil {
		return c, err
	}
	who.Log(tx, "candidate.corrected", "candidate", c.ID, map[string]any{"fields": fields})
	err := c.Save(ctx, tx, who.At)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "23505" && pg.ConstraintName == "candidate_by_email" {
		err = errdefs.InvalidField("email", duplicate) // another took it at the same moment
	}
	return c, err
}

// correctedAction is of the entry that says which fields were corrected.
const correctedAction = "candidate.corrected"

// Readdressed says whether a candidate's address was entered, changed or removed since they were invited, as their record has it.
func Readdressed(entries []record.Entry) bool {
	return slices.ContainsFunc(entries, func(e record.Entry) bool {
		var facts struct {
			Fields []string `json:"fields"`
		}
		return e.Action == correctedAction && (json.Unmarshal([]byte(e.Data), &facts) != nil || slices.Contains(facts.Fields, "email"))
	})
}

// pointed is a value, or nothing.
func pointed(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// revoke ends the links that were mailed to an address that is no more the candidate's, and whoever
// came by one is out. A mail that waits goes to the new address, with another link.
func (c *Candidate) revoke(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	v, err := FindInvite(ctx, tx, c.Invite)
	if err != nil {
		return err
	}
	c.LinkAt = &at
	if v.Channel == ByEmail {
		return v.reopen(ctx, tx, NewToken()) // which nobody has
	}
	return v.dropLinks(ctx, tx, 0)
}

// readdress takes a new address, which no other candidate of the role has. It rides
// candidate_by_email.
func (c *Candidate) readdress(ctx context.Context, tx *tenant.Tx) error {
	if c.emailKey = nil; c.Email == nil {
		return nil
	}
	address, key, ok := person.Address(*c.Email)
	if !ok {
		return errdefs.InvalidField("email", "is no e-mail address")
	}
	c.Email, c.emailKey = &address, &key
	others, err := tenant.AllIn(ctx, tx, pgx.RowTo[string], `
		SELECT email_key FROM candidate WHERE org_id = $1 AND role_id = $2 AND email_key = $3 AND id <> $4 AND state NOT IN ('withdrawn', 'erased')`,
		tx.Org, c.Role, key, c.ID)
	if err == nil && len(others) > 0 {
		err = errdefs.InvalidField("email", duplicate)
	}
	return err
}
