package live

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// A conversation books a time once. What it has is its own and not free, the same wanted again changes
// nothing, and another takes its place.
func TestADiary(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	now := tenanttest.Now.Truncate(24 * time.Hour)
	in := func(fn func(context.Context, *tenant.Tx) error) {
		require.NoError(t, tenants.InTx(t.Context(), org, fn))
	}
	require.NoError(t, usage.GrantMinutes(t.Context(), tenants, org, uuid.New(), 60, now, nil))
	var (
		desk   slot.Schedule
		minted session.Minted
		two    = int64(2)
	)
	in(func(ctx context.Context, tx *tenant.Tx) (err error) {
		minted, err = session.Mint(ctx, tx, session.Session{
			ID: id.SessionAt(now), Kind: "conversation", Source: "api", Persona: id.NewPersona(), PersonaVersion: 1, Avatar: id.NewAvatar(),
			Voice: id.NewVoice(), Metadata: map[string]string{}, Language: "en", Engine: "premier", Transport: "websocket", Channel: "chat",
			AllowedOrigins: []string{}, MaxDurationS: 600, IdleTimeoutS: 300, CreatedAt: now,
		}, plan.Terms{Limits: plan.Limits{plan.MaxConcurrentSessions: &two}}, session.Daily{})
		return err
	})
	p := slot.Plan{Timezone: "Europe/Berlin", StepMinutes: 60, HorizonDays: 9, Capacity: 1, Kinds: []slot.Kind{{Key: "tour", Name: "A tour", DurationMinutes: 60}}}
	for _, day := range slot.Weekdays() {
		p.Hours = append(p.Hours, slot.Hours{Day: day, From: "10:00", To: "13:00"})
	}
	in(func(ctx context.Context, tx *tenant.Tx) (err error) {
		if desk, err = slot.Create(ctx, tx, "Desk", p, activity.Actor{By: "key_1", At: now}); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE session SET state = 'live', epoch = 1, started_at = $3 WHERE org_id = $1 AND id = $2`, org, minted.Session.ID, now)
		return err
	})
	s := minted.Session
	s.Epoch = 1
	r := &room{server: &Server{Options: Options{Tenants: tenants, Clock: clocktesting.NewFakeClock(now)}}, org: org, session: s}
	tool := persona.Tool{Kind: persona.BookingTool, Enabled: true, Config: map[string]any{persona.BookingSchedule: desk.ID.String(), persona.BookingKind: "tour"}}
	d := r.newDiary(persona.Definition{Tools: []persona.Tool{tool}})
	require.NotNil(t, d)
	times := func() conversation.Times {
		of, err := d.Free(t.Context())
		require.NoError(t, err)
		return of
	}
	book := func(at time.Time) error {
		return d.Book(t.Context(), inbox.Left{Kind: inbox.Book, Contact: inbox.Contact{Email: new("kim@example.com")}}, at)
	}
	before := times()
	require.Nil(t, before.Own)
	first, second := before.Free[0], before.Free[1]
	require.Equal(t, "Wednesday 2026-07-08 10:00 CEST", first.Said)
	require.Len(t, before.Free, 27, "three on each of nine days")

	for range 2 {
		require.NoError(t, book(first.StartsAt))
		require.Equal(t, conversation.Times{Own: &first, Free: before.Free[1:], Zone: before.Zone}, times())
	}
	require.NoError(t, book(second.StartsAt))
	moved := times()
	require.Equal(t, []any{second, first}, []any{*moved.Own, moved.Free[0]})
	require.ErrorIs(t, book(first.StartsAt.Add(time.Minute)), conversation.ErrTaken)
	require.Equal(t, moved, times())

	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := inbox.Enter(ctx, tx, inbox.Item{Contact: &inbox.Contact{}, Urgency: inbox.NormalUrgency, Language: "en"},
			&inbox.Wanted{Schedule: desk.ID, StartsAt: first.StartsAt}, activity.Actor{By: "key_1", At: now})
		return err
	})
	require.ErrorIs(t, book(first.StartsAt), conversation.ErrTaken, "somebody else has it")
	require.Equal(t, moved.Free[1:], times().Free)

	p.Kinds[0].Key = "visit"
	in(func(ctx context.Context, tx *tenant.Tx) error {
		return desk.Change(ctx, tx, "Desk", p, activity.Actor{By: "key_1", At: now})
	})
	require.Equal(t, conversation.Times{Own: &second, Zone: before.Zone}, times(), "nothing of the kind is offered any more")
	require.ErrorIs(t, book(before.Free[5].StartsAt), conversation.ErrTaken)

	s.Sandbox = true
	require.Nil(t, (&room{server: r.server, org: org, session: s}).newDiary(persona.Definition{Tools: []persona.Tool{tool}}), "who tries a persona out books nothing")
}
