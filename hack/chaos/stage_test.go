package chaos

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/live/livetest"
)

// stage is some processes that hold conversations, as many of the API and a
// worker, and an organization with minutes and a persona.
type stage struct {
	*apitest.API
	t *testing.T
	// apis are clients of the processes of the API.
	apis    []livetest.API
	persona string
	// portals are the processes that are killed, by their addresses.
	portals map[string]*process
	grantS  int64
}

// grants are the minutes there are: what expires first is used first, so that
// a session is paid for from several.
var grants = []int64{1, 1, 2, 1000}

func newStage(t *testing.T, processes int) *stage {
	t.Helper()
	s := &stage{API: apitest.New(t, apitest.Unlimited), t: t, portals: map[string]*process{}}
	binary := build(t)
	common := []string{"--database", s.Options.DirectoryURL, "--files", s.Options.FilesURL}
	unlimited := []string{"--address-limit", "100000000", "--rates", "live=100000000/100000000,write=100000000/100000000,read=100000000/100000000"}
	var all []*process
	start := func(role, ready string, args ...string) *process {
		p := run(t, ready, slices.Concat([]string{binary, role}, common, args)...)
		all = append(all, p)
		return p
	}
	for range processes {
		addr, admin := address(t), address(t)
		s.portals[addr] = start("portal", "http://"+admin+"/livez", append(unlimited, "--addr", addr, "--admin-addr", admin)...)
	}
	for addr := range s.portals {
		front := address(t)
		start("api", "http://"+front+"/v1/health",
			append(unlimited, "--addr", front, "--admin-addr", address(t), "--live-url", "ws://"+addr)...)
		s.apis = append(s.apis, livetest.API{Base: "http://" + front + "/v1", Key: string(s.Acme.New)})
	}
	admin := address(t)
	start("worker", "http://"+admin+"/livez", "--admin-addr", admin)
	for _, p := range all {
		p.await()
	}
	ctx, now := context.Background(), time.Now().UTC()
	for i, minutes := range grants {
		expires := now.Add(time.Duration(24+i) * time.Hour)
		require.NoError(t, usage.GrantMinutes(ctx, s.Tenants, s.Acme.ID, uuid.New(), minutes, now, &expires))
		s.grantS += minutes * 60
	}
	var err error
	s.persona, err = s.apis[0].Persona(ctx, "Amara", map[string]string{"The museum": museum}, nil)
	require.NoError(t, err)
	return s
}

// museum is written so that an answer has several sentences, which take a while
// to be spoken.
const museum = `The museum opens at nine in the morning and closes at six in the evening, and the museum opens at noon on Sundays. On Mondays the museum never opens, whatever the weather.

A ticket costs twelve euros for adults, and a ticket costs seven euros for students with a card. A ticket costs nothing for children under six years.

The guided tour begins at eleven in front of the old bell tower and lasts fifty minutes. The guided tour begins again at three in the afternoon.

The café on the second floor serves soup, bread and cake from ten to five. The café serves breakfast on Sundays too. Dogs must wait outside.`

var questions = []string{"When does the museum open?", "How much does a ticket cost?", "When does the guided tour begin?", "What does the café serve?"}

// inTx runs fn on the organization's shard.
func (s *stage) inTx(fn func(context.Context, *tenant.Tx) error) {
	s.t.Helper()
	require.NoError(s.t, s.Tenants.InTx(context.Background(), s.Acme.ID, fn))
}

// ownerOf is the address of the process that runs a session.
func (s *stage) ownerOf(which id.Session) string {
	s.t.Helper()
	held, err := session.Get(context.Background(), s.Tenants, s.Acme.ID, which)
	require.NoError(s.t, err)
	at, err := session.PodOf(context.Background(), s.Tenants, s.Acme.ID, held)
	require.NoError(s.t, err)
	require.Contains(s.t, s.portals, at)
	return at
}

// addresses are those of the processes, in order.
func (s *stage) addresses() []string { return slices.Sorted(maps.Keys(s.portals)) }

// otherThan is the address of another process.
func (s *stage) otherThan(at string) string {
	all := s.addresses()
	return all[(slices.Index(all, at)+1)%len(all)]
}

// turns are the turns of a session.
func (s *stage) turns(which id.Session) []session.Turn {
	s.t.Helper()
	turns, err := session.Turns(context.Background(), s.Tenants, s.Acme.ID, which, 0, 5000)
	require.NoError(s.t, err)
	return turns
}

// awaitIdle waits until every session is over and every place is free.
func (s *stage) awaitIdle() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		live, err := session.List(context.Background(), s.Tenants, s.Acme.ID,
			session.Filter{States: []session.State{session.Created, session.Live}}, [16]byte{}, 1)
		return err == nil && len(live) == 0
	}, 2*time.Minute, 100*time.Millisecond, "sessions do not end")
	active, _, err := session.Places(context.Background(), s.Tenants, s.Acme.ID)
	require.NoError(s.t, err)
	require.Zero(s.t, active, "places are not given back")
}

// requirePaidOnce requires that what is left of the minutes and what was billed
// make up what there was, of each session and in all.
func (s *stage) requirePaidOnce() (billed int64) {
	s.t.Helper()
	var (
		left, paid, debited int64
		wrong               []string
	)
	s.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT (SELECT sum(remaining_s) FROM minute_grant WHERE org_id = $1)::BIGINT,
				(SELECT sum(seconds) FROM usage_block WHERE org_id = $1)::BIGINT,
				(SELECT sum(seconds) FROM minute_debit WHERE org_id = $1)::BIGINT,
				(SELECT sum(billed_s) FROM session WHERE org_id = $1)::BIGINT,
				(SELECT array_agg(concat_ws(' ', s.id, s.end_reason, s.billed_s, s.duration_s, s.started_at, s.ended_at)) FROM session s
					WHERE s.org_id = $1 AND (s.billed_s > s.duration_s OR s.duration_s > ceil(extract(epoch FROM s.ended_at - s.created_at))
						OR s.billed_s <> (SELECT COALESCE(sum(b.seconds), 0) FROM usage_block b WHERE b.org_id = $1 AND b.session_id = s.id)))`,
			tx.Org).Scan(&left, &paid, &debited, &billed, &wrong)
	})
	require.Equal(s.t, s.grantS, left+paid, "every second is paid for once")
	require.Equal(s.t, paid, billed, "what is billed is what was paid")
	require.Equal(s.t, paid, debited, "what was paid came from the grants")
	require.Empty(s.t, wrong, "sessions are billed for more than there was")
	return billed
}

// overdrawn counts the grants of which more was used than there was.
func (s *stage) overdrawn(ctx context.Context) (n int, err error) {
	err = s.Tenants.InTx(ctx, s.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM minute_grant WHERE org_id = $1 AND remaining_s NOT BETWEEN 0 AND seconds`, tx.Org).Scan(&n)
	})
	return n, err
}
