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
	"visavis.dev/pkg/visits/admission/admissiontest"
)

// place enters somebody's place.
func (s *stage) place() id.Membership {
	s.t.Helper()
	return admissiontest.Membership(s.t, s.tenants, s.org, id.NewPerson(), id.NewPortal()).ID
}

// guardian has a guardian of a place agree to recordings.
func (s *stage) guardian(at id.Membership, until *time.Time) id.Consent {
	s.t.Helper()
	k := consent.Consent{
		ID: id.NewConsent(), Kind: consent.OfGuardian, State: consent.Given, Membership: at, Statement: consent.ByGuardian,
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
	recorded := map[id.Consent]id.Session{}
	child := s.place()
	record := func() id.Consent {
		by := s.guardian(child, nil)
		minted, c := s.visitor(p, func(w *session.Session) {
			onTape(w)
			w.Membership, w.Recording.Minor, w.Recording.Guardian = child, true, by
		})
		c.send("recording", map[string]bool{"agreed": true})
		c.await("recording", nil)
		s.pieces(minted.ID, 1)
		recorded[by] = minted.ID
		return by
	}
	mother := record()
	father := record()
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
			child := s.place()
			by := s.guardian(child, nil)
			minted, token := s.mint(func(w *session.Session) {
				onTape(w)
				w.Membership, w.Recording.Minor, w.Recording.Guardian = child, true, by
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

// A recording rests on a consent that holds when it begins, and stops while it goes on when none is
// to recordings any more; what was recorded before stays unless its own consent is withdrawn.
func TestGuardianNarrows(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	defer p.Stop()
	child := s.place()
	first := s.guardian(child, nil)
	minted, token := s.mint(func(w *session.Session) {
		onTape(w)
		w.Membership, w.Recording.Minor, w.Recording.Guardian = child, true, first
	})
	second := s.guardian(child, nil)
	s.withdraw(first)
	c := s.connect(p, minted.ID, string(token))
	c.send("recording", map[string]bool{"agreed": true})
	var told struct{ State string }
	c.await("recording", &told)
	require.Equal(t, "on", told.State, "another consent is to recordings")
	s.pieces(minted.ID, 1)
	r, err := s.recording(minted.ID)
	require.NoError(t, err)
	require.Equal(t, second, r.Guardian)

	third := s.guardian(child, nil)
	s.sql(`UPDATE consent SET guardian = jsonb_set(guardian, '{expiresAt}', '"2020-01-01T00:00:00Z"') WHERE org_id = $1 AND id = $2`, second)
	n := s.countPieces(minted.ID)
	s.pieces(minted.ID, n+1)
	s.withdraw(third)
	c.await("recording", &told)
	require.Equal(t, "off", told.State)
	r, err = s.recording(minted.ID)
	require.NoError(t, err, "the consent that it rests on was not withdrawn")
	require.Equal(t, second, r.Guardian)
}
