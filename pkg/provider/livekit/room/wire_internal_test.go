package room

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"visavis.dev/pkg/base/egress"
)

func TestWhoSentAPacket(t *testing.T) {
	user := func(from string) []byte {
		return appendMessage(nil, 2, appendText(appendText(appendMessage(nil, 2, []byte("hi")), 4, "visavis"), 5, from))
	}
	for name, c := range map[string]struct {
		message []byte
		from    string
	}{
		"both places":        {appendText(user("a"), 4, "a"), "a"},
		"the old place":      {user("a"), "a"},
		"the new place":      {appendText(user(""), 4, "a"), "a"},
		"two senders":        {appendText(user("a"), 4, "visitor"), ""},
		"two in other order": {append(appendText(nil, 4, "visitor"), user("a")...), ""},
		"nobody":             {user(""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := readPacket(c.message)
			require.NoError(t, err)
			require.Equal(t, []string{c.from, "visavis", "hi"}, []string{p.from, p.user.topic, string(p.user.payload)})
		})
	}
	p, err := readPacket(appendMessage(nil, 7, nil))
	require.NoError(t, err)
	require.Nil(t, p.user, "a transcription is none of a user")
}

// What is sent is read as it was meant, and other fields are passed by.
func TestPacketsAreReadBack(t *testing.T) {
	message := packetTo("persona", "visavis", []byte("hello"))
	message = protowire.AppendFixed64(protowire.AppendTag(message, 99, protowire.Fixed64Type), 1)
	p, err := readPacket(message)
	require.NoError(t, err)
	require.Equal(t, []string{"", "visavis", "hello"}, []string{p.from, p.user.topic, string(p.user.payload)})
}

func FuzzReadSignal(f *testing.F) {
	f.Add(appendMessage(nil, 1, appendMessage(nil, 3, appendText(appendText(nil, 1, "PA"), 2, "visitor"))))
	f.Add(appendMessage(nil, 4, appendNumber(appendText(nil, 1, `{"candidate":"x"}`), 2, 1)))
	f.Add(appendMessage(nil, 5, appendMessage(nil, 1, appendNumber(nil, 3, 2))))
	f.Add([]byte{0xff})
	f.Fuzz(func(t *testing.T, message []byte) {
		if s, err := readSignal(message); err == nil && s.join != nil {
			require.LessOrEqual(t, len(s.join.others), len(message))
		}
		_, _ = readPacket(message)
	})
}

// Whatever a description says, nothing is left of it that may not be tried.
func FuzzDescription(f *testing.F) {
	f.Add("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=candidate:1 1 udp 1 10.0.0.1 9 typ host\r\nm=application 9 UDP x\r\na=candidate:1 1 udp 1 1.1.1.1 9 typ host\r\n")
	f.Add("v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\na=candidate:1 1 udp 1 x.local 9 typ host\n")
	guard := egress.New(egress.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		checked, err := (&doors{guard: guard}).description(text)
		if err != nil {
			return
		}
		for line := range strings.SplitSeq(checked, "\r\n") {
			if value, is := strings.CutPrefix(line, "a=candidate:"); is {
				require.True(t, (&doors{guard: guard}).open(value), line)
			}
		}
	})
}
