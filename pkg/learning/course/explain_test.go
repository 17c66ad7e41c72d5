package course_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// Each statement rides the index its function names, among many courses and members.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	connections := make([]id.Connection, 20)
	for i := range connections {
		connections[i] = id.NewConnection()
	}
	exec := func(sql string, args ...any) {
		_, err := db.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`
		INSERT INTO course (org_id, id, connection_id, issuer, client_id, deployment_id, context_id, title, portal_id, address, reading, due_at, taught_at, failures,
			trouble, kept, confirmed, created_at)
		SELECT $1, gen_random_uuid(), ($2::UUID[])[1 + i % 20], '', '', '', i::TEXT, '', gen_random_uuid(), '', 1, now(), now(), 0, '', 0, false, now()
		FROM generate_series(1, 4000) AS g (i)`, org, connections)
	exec(`
		INSERT INTO course_member (org_id, course_id, person_id, membership_id, reading)
		SELECT $1, c.id, gen_random_uuid(), gen_random_uuid(), 1 FROM course c, generate_series(1, 5) WHERE c.org_id = $1`, org)
	exec(`INSERT INTO course_erased (org_id, connection_id, digest) SELECT $1, ($2::UUID[])[1 + i % 20], i::TEXT::BYTEA FROM generate_series(1, 4000) AS g (i)`, org, connections)
	for _, table := range []string{"course", "course_member", "course_erased"} {
		exec(`ANALYZE ` + table)
	}
	var listed course.Course
	var member id.Person
	require.NoError(t, db.QueryRow(t.Context(), `SELECT course_id, person_id FROM course_member WHERE org_id = $1 LIMIT 1`, org).Scan(&listed.ID, &member))
	who, on, now := id.NewPerson(), id.NewPortal(), time.Now().UTC()
	opened := &connection.Opened{Connection: connection.Connection{ID: connections[0], Config: connection.Config{}}, Org: org}
	launch := &lti.Launch{Course: lti.Course{ID: "c", Title: "C", Members: "https://moodle.example.com/c"}}
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return tenants.InTx(ctx, org, fn) }
	}
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"those of a connection": {"ORDER BY id LIMIT", "course_by_connection", func(ctx context.Context) error {
			_, err := course.List(ctx, tenants, org, connections[0], id.NewCourse(), 10)
			return err
		}},
		"how many": {"SELECT count(*) FROM (SELECT 1 FROM course", "course_by_connection", in(func(ctx context.Context, tx *tenant.Tx) error {
			return course.Came(ctx, tx, opened, on, launch, now)
		})},
		"stopped": {"job_id IS NULL", "course_by_connection", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := course.ResumeSome(ctx, tx, id.NewConnection(), now)
			return err
		})},
		"taken away": {"max(m.left_at)", "course_member_by_person", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := course.TakenAway(ctx, tx, connections[0], on, who)
			return err
		})},
		"places by lists": {"SELECT membership_id FROM course_member", "course_member_by_person", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := listed.Place(ctx, tx, member, now)
			return err
		})},
		"of who is erased": {"DELETE FROM course_member", "course_member_by_person", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := course.ForgetPerson(ctx, tx, who)
			return err
		})},
		"one who came again": {"DELETE FROM course_erased", "course_erased_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return course.Welcome(ctx, tx, person.At{Connection: connections[0], Issuer: "i", Subject: "s"})
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", s.SQL, plan)
			}
		})
	}
}
