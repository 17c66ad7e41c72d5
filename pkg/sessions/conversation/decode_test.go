package conversation

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

func TestDecode(t *testing.T) {
	turn := id.NewTurn()
	for raw, want := range map[string]ClientMessage{
		`{"id":"1","type":"client-ready"}`:                                             {Type: ClientReady},
		`{"type":"user-text","data":{"text":" a\u0000b\n c "}}`:                        {Type: UserText, Text: "ab c"},
		`{"type":"user-transcript","data":{"text":"hi","final":true}}`:                 {Type: UserTranscript, Text: "hi", Final: true},
		`{"type":"llm-function-call-result","data":{"callId":"a","result":{"b":1}}}`:   {Type: FunctionCallResult, Call: "a", Result: json.RawMessage(`{"b":1}`)},
		`{"type":"llm-function-call-result","data":{"callId":"a","result":null}}`:      {Type: FunctionCallResult, Call: "a", Result: json.RawMessage(`null`)},
		`{"type":"llm-function-call-result","data":{"callId":"a","error":""}}`:         {Type: FunctionCallResult, Call: "a", Failure: "it failed"},
		`{"type":"playback","data":{"turnId":"` + turn.String() + `","playedMs":120}}`: {Type: Playback, Turn: turn, PlayedMs: 120},
	} {
		got, err := Decode([]byte(raw))
		require.NoError(t, err, raw)
		require.Equal(t, want, got)
	}
	for raw, code := range map[string]string{
		``:                     "invalid_message",
		`[]`:                   "invalid_message",
		`{"type":"dance"}`:     "unknown_type",
		`{"type":"user-text"}`: "invalid_message",
		`{"type":"user-text","data":{"text":"\u0007"}}`:                                    "invalid_message",
		`{"type":"user-text","data":{"text":"` + strings.Repeat("ä", 4001) + `"}}`:         "text_too_long",
		`{"type":"user-text","data":{"text":"` + strings.Repeat("a", 40_000) + `"}}`:       "message_too_large",
		`{"type":"llm-function-call-result"}`:                                              "invalid_message",
		`{"type":"llm-function-call-result","data":{"callId":"a"}}`:                        "invalid_message",
		`{"type":"llm-function-call-result","data":{"result":1}}`:                          "invalid_message",
		`{"type":"llm-function-call-result","data":{"callId":"a","result":1,"error":"b"}}`: "invalid_message",
		`{"type":"playback","data":{"turnId":"x","playedMs":1}}`:                           "invalid_message",
		`{"type":"playback","data":{"turnId":"` + turn.String() + `","playedMs":-1}}`:      "invalid_message",
	} {
		_, err := Decode([]byte(raw))
		var wrong *BadMessageError
		require.ErrorAs(t, err, &wrong, raw)
		require.Equal(t, code, wrong.Code, raw)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"user-text","data":{"text":"hi"}}`))
	f.Add([]byte(`{"type":"playback","data":{"turnId":"turn_0000000000000000000000","playedMs":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := Decode(raw)
		if err != nil {
			require.Zero(t, m)
			return
		}
		require.LessOrEqual(t, utf8.RuneCountInString(m.Text), maxTextRunes)
		require.True(t, utf8.ValidString(m.Text))
		require.False(t, strings.ContainsFunc(m.Text, unicode.IsControl))
	})
}

func FuzzSplitter(f *testing.F) {
	f.Add("One. Two 3.4 is [1]. Drei", uint8(3))
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		var s splitter
		var got strings.Builder
		for rest := text; rest != ""; {
			n := min(int(step)+1, len(rest))
			for _, sentence := range s.add(rest[:n]) {
				got.WriteString(sentence)
			}
			rest = rest[n:]
		}
		got.WriteString(s.end())
		bare := func(s string) string { return strings.ReplaceAll(clean(s), " ", "") }
		if utf8.ValidString(text) {
			require.Equal(t, bare(text), bare(got.String()))
		}
	})
}

func TestMessagesOnTheWire(t *testing.T) {
	turn := id.NewTurn()
	raw, err := json.Marshal(Message{ID: "c1", Type: "bot-text", Data: BotText{Turn: turn, Text: "Hi."}, T: 5})
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"c1","type":"bot-text","data":{"turnId":"`+turn.String()+`","text":"Hi.","final":false},"t":5}`, string(raw))
}
