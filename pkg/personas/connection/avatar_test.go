package connection_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

func TestWhichAvatarAFaceHas(t *testing.T) {
	all := connection.Config{"avatar": "any", "avatarMap": map[string]any{"av_1": "one", "amara": "hers", "female": "woman"}}
	for name, c := range map[string]struct {
		face connection.Face
		want string
	}{
		"by id":         {connection.Face{ID: "av_1", Key: "amara", Gender: "female"}, "one"},
		"by name":       {connection.Face{ID: "av_2", Key: "amara", Gender: "female"}, "hers"},
		"by gender":     {connection.Face{ID: "av_2", Key: "nora", Gender: "female"}, "woman"},
		"any":           {connection.Face{ID: "av_2", Key: "owen", Gender: "male"}, "any"},
		"own, named":    {connection.Face{ID: "av_1", Own: true}, "one"},
		"own, not such": {connection.Face{ID: "av_2", Key: "amara", Gender: "female", Own: true}, ""},
	} {
		require.Equal(t, c.want, all.AvatarOf(c.face), name)
	}
	require.Empty(t, connection.Config{"avatarMap": map[string]any{"female": "woman"}}.AvatarOf(connection.Face{Gender: "male"}))
}

func TestAvatarsAreTried(t *testing.T) {
	s, guard := services(t)
	trier := connection.Trier{Egress: guard, Clock: clock.RealClock{}}
	for name, c := range map[string]struct {
		config connection.Config
		secret connection.Secret
		want   upstream.Code
	}{
		"good":           {connection.Config{"avatar": "good"}, "good", ""},
		"a bad key":      {connection.Config{"avatar": "good"}, "bad", upstream.Refused},
		"one is not":     {connection.Config{"avatar": "good", "avatarMap": map[string]any{"female": "gone"}}, "good", upstream.Rejected},
		"one is not yet": {connection.Config{"avatarMap": map[string]any{"female": "young"}}, "good", upstream.Rejected},
	} {
		c.config["baseUrl"] = s.URL
		trial, err := trier.Try(context.Background(), opened(connection.Avatar, connection.BeyondPresence, c.config, c.secret))
		require.NoError(t, err, name)
		require.Equal(t, c.want == "", trial.OK(), name)
		require.Equal(t, c.want, upstream.CodeOf(trial.Steps[len(trial.Steps)-1].Err), name)
	}
}

// The oldest connection that has the face renders it, of the organization's own and not one that is switched off.
func TestWhoRendersAFace(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	offer, known := connection.FindOffer(connection.Avatar, connection.BeyondPresence)
	require.True(t, known)
	add := func(state connection.State, config connection.Config) connection.Connection {
		c := connection.New(offer, "faces", config, secretOne, now)
		c.State = state
		require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
			return connection.Create(ctx, tx, s.vault, c, secretOne, activity.Actor{By: "test", At: now})
		}))
		return c
	}
	face := connection.Face{ID: "av_1", Key: "amara", Gender: "female"}
	add(connection.Disabled, connection.Config{"avatar": "off"})
	add(connection.Active, connection.Config{"avatarMap": map[string]any{"male": "man"}})
	mine := add(connection.Active, connection.Config{"avatarMap": map[string]any{"amara": "hers"}})
	add(connection.Active, connection.Config{"avatar": "any"})
	which, name, err := connection.Renders(ctx, s.tenants, s.one, face)
	require.NoError(t, err)
	require.Equal(t, []string{mine.ID.String(), "hers"}, []string{which.String(), name})
	_, _, err = connection.Renders(ctx, s.tenants, s.two, face)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: connection.Noun})
}
