package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Member is somebody of the organization's people who deals with items, and when they are there.
type Member struct {
	Person id.Person
	// Away says that they get no items in turn: until AwayUntil, or until they are back where that is nil.
	Away        bool
	AwayUntil   *time.Time
	Departments []string
	// Week is when they work; nil for any time.
	Week      *Week
	UpdatedAt time.Time
	// Joins says that they are mailed a way into conversations whose visitors wait for a person.
	Joins bool
}

// MemberNoun is what errors call a member of the team.
const MemberNoun errdefs.Noun = "team member"

// MaxMembers is how many members a team can have, and ReasonMembers the reason of a conflict: it has as many.
const (
	MaxMembers    = 200
	ReasonMembers = "too_many_members"
)

// AwayWithin is for how long somebody can say to be away; for longer they are until they say otherwise.
const AwayWithin = 366 * 24 * time.Hour

// There says whether they get items in turn at a moment.
func (m *Member) There(at time.Time) bool {
	if m.Away && (m.AwayUntil == nil || m.AwayUntil.After(at)) {
		return false
	}
	return m.Week == nil || m.Week.open(at)
}

const memberColumns = `person_id, away, away_until, departments, hours, updated_at, joins`

func scanMember(row pgx.CollectableRow) (Member, error) { return pgx.RowToStructByPos[Member](row) }

// Members are a page of the team by their ids, after one; the zero id for the first page. It rides inbox_member_pkey.
func Members(ctx context.Context, t *tenant.Tenants, org id.Org, after id.Person, limit int) ([]Member, error) {
	return tenant.All(ctx, t, org, scanMember, `
		SELECT `+memberColumns+` FROM inbox_member WHERE org_id = $1 AND ($2::UUID IS NULL OR person_id > $2) ORDER BY person_id LIMIT $3`,
		org, after, limit)
}

// TeamByMail are the members of the team who are not gone, by their mail addresses in lower case. It rides inbox_member_pkey, person_pkey and
// membership_by_person.
func TeamByMail(ctx context.Context, t *tenant.Tenants, org id.Org, at time.Time) (map[string]id.Person, error) {
	type member struct {
		Person id.Person
		Mail   string
	}
	found, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[member], `
		SELECT p.id, lower(p.email) FROM inbox_member m JOIN person p ON p.org_id = m.org_id AND p.id = m.person_id
		WHERE m.org_id = $1 AND p.email IS NOT NULL AND `+notGone+` ORDER BY p.id DESC`, org, at)
	team := map[string]id.Person{}
	for _, m := range found {
		team[m.Mail] = m.Person // the oldest of an address
	}
	return team, err
}

// Save enters a member, or changes them. The error is an errdefs.Invalid, or an errdefs.Conflict where there are too many.
func (m *Member) Save(ctx context.Context, tx *tenant.Tx, who activity.Actor) error {
	m.UpdatedAt = who.At
	switch {
	case m.AwayUntil != nil && !m.Away:
		return errdefs.InvalidField("awayUntil", "is of who is away")
	case m.AwayUntil != nil && (!m.AwayUntil.After(who.At) || m.AwayUntil.After(who.At.Add(AwayWithin))):
		return errdefs.InvalidField("awayUntil", "must lie ahead, by a year at most")
	case m.Week != nil:
		if err := below(m.Week.Check(), "hours."); err != nil {
			return err
		}
	}
	if err := tx.Add(ctx, memberLimits, 0); err != nil {
		return err
	}
	tx.Touch("inbox_member", m.Person)
	tag, err := tx.Exec(ctx, `
		INSERT INTO inbox_member (org_id, person_id, away, away_until, departments, hours, updated_at, joins)
		SELECT $1, $2, $3, $4, $5, $6, $7, $9 WHERE (SELECT count(*) FROM inbox_member WHERE org_id = $1 AND person_id <> $2) < $8
		ON CONFLICT (org_id, person_id) DO UPDATE SET away = excluded.away, away_until = excluded.away_until, departments = excluded.departments,
			hours = excluded.hours, updated_at = excluded.updated_at, joins = excluded.joins`,
		tx.Org, m.Person, m.Away, m.AwayUntil, m.Departments, m.Week, m.UpdatedAt, MaxMembers, m.Joins)
	if err == nil && tag.RowsAffected() == 0 {
		err = &errdefs.Conflict{Noun: MemberNoun, Reason: ReasonMembers, Message: fmt.Sprintf("The team has %d members, which is as many as it can have.", MaxMembers)}
	}
	who.Log(tx, "inbox_member.set", "person", m.Person, map[string]any{"away": m.Away, "joins": m.Joins})
	return err
}

// StopJoining sends somebody of the team no more ways into conversations, until they are allowed to
// join anew: their address changed, and who changes addresses may not read conversations.
func StopJoining(ctx context.Context, tx *tenant.Tx, which id.Person, who activity.Actor) error {
	tx.Touch("inbox_member", which)
	tag, err := tx.Exec(ctx, `
		UPDATE inbox_member SET joins = FALSE, updated_at = $3 WHERE org_id = $1 AND person_id = $2 AND joins`, tx.Org, which, who.At)
	if err == nil && tag.RowsAffected() > 0 {
		who.Log(tx, "inbox_member.set", "person", which, map[string]any{"joins": false})
	}
	return err
}

// RemoveMember takes somebody out of the team, and says whether they were in it.
func RemoveMember(ctx context.Context, tx *tenant.Tx, which id.Person) (bool, error) {
	tag, err := tx.Exec(ctx, `DELETE FROM inbox_member WHERE org_id = $1 AND person_id = $2`, tx.Org, which)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	tx.Touch("inbox_member", which)
	return true, nil
}
