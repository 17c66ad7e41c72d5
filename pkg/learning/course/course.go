// Package course keeps who is in the courses of learning platforms, as the platforms list them
// (1EdTech Names and Role Provisioning Services 2.0): each course is a class of the portal that
// is opened from it. A course is read from when somebody who teaches it came by a launch that
// says where its members are listed. Who comes in by a launch is package signin's.
//
// A list gives people places in the class, and takes away those that lists gave, nothing else:
// it changes nobody's name, address or role, and makes nobody somebody else.
package course

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Noun is what errors call a course.
const Noun errdefs.Noun = "course"

// Origin is the platform that a course is of: its list is never asked for as another's tool.
type Origin struct{ Issuer, ClientID, Deployment string }

// Course is one.
type Course struct {
	ID         id.Course
	Connection id.Connection
	Origin     Origin
	// Context is the platform's name of it, and Title what people there call it.
	Context, Title string
	Portal         id.Portal
	// Unit is the class; zero until its members were read.
	Unit id.Unit
	// Address is where its members are listed.
	Address string
	// Reading counts the readings.
	Reading int64
	// DueAt is when it is to be read, BegunAt when that was begun last, and ReadAt when a reading last came to its end.
	DueAt           time.Time
	BegunAt, ReadAt *time.Time
	// TaughtAt is when somebody who teaches it came last.
	TaughtAt time.Time
	// Failures counts the readings in a row that did not come to their end, and Trouble is why the last did not, or what
	// of it was left out; empty for nothing.
	Failures int64
	Trouble  string
	// Kept is how many members the list left out who stay in the class until that is confirmed, and Confirmed says that
	// it is of the next reading, whatever comes of that.
	Kept      int64
	Confirmed bool
	// Job reads it; zero for none.
	Job       id.Job
	CreatedAt time.Time
}

const columns = `id, connection_id, issuer, client_id, deployment_id, context_id, title, portal_id, unit_id, address, reading, due_at, begun_at, read_at,
	taught_at, failures, trouble, kept, confirmed, job_id, created_at`

func scan(row pgx.CollectableRow) (c Course, err error) {
	err = row.Scan(&c.ID, &c.Connection, &c.Origin.Issuer, &c.Origin.ClientID, &c.Origin.Deployment, &c.Context, &c.Title, &c.Portal, &c.Unit, &c.Address,
		&c.Reading, &c.DueAt, &c.BegunAt, &c.ReadAt, &c.TaughtAt, &c.Failures, &c.Trouble, &c.Kept, &c.Confirmed, &c.Job, &c.CreatedAt)
	return c, err
}

const (
	// Apart is how far the beginnings of two readings of one course are apart at least.
	Apart = 10 * time.Minute
	// Every is how far they are apart where nobody asks for one.
	Every = 24 * time.Hour
	// abandonedAfter is how long a course is tried that cannot be read and that nobody who teaches it comes from.
	abandonedAfter = 8 * 7 * 24 * time.Hour
	// MaxCourses bounds the courses of a connection.
	MaxCourses = 5000
	// MaxMembers bounds the members of a course.
	MaxMembers = 5000
	// MaxPages bounds the pages of a list.
	MaxPages = 100
)

// Why a course is not read, besides the codes of package upstream, or what of its list was left out.
const (
	// Disabled says that the connection is switched off.
	Disabled = "disabled"
	// PlatformChanged says that the connection is another platform's or another portal's by now than the course is of.
	PlatformChanged = "platform_changed"
	// PortalClosed says that the portal is archived, or not open to those who come from courses.
	PortalClosed = "portal_closed"
	// TooLarge says that it has more members or pages than are read.
	TooLarge = "too_large"
	// AgeRequired says that nobody new is added: the portal asks for an age, and the connection tells none, or one that
	// is too young.
	AgeRequired = "age_required"
	// PeopleLimit says that the plan allows no more people.
	PeopleLimit = "people_limit"
	// ListShrank says that the list left out so many who are in the class that it is not believed.
	ListShrank = "list_shrank"
)

// of is the id of a course: the same for the same one of the same platform, on the same portal.
func of(c id.Connection, o Origin, on id.Portal, context string) (made id.Course) {
	sum := sha256.Sum256([]byte(strings.Join([]string{c.String(), on.String(), o.Issuer, o.ClientID, o.Deployment, context}, "\x00")))
	copy(made[:], sum[:])
	return made
}

// origin is the platform that a launch comes from.
func origin(c *connection.Opened, deployment string) Origin {
	return Origin{Issuer: c.Config.Text("issuer"), ClientID: c.Config.Text("clientId"), Deployment: deployment}
}

const selectOne = `SELECT ` + columns + ` FROM course WHERE org_id = $1 AND id = $2`

// Get finds a course. It rides course_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Course) (Course, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(which), selectOne, org, which)
}

// lock finds a course in a transaction, which nobody else changes until the commit, nor its members. Portals are
// locked before, and people after it. It rides course_pkey. The error is errdefs.NotFound.
func lock(ctx context.Context, tx *tenant.Tx, which id.Course) (Course, error) {
	tx.Touch("course", which)
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne+` FOR UPDATE`, tx.Org, which)
}

// Shown is a course as lists show it.
type Shown struct {
	Course
	// Members counts those in the class by the list.
	Members int64
}

// List is a page of the courses of a connection, in the order of their ids, after one of them; the zero id for the first
// page. It rides course_by_connection and course_member_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection, after id.Course, limit int) ([]Shown, error) {
	return tenant.All(ctx, t, org, func(row pgx.CollectableRow) (s Shown, err error) {
		err = row.Scan(&s.ID, &s.Connection, &s.Origin.Issuer, &s.Origin.ClientID, &s.Origin.Deployment, &s.Context, &s.Title, &s.Portal, &s.Unit, &s.Address,
			&s.Reading, &s.DueAt, &s.BegunAt, &s.ReadAt, &s.TaughtAt, &s.Failures, &s.Trouble, &s.Kept, &s.Confirmed, &s.Job, &s.CreatedAt, &s.Members)
		return s, err
	}, `
		SELECT `+columns+`, (SELECT count(*) FROM course_member m WHERE m.org_id = $1 AND m.course_id = course.id AND m.left_at IS NULL)
		FROM course WHERE org_id = $1 AND connection_id = $2 AND id > $3 ORDER BY id LIMIT $4`, org, c, uuid.UUID(after), limit)
}

// Came notes that somebody who teaches a course came by a launch that says where its members are listed, and has them
// read: at once, unless that was begun less than Apart before. The portal is held. It rides course_pkey and
// course_by_connection.
func Came(ctx context.Context, tx *tenant.Tx, c *connection.Opened, on id.Portal, l *lti.Launch, now time.Time) error {
	from := origin(c, l.Deployment)
	which := of(c.ID, from, on, l.Course.ID)
	known, err := tenant.AllIn(ctx, tx, scan, selectOne, tx.Org, which)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		var others int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM course WHERE org_id = $1 AND connection_id = $2 LIMIT $3) AS known`,
			tx.Org, c.ID, MaxCourses).Scan(&others); err != nil || others >= MaxCourses {
			return err
		}
	} else if _, err := job.Hasten(ctx, tx, known[0].Job, now); err != nil {
		return err
	}
	tx.Touch("course", which)
	// Whoever comes at the same moment waits here for the other, and finds the job.
	kept, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), `
		INSERT INTO course (org_id, id, connection_id, issuer, client_id, deployment_id, context_id, title, portal_id, address, reading, due_at, taught_at, failures,
			trouble, kept, confirmed, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11, $11, 0, '', 0, false, $11)
		ON CONFLICT (org_id, id) DO UPDATE
		SET address = EXCLUDED.address, taught_at = EXCLUDED.taught_at, title = EXCLUDED.title,
			due_at = LEAST(course.due_at, GREATEST(EXCLUDED.due_at, COALESCE(course.begun_at + $12::INTERVAL, EXCLUDED.due_at)))
		RETURNING `+columns,
		tx.Org, which, c.ID, from.Issuer, from.ClientID, from.Deployment, l.Course.ID, l.Course.Title, on, l.Course.Members, now, Apart)
	if err != nil {
		return err
	}
	return kept.queue(ctx, tx, now)
}

// queue queues the job that reads a course, whose row is locked, unless it is there.
func (c *Course) queue(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if there, err := job.Waits(ctx, tx, c.Job); err != nil || there {
		return err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.CourseRead, ResourceKind: "connection", ResourceID: c.Connection.String(), Portal: c.Portal, Connection: c.Connection,
		Scope: scope.ConnectionsRead, CreatedBy: "platform", CreatedAt: now,
	}, order{c.ID})
	if err != nil {
		return err
	}
	c.Job = j.ID
	tx.Touch("course", c.ID)
	_, err = tx.Exec(ctx, `UPDATE course SET job_id = $3 WHERE org_id = $1 AND id = $2`, tx.Org, c.ID, j.ID)
	return err
}

// order is the input of the job that reads a course.
type order struct {
	Course id.Course `json:"courseId"`
}

// Ask has a course be read at once, and where that is confirmed believes its next list however many it leaves out. A
// confirmation ends with the next reading, whatever comes of that, and a day after it was due. Readings begin Apart all
// the same. The error is errdefs.NotFound, also of one whose connection is deleted.
func Ask(ctx context.Context, tx *tenant.Tx, which id.Course, confirmed bool, who activity.Actor) (Shown, error) {
	found, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne, tx.Org, which)
	if err != nil {
		return Shown{}, err
	}
	if _, err := connection.Find(ctx, tx, found.Connection); errdefs.IsAbsent(err, connection.Noun) {
		return Shown{}, Noun.NotFound(which)
	} else if err != nil {
		return Shown{}, err
	}
	if _, err := job.Hasten(ctx, tx, found.Job, who.At); err != nil {
		return Shown{}, err
	}
	if found, err = lock(ctx, tx, which); err != nil {
		return Shown{}, err
	}
	found.Confirmed = found.Confirmed || confirmed
	due := who.At
	if found.BegunAt != nil && found.BegunAt.Add(Apart).After(due) {
		due = found.BegunAt.Add(Apart)
	}
	if due.Before(found.DueAt) || confirmed && found.DueAt.Before(who.At) {
		found.DueAt = due
	}
	if _, err := tx.Exec(ctx, `UPDATE course SET confirmed = $3, due_at = $4 WHERE org_id = $1 AND id = $2`, tx.Org, which, found.Confirmed, found.DueAt); err != nil {
		return Shown{}, err
	}
	if err := found.queue(ctx, tx, who.At); err != nil {
		return Shown{}, err
	}
	who.Log(tx, "course.asked", "connection", found.Connection, map[string]any{"courseId": which, "confirmed": confirmed})
	shown := Shown{Course: found}
	err = tx.QueryRow(ctx, `SELECT count(*) FROM course_member WHERE org_id = $1 AND course_id = $2 AND left_at IS NULL`, tx.Org, which).Scan(&shown.Members)
	return shown, err
}

// ResumeSome has some of the courses of a connection read at once that have no job any more, each once a minute, and
// says whether there may be more. It rides course_by_connection.
func ResumeSome(ctx context.Context, tx *tenant.Tx, c id.Connection, now time.Time) (bool, error) {
	const most = 100
	stopped, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM course
		WHERE org_id = $1 AND connection_id = $2 AND job_id IS NULL AND NOT (due_at <= $3 AND due_at > $4)
		ORDER BY id LIMIT $5 FOR UPDATE`, tx.Org, c, now, now.Add(-time.Minute), most)
	for _, each := range stopped {
		if err := each.queue(ctx, tx, now); err != nil {
			return false, err
		}
		if _, err := tx.Exec(ctx, `UPDATE course SET due_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, each.ID, now); err != nil {
			return false, err
		}
	}
	return len(stopped) == most, err
}
