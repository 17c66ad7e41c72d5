package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// guardian has a guardian agree to recordings.
func (s *stage) guardian(until *time.Time) id.Consent {
	s.t.Helper()
	k := consent.Consent{
		ID: id.NewConsent(), Kind: consent.OfGuardian, State: consent.Given, Membership: id.NewMembership(), Statement: consent.ByGuardian,
		Guardian:      &consent.Guardian{Relationship: "mother", Method: "in_person", Scopes: []string{"conversation", "recording"}, ExpiresAt: until},
		PolicyVersion: consent.PolicyVersion, PersonName: "Kim senior", SignedAt: s.now(), RecordedAt: s.now(), RecordedBy: "test",
	}
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		return consent.Record(ctx, tx, k)
	}))
	return k.ID
}

// withdraw has the guardian take the consent back.
func (s *stage) withdraw(k id.Consent) {
	s.t.Helper()
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, _, err := consent.Withdraw(ctx, tx, k, s.now()); err != nil {
			return err
		}
		return session.WithdrawnGuardian(ctx, tx, k, s.now())
	}))
}

// A guardian who takes their consent back has the recordings that rest on it deleted, and what the
// child agreed to is withdrawn with it.
func TestGuardianWithdraws(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	defer p.Stop()
	mother, father := s.guardian(nil), s.guardian(nil)
	recorded := map[id.Consent]id.Session{}
	for _, by := range []id.Consent{mother, father} {
		minted, token := s.mint(func(w *session.Session) {
			onTape(w)
			w.Recording.Minor, w.Recording.Guardian = true, by
		})
		c := s.connect(p, minted.ID, string(token))
		c.send("recording", map[string]bool{"agreed": true})
		c.await("recording", nil)
		s.pieces(minted.ID, 1)
		recorded[by] = minted.ID
	}
	r, err := s.recording(recorded[mother])
	require.NoError(t, err)
	s.withdraw(mother)
	_, err = s.recording(recorded[mother])
	require.True(t, errdefs.IsNotFound(err, recording.Noun))
	require.Zero(t, s.countPieces(recorded[mother]))
	own, err := consent.Get(t.Context(), s.tenants, s.org, r.Consent)
	require.NoError(t, err)
	require.Equal(t, consent.Withdrawn, own.State)
	_, err = s.recording(recorded[father])
	require.NoError(t, err, "it rests on another consent")
}

// A child is not recorded once the guardian's consent is over.
func TestGuardianAgreesNoMore(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*stage, id.Consent){
		"withdrawn": func(s *stage, k id.Consent) { s.withdraw(k) },
		"expired": func(s *stage, k id.Consent) {
			s.sql(`UPDATE consent SET guardian = jsonb_set(guardian, '{expiresAt}', '"2020-01-01T00:00:00Z"') WHERE org_id = $1 AND id = $2`, k)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := records(t)
			p := s.pod()
			defer p.Stop()
			by := s.guardian(nil)
			minted, token := s.mint(func(w *session.Session) {
				onTape(w)
				w.Recording.Minor, w.Recording.Guardian = true, by
			})
			end(s, by)
			c := s.connect(p, minted.ID, string(token))
			c.send("recording", map[string]bool{"agreed": true})
			var told struct{ State string }
			c.await("recording", &told)
			require.Equal(t, "off", told.State)
			_, err := s.recording(minted.ID)
			require.True(t, errdefs.IsNotFound(err, recording.Noun))
		})
	}
}
