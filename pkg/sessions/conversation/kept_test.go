package conversation

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

func keeps(k Kept) func(*Config) {
	return func(c *Config) { c.Kept = func(context.Context) (Kept, error) { return k, nil } }
}

const nothingKept = "No words of this conversation are kept here. People of the organization may join the conversation. "

func TestWhatIsKeptIsToldFromTheSettings(t *testing.T) {
	ai := bookOf("en").disclosure
	for name, c := range map[string]struct {
		kept Kept
		want string
	}{
		"some days":    {Kept{Days: new(int64(30)), Read: true}, "The text of what is said is normally kept here for 30 days after the conversation. People of the organization that offers it may read it. " + ai},
		"a day":        {Kept{Days: new(int64(1))}, "The text of what is said is normally kept here for one day after the conversation. " + ai},
		"to the end":   {Kept{Days: new(int64(0)), Sound: SoundOff}, "The text of what is said is normally deleted here once the conversation is over. The sound is not recorded here. " + ai},
		"no set time":  {Kept{Notice: "https://example.com/privacy"}, "What is said is kept here as text, and no time is set after which it is deleted. The privacy notice tells more: https://example.com/privacy " + ai},
		"nothing":      {Kept{None: true, Days: new(int64(30)), Read: true}, nothingKept + ai},
		"a contact":    {Kept{None: true, Reachable: true}, "No words of this conversation are kept here. How you can be reached is kept, if you leave it. People of the organization may join the conversation. " + ai},
		"not told":     {Kept{Untold: true, Days: new(int64(30)), Read: true, Sound: SoundOff}, answer.Say("en", "keptUnknown") + " The sound is not recorded here. " + ai},
		"with consent": {Kept{Days: new(int64(2)), Sound: SoundAsked}, "The text of what is said is normally kept here for 2 days after the conversation. The sound is recorded here only if you agree to it. " + ai},
		"recorded":     {Kept{Days: new(int64(2)), Sound: SoundIsTaped}, "The text of what is said is normally kept here for 2 days after the conversation. The sound is being recorded. " + ai},
		"was recorded": {Kept{Days: new(int64(2)), Sound: SoundWasTaped}, "The text of what is said is normally kept here for 2 days after the conversation. Sound of this conversation was recorded here; it is not being recorded now. " + ai},
	} {
		t.Run(name, func(t *testing.T) {
			for _, question := range []string{"Do you record this?", "Is this conversation stored?", "What happens with what I say?", "Who can read this?"} {
				r, err := asked(t, question, keeps(c.kept))
				require.NoError(t, err)
				require.Equal(t, c.want, r.Text, question)
				require.Equal(t, ActDisclosure, r.Act)
				require.False(t, r.Gap)
			}
		})
	}
}

// Where the settings are not known nothing is said of them, and that it is an AI all the same.
func TestWhatIsKeptIsNotInvented(t *testing.T) {
	for _, setup := range []func(*Config){nil, func(c *Config) {
		c.Kept = func(context.Context) (Kept, error) { return Kept{}, errors.New("away") }
	}} {
		r, err := asked(t, "Is this conversation stored?", setup)
		require.NoError(t, err)
		require.Equal(t, answer.Say("en", "keptUnknown")+" "+bookOf("en").disclosure, r.Text)
	}
}

// Where nothing can be looked up, the settings and that it is an AI are said all the same.
func TestWhatIsKeptIsToldWithoutThePacks(t *testing.T) {
	r, err := asked(t, "Is this conversation stored?", func(c *Config) {
		keeps(Kept{None: true})(c)
		c.Knowledge = failing{errBroken}
	})
	require.NoError(t, err)
	require.Equal(t, nothingKept+bookOf("en").disclosure, r.Text)
	require.Equal(t, ActDisclosure, r.Act)
}

// What the packs say of conversations comes first; what they say of other records does not.
func TestWhatThePacksSayIsKeptComesFirst(t *testing.T) {
	r, err := asked(t, "Is this conversation stored?", func(c *Config) {
		keeps(Kept{None: true})(c)
		c.Knowledge = pack{{Text: "Conversations with our avatar are not stored.", Heading: "Privacy", Language: "en", Score: 0.9}}
	})
	require.NoError(t, err)
	require.Equal(t, "Conversations with our avatar are not stored. "+nothingKept+bookOf("en").disclosure, r.Text)
	require.Len(t, r.Sources, 1)
	r, err = asked(t, "Do you record this?", func(c *Config) {
		keeps(Kept{None: true})(c)
		c.Knowledge = pack{{Text: "We record all lectures and store them for one year.", Heading: "Recordings", Language: "en", Score: 0.9}}
	})
	require.NoError(t, err)
	require.Equal(t, nothingKept+bookOf("en").disclosure, r.Text)
}

func TestWhoIsSpeakingIsStillDisclosed(t *testing.T) {
	r, err := asked(t, "Is this a recording?", keeps(Kept{None: true}))
	require.NoError(t, err)
	require.Equal(t, ActDisclosure, r.Act)
	require.NotContains(t, r.Text, "kept")
}

// Nobody writes down an address that is said aloud.
func TestNoAddressIsSaidAloud(t *testing.T) {
	k := Kept{None: true, Notice: "https://example.com/privacy"}
	require.Len(t, k.told("de", true), 2)
	require.Len(t, k.told("de", false), 3)
}
