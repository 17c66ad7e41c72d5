package moment_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/moment"
)

type inner struct {
	At   time.Time  `json:"at"`
	Ends *time.Time `json:"ends"`
}

type wrapped struct{ value inner }

func (w wrapped) MarshalJSON() ([]byte, error) { return json.Marshal(w.value) }
func (wrapped) Wraps() reflect.Type            { return reflect.TypeFor[inner]() }

type own struct{ inner }

func (own) MarshalJSON() ([]byte, error) { return []byte(`"2026-01-02T03:04:05Z"`), nil }

type answer struct {
	inner
	Name    string             `json:"name"`
	List    []inner            `json:"list"`
	By      map[string]inner   `json:"by"`
	Plain   map[string]string  `json:"plain"`
	Wrapped wrapped            `json:"wrapped"`
	Own     own                `json:"own"`
	Raw     json.RawMessage    `json:"raw"`
	Times   [][]time.Time      `json:"times"`
	Next    *answer            `json:"next"`
	Hidden  time.Time          `json:"-"`
	Untold  map[string]*answer `json:"untold,omitempty"`
	Number  float64            `json:"number"`
}

func TestWrite(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 120_000_000, time.FixedZone("east", 3600))
	one := inner{at, &at}
	v := answer{
		inner: one, Name: "2026-01-02T03:04:05Z \" \\", List: []inner{one, {}}, By: map[string]inner{"a\"b": one}, Plain: map[string]string{"at": "2026-01-02T03:04:05Z"},
		Wrapped: wrapped{one}, Raw: json.RawMessage(`{"at":"2026-01-02T03:04:05Z"}`), Times: [][]time.Time{{at}, {}}, Number: -1.5e9,
	}
	v.Next = &answer{inner: one, Raw: json.RawMessage(`[]`)}
	before, err := json.Marshal(v)
	require.NoError(t, err)
	after := moment.Of(reflect.TypeOf(v)).Write(before)

	const told, zero = "2026-01-02T02:04:05.120000Z", "0001-01-01T00:00:00.000000Z"
	var got map[string]any
	require.NoError(t, json.Unmarshal(after, &got))
	full := map[string]any{"at": told, "ends": told}
	require.Equal(t, told, got["at"])
	require.Equal(t, told, got["ends"])
	require.Equal(t, v.Name, got["name"], "a text that is no moment stays")
	require.Equal(t, []any{full, map[string]any{"at": zero, "ends": nil}}, got["list"])
	require.Equal(t, map[string]any{"a\"b": full}, got["by"])
	require.Equal(t, full, got["wrapped"])
	require.Equal(t, []any{[]any{told}, []any{}}, got["times"])
	require.Equal(t, told, got["next"].(map[string]any)["at"])
	for _, name := range []string{"plain", "raw"} {
		require.Equal(t, map[string]any{"at": "2026-01-02T03:04:05Z"}, got[name], "somebody's own stays")
	}
	require.Equal(t, "2026-01-02T03:04:05Z", got["own"])
}

func TestOfNone(t *testing.T) {
	require.Nil(t, moment.Of(reflect.TypeFor[map[string][]int]()))
	require.Nil(t, moment.Of(nil))
	text := []byte(`{"at":"2026-01-02T03:04:05Z"}`)
	require.Equal(t, text, moment.Of(reflect.TypeFor[any]()).Write(text))
}

func TestNamed(t *testing.T) {
	text := moment.Named("startedAt", "endedAt").Write([]byte(`{"startedAt": "2026-01-02T03:04:05.5Z",
		"endedAt": null, "text": "2026-01-02T03:04:05Z", "n": 1, "in": {"startedAt": "2026-01-02T03:04:05Z"}}`))
	require.JSONEq(t, `{"startedAt": "2026-01-02T03:04:05.500000Z", "endedAt": null, "text": "2026-01-02T03:04:05Z", "n": 1,
		"in": {"startedAt": "2026-01-02T03:04:05Z"}}`, string(text))
}
