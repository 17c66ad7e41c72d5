package room_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/livekit/livekittest"
	"visavis.dev/pkg/provider/livekit/room"
	"visavis.dev/pkg/provider/upstream"
)

const patience = 20 * time.Second

// speaks is what a participant of these rooms may do. Those who may not publish at all are
// announced by the server with a delay.
var speaks = livekit.Grant{CanPublish: true, CanPublishData: true}

// hears may subscribe besides, so that the server makes a connection of its own.
var hears = livekit.Grant{CanPublish: true, CanPublishData: true, CanSubscribe: true}

// join joins a room of a server.
func join(t *testing.T, s *livekittest.Server, name, identity string, g livekit.Grant) *room.Room {
	t.Helper()
	r, err := room.Join(t.Context(), options(s, s.Token(t, name, identity, g)))
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

func options(s *livekittest.Server, token string) room.Options {
	return room.Options{Guard: s.Guard(), URL: s.URL, Token: token, Topic: "visavis"}
}

// next is what happens next in a room.
func next(t *testing.T, r *room.Room) room.Event {
	t.Helper()
	select {
	case e := <-r.Events():
		return e
	case <-time.After(patience):
		require.FailNow(t, "nothing happens", "%v", r.Err())
	}
	return room.Event{}
}

func TestTwoSpeak(t *testing.T) {
	s := livekittest.Start(t)
	one := join(t, s, "gallery", "one", speaks)
	two := join(t, s, "gallery", "two", hears)
	require.Equal(t, room.Event{Kind: room.Came, Identity: "two"}, next(t, one))
	require.Equal(t, room.Event{Kind: room.Came, Identity: "one"}, next(t, two), "who was there is told of too")

	long := strings.Repeat("x", room.MaxPayload)
	require.NoError(t, one.Send("two", []byte("first")))
	require.NoError(t, one.Send("two", []byte(long)))
	require.NoError(t, two.Send("one", []byte("back")))
	require.Equal(t, room.Event{Kind: room.Said, Identity: "one", Payload: []byte("first")}, next(t, two))
	require.Equal(t, long, string(next(t, two).Payload))
	require.Equal(t, room.Event{Kind: room.Said, Identity: "two", Payload: []byte("back")}, next(t, one))
	require.ErrorIs(t, one.Send("two", make([]byte, 1<<20)), room.ErrTooLarge)

	// Who leaves is seen to, and may come again.
	two.Flush(t.Context())
	two.Close()
	require.ErrorIs(t, two.Err(), room.ErrLeft)
	require.ErrorIs(t, two.Send("one", nil), room.ErrLeft)
	require.Equal(t, room.Event{Kind: room.Left, Identity: "two"}, next(t, one))
	join(t, s, "gallery", "two", speaks)
	require.Equal(t, room.Event{Kind: room.Came, Identity: "two"}, next(t, one))
}

// What is said to one is heard by nobody else, and what is said elsewhere by nobody.
func TestWhoHears(t *testing.T) {
	s := livekittest.Start(t)
	one, two, three := join(t, s, "a", "one", speaks), join(t, s, "a", "two", speaks), join(t, s, "a", "three", speaks)
	elsewhere := join(t, s, "b", "one", speaks)
	for _, r := range []*room.Room{one, two, three} {
		next(t, r)
		next(t, r)
	}
	require.NoError(t, elsewhere.Send("two", []byte("elsewhere")))
	require.NoError(t, one.Send("two", []byte("for two")))
	require.NoError(t, one.Send("three", []byte("for three")))
	require.Equal(t, "for two", string(next(t, two).Payload))
	require.Equal(t, "for three", string(next(t, three).Payload))
	mute := join(t, s, "a", "mute", livekit.Grant{CanPublish: true})
	require.Equal(t, room.Came, next(t, one).Kind)
	require.NoError(t, mute.Send("one", []byte("unheard")))
	mute.Flush(t.Context())
	require.NoError(t, two.Send("one", []byte("heard")))
	require.Equal(t, "heard", string(next(t, one).Payload))
}

func TestTheServerEndsARoom(t *testing.T) {
	s := livekittest.Start(t)
	one := join(t, s, "a", "one", speaks)
	require.NoError(t, s.API().Delete(t.Context(), "a", time.Now()))
	lost(t, one, upstream.ErrUnavailable)
	require.NoError(t, s.API().Delete(t.Context(), "a", time.Now()), "one that is not there is closed")

	// Another with one's identity takes one's place.
	first := join(t, s, "b", "one", speaks)
	join(t, s, "b", "one", speaks)
	lost(t, first, upstream.ErrUnavailable)
}

// lost waits until a room is lost.
func lost(t *testing.T, r *room.Room, why error) {
	t.Helper()
	select {
	case <-r.Done():
		require.ErrorIs(t, r.Err(), why)
	case <-time.After(patience):
		require.FailNow(t, "the room is not lost")
	}
}

func TestATokenOpensOneRoom(t *testing.T) {
	s := livekittest.Start(t)
	other := livekit.Key{ID: s.Key.ID, Secret: strings.Repeat("another", 8)}
	forged, err := other.Mint(livekit.Participant{Identity: "one"}, livekit.Grant{Room: "a", RoomJoin: true}, time.Now(), time.Minute)
	require.NoError(t, err)
	old, err := s.Key.Mint(livekit.Participant{Identity: "one"}, livekit.Grant{Room: "a", RoomJoin: true}, time.Now().Add(-time.Hour), time.Minute)
	require.NoError(t, err)
	for name, token := range map[string]string{"forged": forged, "expired": old, "none": ""} {
		t.Run(name, func(t *testing.T) {
			_, err := room.Join(t.Context(), options(s, token))
			require.ErrorIs(t, err, upstream.ErrRefused)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = room.Join(ctx, options(s, s.Token(t, "a", "one", speaks)))
	require.ErrorIs(t, err, context.Canceled)
}
