package errdefs_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
)

const (
	voice  errdefs.Noun = "voice"
	avatar errdefs.Noun = "avatar"
)

// Whoever asks is answered through what an error was wrapped in, and about the noun alone.
func TestAsking(t *testing.T) {
	which := id.NewVoice()
	wrap := func(err error) error { return fmt.Errorf("load the voice: %w", err) }
	for name, c := range map[string]struct {
		err                             error
		notFound, gone, archived, inUse bool
	}{
		"not found": {err: voice.NotFound(which), notFound: true},
		"gone":      {err: voice.Gone(which), gone: true},
		"erased":    {err: errdefs.Gone{Noun: voice, How: "erased"}, gone: true},
		"archived":  {err: voice.Archived(which), archived: true},
		"in use":    {err: voice.InUse(which, "It is used."), inUse: true},
		"else":      {err: errors.New("no such voice")},
	} {
		err := wrap(c.err)
		require.Equal(t, c.notFound, errdefs.IsNotFound(err, voice), name)
		require.Equal(t, c.gone, errdefs.IsGone(err, voice), name)
		require.Equal(t, c.notFound || c.gone, errdefs.IsAbsent(err, voice), name)
		require.Equal(t, c.archived, errdefs.IsArchived(err, voice), name)
		require.Equal(t, c.inUse, errdefs.IsConflict(err, voice, errdefs.ReasonInUse), name)
		require.False(t, errdefs.IsAbsent(err, avatar) || errdefs.IsArchived(err, avatar) || errdefs.IsConflict(err, avatar, errdefs.ReasonInUse), name)
	}
	require.False(t, errdefs.IsConflict(voice.InUse(which, "It is used."), voice, "library"), "for another reason")
	require.NotErrorIs(t, voice.NotFound(which), voice.NotFound(id.NewVoice()), "another voice")
	same := voice.NotFound(which)
	require.ErrorIs(t, voice.NotFound(which), same)
	require.False(t, errdefs.IsAbsent(nil, voice))
}

// What they say is for the log.
func TestMessages(t *testing.T) {
	which := id.NewVoice()
	require.EqualError(t, voice.NotFound(which), "no such voice "+which.String())
	require.EqualError(t, errdefs.NotFound{Noun: voice}, "no such voice")
	require.EqualError(t, voice.Gone(which), "the voice "+which.String()+" was deleted")
	require.EqualError(t, errdefs.Gone{Noun: "person", How: "erased"}, "the person was erased")
	require.EqualError(t, voice.Archived(which), "the voice "+which.String()+" is archived")
	require.EqualError(t, voice.InUse(which, "It is used by %d.", 2), "voice in_use: It is used by 2.")
	require.EqualError(t, errdefs.InvalidField("name", "has more than %d characters", 3), "name has more than 3 characters")
}
