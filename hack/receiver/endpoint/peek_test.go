package endpoint

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPeek(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"id":"evt_1","type":"a.b","data":{}}`:                                  {"evt_1", "a.b"},
		` { "data" : {"id":"x","l":[1,{"type":"y"}]}, "type" : "a" ,"id":"b" } `: {"b", "a"},
		`{"s":"a\",\"id\":\"no\"","id":"\u0065vt","type":"\\"}`:                  {"evt", `\`},
		`{"n":-1.5e3,"b":true,"z":null,"id":"1"}`:                                {"1", ""},
		`{"id":"1","type":`: {"1", ""},
		`{"ID":"1"}`:        {},
		`{"id":1}`:          {},
		`{}`:                {},
		`["id"]`:            {},
		``:                  {},
	} {
		id, kind := peek([]byte(body))
		assert.Equal(t, want, [2]string{id, kind}, body)
	}
}

// FuzzPeek finds what encoding/json wrote, whatever stands before it, and
// bears what is no JSON at all.
func FuzzPeek(f *testing.F) {
	f.Add("evt_1", "a.b", []byte(`{"id":["}"],"type":"\""}`))
	f.Add("<\x00\"\\", "é", []byte(`[{},"]",{"":[]}] `))
	f.Add("", "a", []byte(`{"`))
	f.Fuzz(func(t *testing.T, id, kind string, data []byte) {
		peek(data)
		if !json.Valid(data) {
			return
		}
		var wrote, want struct {
			Before json.RawMessage `json:"before"`
			Type   string          `json:"type"`
			After  json.RawMessage `json:"after"`
			ID     string          `json:"id"`
		}
		wrote.Before, wrote.Type, wrote.After, wrote.ID = data, kind, data, id
		body, err := json.Marshal(wrote)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(body, &want)) // as invalid UTF-8 is replaced
		gotID, gotType := peek(body)
		assert.Equal(t, [2]string{want.ID, want.Type}, [2]string{gotID, gotType})
	})
}
