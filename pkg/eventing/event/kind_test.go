package event_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/event"
)

// topLevel is the name of the member of data that a path lies in.
func topLevel(path string) string {
	name, _, _ := strings.Cut(path, ".")
	return strings.TrimSuffix(name, "[]")
}

func TestStructureCompletes(t *testing.T) {
	for _, k := range event.Kinds() {
		given := topLevel(k.Fields.Structure[0])
		data, err := k.Structure(map[string]any{given: "x"})
		require.NoError(t, err, k.Type)
		require.Len(t, data, len(k.Fields.Structure), k.Type)
		for _, path := range k.Fields.Structure {
			value, ok := data[topLevel(path)]
			require.True(t, ok, "%s: %s", k.Type, path)
			if topLevel(path) == given {
				require.Equal(t, "x", value)
			} else {
				require.Nil(t, value)
			}
		}
		data[given] = "changed"
		data, err = k.Structure(nil)
		require.NoError(t, err)
		require.Nil(t, data[given], "%s: the map is the caller's own", k.Type)
	}
}

func TestStructureRefuses(t *testing.T) {
	for _, k := range event.Kinds() {
		_, err := k.Structure(map[string]any{"sesionId": nil})
		require.EqualError(t, err, "event "+string(k.Type)+" has no field sesionId")
		for class, paths := range map[string][]string{
			"contact": k.Fields.Contact, "result": k.Fields.Result, "conversation": k.Fields.Conversation,
		} {
			for _, path := range paths {
				_, err := k.Structure(map[string]any{topLevel(path): nil})
				require.EqualError(t, err, "event "+string(k.Type)+": "+topLevel(path)+" is a "+class+" field, which no emitter gives")
				if path != topLevel(path) {
					_, err = k.Structure(map[string]any{path: nil})
					require.ErrorContains(t, err, "has no field "+path)
				}
			}
		}
		for _, path := range k.Fields.Structure {
			if path != topLevel(path) {
				_, err = k.Structure(map[string]any{path: nil})
				require.ErrorContains(t, err, "has no field "+path, "a list goes by its name alone")
			}
		}
	}
}

func TestBlank(t *testing.T) {
	contact := map[string]any{"name": nil, "email": nil, "phone": nil, "company": nil, "preferredChannel": nil}
	for of, want := range map[event.Type]map[string]any{
		event.LeadCaptured:  {"contact": contact, "need": nil, "budget": nil, "timeline": nil, "answers": nil, "summary": nil},
		event.HandoffLeft:   {"contact": contact},
		event.ScoreRecorded: {"percent": nil, "score": nil, "maxScore": nil, "band": nil, "passed": nil, "criteria": nil},
		event.ReportProduced: {"percent": nil, "score": nil, "maxScore": nil, "band": nil, "passed": nil,
			"summary": nil, "feedback": nil, "quotes": nil},
		event.SessionStarted: {},
	} {
		k, _ := event.Find(of)
		require.Equal(t, want, k.Blank(), of)
	}
	k, _ := event.Find(event.LeadCaptured)
	k.Blank()["contact"].(map[string]any)["name"] = "Ada"
	require.Equal(t, contact, k.Blank()["contact"], "the map is the caller's own")
}

func BenchmarkStructure(b *testing.B) {
	k, _ := event.Find(event.SessionEnded)
	fields := map[string]any{"sessionId": "sess_1", "durationS": 62, "turnCount": 7}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Structure(fields); err != nil {
			b.Fatal(err)
		}
	}
}

// In the older contract data has the same fields, but for those that the
// contract's changes name.
func TestOlderContract(t *testing.T) {
	for _, k := range event.Kinds() {
		data := heldBack(t, k)
		want := heldBack(t, k)
		for _, c := range []struct {
			name         string
			newer, older any
		}{
			{"portalId", "portal_7", "7"},
			{"subjectId", "sub_8", "8"},
			{"subjectIds", []string{"sub_8"}, []string{"8"}},
			{"sessionId", "sess_9", "sess_9"},
		} {
			if _, ok := data[c.name]; ok {
				data[c.name], want[c.name] = c.newer, c.older
			}
		}
		if band, ok := want["leadBand"]; ok {
			delete(want, "leadBand")
			want["leadScore"] = band
		}
		if contact, ok := want["contact"].(map[string]any); ok {
			delete(want, "contact")
			maps.Copy(want, contact)
		}
		delete(want, "inboxItemId")
		older := contract.Event(contract.V20260708, map[string]any{"type": string(k.Type), "data": data})
		require.Equal(t, want, older["data"], k.Type)
	}
}
