package course

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/store/tenant"
)

var (
	// errOvertaken says that another reading of the course was begun, or its connection is another than it was.
	errOvertaken = errors.New("another reading of the course was begun")
	// errClosed says that nobody comes to the portal from courses.
	errClosed = errors.New("the portal is not open to those who come from courses")
)

// atOnce is how many members get their places in one commit.
const atOnce = 50

// enroll gives members their places, a few in each commit. Who has theirs is left as they are, so that it can be done
// again after a crash.
func (r *Reader) enroll(ctx context.Context, c *Course, o *connection.Opened, at *progress, all []lti.Member, now time.Time) error {
	terms, err := r.Terms(ctx, o.Org)
	if err != nil {
		return err
	}
	if at.Reading == 0 {
		if at.Reading, err = r.begin(ctx, c, o, now); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(all, atOnce) {
		var e enrolling
		if err := r.Tenants.InTx(ctx, o.Org, func(ctx context.Context, tx *tenant.Tx) error {
			e = enrolling{opened: o, terms: terms, trouble: at.Trouble, by: person.Author{By: c.Connection.String(), At: now}.Unlogged()}
			if err := e.hold(ctx, tx, c.ID, at.Reading); err != nil {
				return err
			}
			for _, m := range some {
				if err := e.enroll(ctx, tx, &m); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		at.Added += e.added
		at.Trouble = e.trouble
	}
	return nil
}

// begin begins a reading whose first page could be read, with the class where there is none, and answers its number.
func (r *Reader) begin(ctx context.Context, c *Course, o *connection.Opened, now time.Time) (n int64, err error) {
	err = r.Tenants.InTx(ctx, o.Org, func(ctx context.Context, tx *tenant.Tx) error {
		if c.Unit.IsZero() {
			if _, err := portal.Lock(ctx, tx, c.Portal); err != nil { // as whoever makes a unit does, before the course
				return err
			}
		}
		if stands, err := connection.Hold(ctx, tx, o.ID, o.SettledAt); err != nil || !stands {
			return cmp.Or(err, errOvertaken)
		}
		held, err := lock(ctx, tx, c.ID)
		if err != nil {
			return gone(err)
		}
		if n = held.Reading + 1; held.Unit.IsZero() {
			u, err := unit.Insert(ctx, tx, unit.Unit{
				ID: id.NewUnit(), Portal: c.Portal, Kind: unit.Class, Name: held.Title, Managers: []id.Person{}, Metadata: map[string]string{},
			}, person.Author{By: c.Connection.String(), At: now})
			if err != nil {
				return err
			}
			held.Unit = u.ID
		}
		// What was confirmed is forgotten where the reading is long overdue.
		_, err = tx.Exec(ctx, `
			UPDATE course SET reading = $3, begun_at = $4, unit_id = $5, confirmed = confirmed AND due_at > $6 WHERE org_id = $1 AND id = $2`,
			tx.Org, c.ID, n, now, held.Unit, now.Add(-Every))
		return err
	})
	return n, err
}

// gone says of a course that is gone that nothing is to be done for it.
func gone(err error) error {
	if errdefs.IsNotFound(err, Noun) {
		err = errOvertaken
	}
	return err
}

// enrolling is the giving of places in one commit.
type enrolling struct {
	opened *connection.Opened
	terms  plan.Terms
	by     person.Author
	course Course
	// adds says that people may be added who were never there, and named that nobody is without a name.
	adds, named bool

	added   int
	trouble string
}

// hold holds what decides about places until the commit: the connection, the portal, and the course, of which this must
// be the last reading.
func (e *enrolling) hold(ctx context.Context, tx *tenant.Tx, which id.Course, reading int64) error {
	on, _ := e.opened.Config.Portal()
	if err := person.Hold(ctx, tx, on); err != nil {
		return err
	}
	stands, err := connection.Hold(ctx, tx, e.opened.ID, e.opened.SettledAt)
	if err != nil || !stands {
		return cmp.Or(err, errOvertaken)
	}
	if e.adds, err = e.mayAdd(ctx, tx, on); err != nil {
		return err
	}
	if e.course, err = lock(ctx, tx, which); err != nil {
		return gone(err)
	}
	if e.course.Reading != reading {
		return errOvertaken
	}
	return nil
}

// mayAdd says whether people may be added to a portal. As by a launch, nobody is whose age the portal asks for and the
// connection does not tell, nobody who is too young for it, and nobody without a name where the door requires one. Whether
// they have an address is asked when they come: lists are not asked for it. The error is errClosed where nobody is launched.
func (e *enrolling) mayAdd(ctx context.Context, tx *tenant.Tx, on id.Portal) (bool, error) {
	at, err := portal.Find(ctx, tx, on)
	if err != nil {
		return false, err
	}
	way, err := door.Find(ctx, tx, on, door.Embed)
	if err != nil {
		return false, err
	}
	if at.State != portal.Published || at.PublishedVersion == nil || !way.Open || slices.Contains(way.Requires, "consent") {
		return false, errClosed
	}
	v, err := portal.FindVersion(ctx, tx, on, *at.PublishedVersion)
	if err != nil {
		return false, err
	}
	e.named = slices.Contains(way.Requires, "name")
	d, band := v.Definition, person.AgeBand(cmp.Or(e.opened.Config.Text("ageBand"), string(person.UnknownAge)))
	asksAge := slices.Contains(way.Requires, "age_check") || d.MinAge != nil || d.GuardianConsentUnder != nil
	return (!asksAge || band != person.UnknownAge) && (d.MinAge == nil || band.Oldest() >= *d.MinAge), nil
}

// enroll gives a member their place in the class, if they are one who has any.
func (e *enrolling) enroll(ctx context.Context, tx *tenant.Tx, m *lti.Member) error {
	role := person.Learner
	switch {
	case !m.Active, !m.Learns() && !m.Instructs():
		return nil
	case m.Instructs():
		role = person.Teacher
	}
	who, added, err := e.find(ctx, tx, m, role)
	if errdefs.IsGone(err, person.Noun) || errors.Is(err, errNobody) {
		return nil
	}
	if err != nil {
		return err
	}
	if added {
		return e.add(ctx, tx, who, role)
	}
	had, there, err := e.course.member(ctx, tx, who.ID)
	if err != nil {
		return err
	}
	if there && had.LeftAt == nil {
		return e.course.note(ctx, tx, who.ID, had.Membership, e.course.Reading) // also of a place that the organization took away, which stays so
	}
	if !e.gives(role) {
		return nil
	}
	joins, err := e.mayJoin(ctx, tx, who.ID, role)
	if err != nil || !joins {
		return err
	}
	return e.add(ctx, tx, who, role)
}

// gives says whether a list gives places with a role: those who teach have one where the connection says so.
func (e *enrolling) gives(role person.Role) bool {
	return role == person.Learner || e.opened.Config.On("teachers")
}

// errNobody says that somebody is not there, and is not added.
var errNobody = errors.New("nobody is added")

// find is the person whom a list means, locked, by the platform's name for them alone. Who is new is added as by a
// launch. The error is errdefs.Gone, or errNobody.
func (e *enrolling) find(ctx context.Context, tx *tenant.Tx, m *lti.Member, role person.Role) (who person.Person, added bool, err error) {
	at := person.At{Connection: e.opened.ID, Issuer: e.course.Origin.Issuer, Subject: m.User}
	known, err := person.ByIdentity(ctx, tx, at)
	switch {
	case err == nil:
		who, err = person.Lock(ctx, tx, known.ID)
		return who, false, err
	case !errdefs.IsNotFound(err, person.Noun):
		return who, false, err
	}
	// Asked for after the identity, which an erasure deletes after it notes this.
	if gone, err := erased(ctx, tx, at); err != nil || gone {
		return who, false, cmp.Or(err, errNobody)
	}
	switch {
	case !e.gives(role):
		return who, false, errNobody
	case !e.adds:
		e.trouble = AgeRequired
		return who, false, errNobody
	case e.named && m.Name == "", e.trouble == PeopleLimit:
		return who, false, errNobody
	}
	err = tx.Attempt(ctx, func(ctx context.Context) error {
		who, added, err = person.Admit(ctx, tx, at, person.Wanted{
			Name: cmp.Or(m.Name, Unnamed(m.User)), AgeBand: person.AgeBand(e.opened.Config.Text("ageBand")), Terms: e.terms, At: e.by.At,
		})
		return err
	})
	if errors.Is(err, person.ErrFull) {
		e.trouble, err = PeopleLimit, errNobody
	}
	return who, added, err
}

// Unnamed is what somebody is called whose platform does not tell their name.
func Unnamed(user string) string {
	hash := sha256.Sum256([]byte(user))
	return "Learner " + strings.ToUpper(base64.RawURLEncoding.EncodeToString(hash[:])[:6])
}

// Allows says whether a platform lets somebody in who has a place on the portal, by that or another: nobody who has more
// to do there than to teach, or teaches all of it where the connection has no teachers.
func Allows(c *connection.Opened, m person.Membership) bool {
	return m.Role == person.Learner || m.Role == person.Teacher && (c.Config.On("teachers") || !m.Unit.IsZero())
}

// mayJoin says whether somebody who was there before gets a place in the class. Whose last place on the portal the
// organization took away, or whose places there are all switched off, over or not begun, gets none: it would be a way
// around that. Nor does who has more to do on the portal than a platform lets in, and who teaches all of it needs none.
func (e *enrolling) mayJoin(ctx context.Context, tx *tenant.Tx, who id.Person, role person.Role) (bool, error) {
	places, err := person.Places(ctx, tx, who, e.by.At)
	if err != nil {
		return false, err
	}
	here, on := false, false
	for _, p := range places {
		if p.Membership.Portal != e.course.Portal {
			continue
		}
		if !Allows(e.opened, p.Membership) || role == person.Teacher && p.Membership.Unit.IsZero() && p.Membership.Role == person.Teacher {
			return false, nil
		}
		here, on = true, on || !isOff(p.Reason)
	}
	if here {
		return on, nil
	}
	return TakenAway(ctx, tx, e.opened.ID, e.course.Portal, who)
}

// isOff says whether a place is switched off, over or not begun, with its unit or its person too.
func isOff(why person.Reason) bool {
	switch why {
	case person.PersonDisabled, person.MembershipDisabled, person.NotStarted, person.MembershipEnded, person.WasErased:
		return true
	}
	return false
}

// add gives somebody a place in the class. One that the organization made there stays its own: no list takes it away.
func (e *enrolling) add(ctx context.Context, tx *tenant.Tx, who person.Person, role person.Role) error {
	m, made, err := person.Join(ctx, tx, who, person.Place{Portal: e.course.Portal, Unit: e.course.Unit, Role: role, Find: true}, e.by)
	if err != nil {
		return err
	}
	reading := int64(ofOrganization)
	if made {
		e.added++
		reading = e.course.Reading
	}
	return e.course.note(ctx, tx, who.ID, m.ID, reading)
}
