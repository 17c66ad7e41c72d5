package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Colleague is a team member in a live conversation.
type Colleague struct {
	ID   id.Staff
	Name string
	// Mode is listen, speak or takeover.
	Mode             string
	JoinedAt, LeftAt *time.Time
	// Most is the mode that they were invited for: the one that may do most of those that they
	// may be in.
	Most string
	// Called says that they were called by mail, as others were: they come for the first time only while nobody else is
	// there who can talk.
	Called bool
}

// The modes of team members, each of which may do what those before it may.
const (
	Listen   = "listen"
	Speak    = "speak"
	Takeover = "takeover"
)

var staffModes = []string{Listen, Speak, Takeover}

// Modes are the modes that the team member may be in.
func (c Colleague) Modes() []string {
	return slices.Clone(staffModes[:slices.Index(staffModes, c.Most)+1])
}

// HasWayIn says whether a team member may be sent a page to join by: while it is live, unless nobody reads a young learner's
// words, or a candidate's.
func (s Session) HasWayIn() bool {
	return s.State == Live && s.Kind != Screening && !s.ofLearner()
}

// StaffWithin is how long a team member's token lets in.
const StaffWithin = 10 * time.Minute

const colleagueColumns = `id, name, mode, joined_at, left_at, most, called`

func scanColleague(row pgx.CollectableRow) (Colleague, error) {
	c, err := pgx.RowToStructByPos[Colleague](row)
	c.Most = cmp.Or(c.Most, c.Mode)
	return c, err
}

// Invite makes the token by which a team member joins a session.
func Invite(ctx context.Context, tx *tenant.Tx, s Session, c Colleague, who activity.Actor) (Token, error) {
	tx.Touch("session_staff", s.ID, c.ID)
	if _, err := tx.Exec(ctx, `INSERT INTO session_staff (org_id, session_id, id, name, mode, most, called) VALUES ($1, $2, $3, $4, $5, $5, $6)`,
		tx.Org, s.ID, c.ID, c.Name, c.Mode, c.Called); err != nil {
		return "", err
	}
	token := newToken(tx.Org)
	if err := insertToken(ctx, tx, token, s.ID, staffToken, c.ID, who.At.Add(StaffWithin)); err != nil {
		return "", err
	}
	who.Log(tx, "session.staff_invited", "session", s.ID, map[string]any{"staffId": c.ID, "mode": c.Mode})
	return token, nil
}

// ErrAttended says that another of those who were called came first.
var ErrAttended = errors.New("another team member is there")

// attending is the condition that a row of session_staff, named o, is of somebody who is in and can talk.
const attending = `o.joined_at IS NOT NULL AND o.left_at IS NULL AND COALESCE(NULLIF(o.most, ''), o.mode) <> 'listen'`

// StillInvited has the token of a team member who did not use it let in from now on for as long as a new one would, and
// says whether there is one.
func StillInvited(ctx context.Context, tx *tenant.Tx, s Session, staff id.Staff, now time.Time) (bool, error) {
	n, err := changeTokens(ctx, tx, `
		UPDATE session_token SET expires_at = $4
		WHERE org_id = $1 AND session_id = $2 AND kind = 'staff' AND staff_id = $3 AND NOT EXISTS (
			SELECT 1 FROM session_staff c WHERE c.org_id = $1 AND c.session_id = $2 AND c.id = $3 AND c.joined_at IS NOT NULL)
		RETURNING hash`, tx.Org, s.ID, staff, now.Add(StaffWithin))
	return n > 0, err
}

// Join notes that a team member came into a session that the caller runs. One
// who comes again is in as before. The error is ErrAttended where they were called and another
// came first.
func Join(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, staff id.Staff, now time.Time) (Colleague, error) {
	s, err := lockOwned(ctx, tx, which, epoch)
	if err != nil {
		return Colleague{}, err
	}
	c, err := lockStaff(ctx, tx, which, staff)
	if err != nil || c.JoinedAt != nil && c.LeftAt == nil {
		return c, err
	}
	if c.Called && c.JoinedAt == nil {
		var attended bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM session_staff o WHERE o.org_id = $1 AND o.session_id = $2 AND `+attending+`)`,
			tx.Org, which).Scan(&attended); err != nil || attended {
			return c, cmp.Or(err, ErrAttended)
		}
	}
	c.JoinedAt, c.LeftAt = &now, nil
	if err := c.save(ctx, tx, which); err != nil {
		return c, err
	}
	asked, err := inbox.Joined(ctx, tx, which, staff, c.Most == Listen, now)
	if err != nil {
		return c, err
	}
	// Where nobody asked for a person, the visitor talked all the time.
	waited := int64(now.Sub(*s.StartedAt) / time.Second)
	var item id.InboxItem
	if asked != nil {
		item = asked.ID
		if s := asked.WaitS(); s != nil {
			waited = *s
		} else if asked.WaitingSince != nil { // for somebody else than who only listens
			waited = int64(now.Sub(*asked.WaitingSince) / time.Second)
		}
	}
	fields := s.staffFields(c, item)
	fields["waitS"], fields["joinedAt"] = waited, now.UTC()
	event.Emit(tx, event.Draft{Type: event.HandoffJoined, At: now, Session: which, Fields: fields})
	return c, nil
}

// SwitchMode notes the mode that a team member is in from now on, of those they were invited for,
// in a session that the caller runs.
func SwitchMode(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, staff id.Staff, mode string) error {
	if _, err := lockOwned(ctx, tx, which, epoch); err != nil {
		return err
	}
	c, err := lockStaff(ctx, tx, which, staff)
	if err != nil || !slices.Contains(c.Modes(), mode) {
		return err
	}
	c.Mode = mode
	return c.save(ctx, tx, which)
}

// RenewStaff gives a team member of a session that the caller runs another token to come back by.
// The one they came with stays good for a while: the new one may never reach them.
func RenewStaff(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, staff id.Staff, now time.Time) (Token, error) {
	s, err := lockOwned(ctx, tx, which, epoch)
	if err != nil {
		return "", err
	}
	if _, err := changeTokens(ctx, tx, `
		UPDATE session_token SET expires_at = $4
		WHERE org_id = $1 AND session_id = $2 AND kind = 'staff' AND staff_id = $3 AND expires_at > $4 RETURNING hash`,
		tx.Org, s.ID, staff, now.Add(ResumeWithin)); err != nil {
		return "", err
	}
	token := newToken(tx.Org)
	return token, insertToken(ctx, tx, token, s.ID, staffToken, staff, now.Add(time.Duration(s.MaxDurationS)*time.Second+ResumeWithin))
}

// Present are the team members who are in a session, as far as it is known.
func Present(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Session) ([]Colleague, error) {
	return tenant.All(ctx, t, org, scanColleague, `
		SELECT `+colleagueColumns+` FROM session_staff
		WHERE org_id = $1 AND session_id = $2 AND joined_at IS NOT NULL AND left_at IS NULL ORDER BY id`, org, which)
}

// Invited is a team member who was invited to a session. The error is errdefs.NotFound.
func Invited(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Session, staff id.Staff) (Colleague, error) {
	return tenant.One(ctx, t, org, scanColleague, Noun.NotFound(which), `
		SELECT `+colleagueColumns+` FROM session_staff WHERE org_id = $1 AND session_id = $2 AND id = $3`, org, which, staff)
}

// Leave notes that a team member left a session that the caller runs.
func Leave(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, staff id.Staff, now time.Time) error {
	s, err := lockOwned(ctx, tx, which, epoch)
	if err != nil {
		return err
	}
	c, err := lockStaff(ctx, tx, which, staff)
	if err != nil || c.JoinedAt == nil || c.LeftAt != nil {
		return err
	}
	c.LeftAt = &now
	if err := c.save(ctx, tx, which); err != nil {
		return err
	}
	item, err := inbox.OfHandoff(ctx, tx, which)
	event.Emit(tx, s.leftDraft(c, item, true))
	return err
}

// sendStaffOut ends the presence of everybody in a session that ends.
func sendStaffOut(ctx context.Context, tx *tenant.Tx, s Session, at time.Time) error {
	var item id.InboxItem
	rows, err := tx.Query(ctx, `
		UPDATE session_staff SET left_at = GREATEST(joined_at, $3::TIMESTAMPTZ)
		WHERE org_id = $1 AND session_id = $2 AND joined_at IS NOT NULL AND left_at IS NULL RETURNING `+colleagueColumns, tx.Org, s.ID, at)
	if err != nil {
		return err
	}
	left, err := pgx.CollectRows(rows, scanColleague)
	if err == nil && len(left) > 0 {
		item, err = inbox.OfHandoff(ctx, tx, s.ID)
	}
	slices.SortFunc(left, func(a, b Colleague) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for _, c := range left {
		tx.Touch("session_staff", s.ID, c.ID)
		event.Emit(tx, s.leftDraft(c, item, false))
	}
	return err
}

func (s Session) leftDraft(c Colleague, item id.InboxItem, returned bool) event.Draft {
	fields := s.staffFields(c, item)
	fields["durationS"] = int64(c.LeftAt.Sub(*c.JoinedAt) / time.Second)
	fields["returnedToAvatar"], fields["leftAt"] = returned, c.LeftAt.UTC()
	return event.Draft{Type: event.HandoffLeft, At: *c.LeftAt, Session: s.ID, Fields: fields}
}

// staffFields are what events about a team member in the session share; the item is of the
// inbox, zero where nobody asked for a person.
func (s Session) staffFields(c Colleague, item id.InboxItem) map[string]any {
	fields := map[string]any{"sessionId": s.ID, "staffId": c.ID, "mode": c.Mode}
	if !s.Portal.IsZero() {
		fields["portalId"] = s.Portal
	}
	if !item.IsZero() {
		fields["inboxItemId"] = item
	}
	return fields
}

func lockStaff(ctx context.Context, tx *tenant.Tx, s id.Session, staff id.Staff) (Colleague, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+colleagueColumns+` FROM session_staff WHERE org_id = $1 AND session_id = $2 AND id = $3 FOR UPDATE`, tx.Org, s, staff)
	if err != nil {
		return Colleague{}, err
	}
	found, err := pgx.CollectRows(rows, scanColleague)
	if err != nil || len(found) == 0 {
		return Colleague{}, errors.Join(err, Noun.NotFound(s))
	}
	return found[0], nil
}

func (c Colleague) save(ctx context.Context, tx *tenant.Tx, s id.Session) error {
	tx.Touch("session_staff", s, c.ID)
	_, err := tx.Exec(ctx, `
		UPDATE session_staff SET joined_at = $4, left_at = $5, mode = $6, most = $7 WHERE org_id = $1 AND session_id = $2 AND id = $3`,
		tx.Org, s, c.ID, c.JoinedAt, c.LeftAt, c.Mode, c.Most)
	return err
}

// ShownName is a name on one line, without what could show it, or what stands beside it, as
// something else.
func ShownName(name string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d', r == utf8.RuneError:
			return -1 // joiners are part of names in several scripts
		}
		return r
	}, name)), " ")
}

// StaffPath is under what the pages are on which team members join conversations.
const StaffPath = "/p/~staff/"

// StaffURL is the page on which a team member joins a session, below where the pages are, for
// whoever has their token.
func StaffURL(pages string, which id.Session, token string) string {
	return pages + StaffPath + which.String() + "#" + token
}
