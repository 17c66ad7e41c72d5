package patch_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/patch"
)

// spelt is a map whose keys are in small letters.
type spelt map[string]string

func (spelt) Key(s string) string { return strings.ToLower(s) }

type inner struct {
	N    int64            `json:"n"`
	Note *string          `json:"note"`
	Deep map[string]inner `json:"deep"`
}

type outer struct {
	Name  string   `json:"name"`
	Role  *string  `json:"role"`
	List  []inner  `json:"list"`
	Inner inner    `json:"inner"`
	Words spelt    `json:"words"`
	Tags  []string `json:"tags"`
}

func start() outer {
	role, note := "guide", "old"
	return outer{
		Name: "Mira", Role: &role, List: []inner{{N: 1, Note: &note}}, Inner: inner{N: 2, Note: &note},
		Words: spelt{"en": "Hello", "de": "Hallo"}, Tags: []string{"a", "b"},
	}
}

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct{ patch, changed string }{
		"nothing":               {`{}`, `{}`},
		"a value":               {`{"name":"Ada"}`, `{"name":"Ada"}`},
		"null leaves a value":   {`{"name":null,"list":null,"inner":null,"words":null,"tags":null}`, `{}`},
		"null empties":          {`{"role":null}`, `{"role":null}`},
		"one member":            {`{"inner":{"n":5}}`, `{"inner":{"n":5,"note":"old","deep":null}}`},
		"null empties a member": {`{"inner":{"note":null,"n":null}}`, `{"inner":{"n":2,"note":null,"deep":null}}`},
		"a list is replaced":    {`{"list":[{"n":7}]}`, `{"list":[{"n":7,"note":null,"deep":null}]}`},
		"an entry":              {`{"words":{"fr":"Bonjour"}}`, `{"words":{"en":"Hello","de":"Hallo","fr":"Bonjour"}}`},
		"another spelling":      {`{"words":{"DE":"Servus"}}`, `{"words":{"en":"Hello","de":"Servus"}}`},
		"null removes an entry": {`{"words":{"DE":null,"xx":null}}`, `{"words":{"en":"Hello"}}`},
		"entries are merged":    {`{"inner":{"deep":{"a":{"n":1}}}}`, `{"inner":{"n":2,"note":"old","deep":{"a":{"n":1,"note":null,"deep":null}}}}`},
		"what it has not":       {`{"id":"x","Name":"y"}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			before, got := start(), start()
			shared := got
			require.NoError(t, patch.Merge(&got, []byte(c.patch)))
			require.Equal(t, before, shared, "what it held before is not written to")
			var want, changed map[string]any
			require.NoError(t, json.Unmarshal(written(t, before), &want))
			require.NoError(t, json.Unmarshal([]byte(c.changed), &changed))
			maps.Copy(want, changed)
			text, err := json.Marshal(want)
			require.NoError(t, err)
			require.JSONEq(t, string(text), string(written(t, got)))
		})
	}
}

func written(t require.TestingT, v any) []byte {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

func TestErrorsNameTheMember(t *testing.T) {
	for text, path := range map[string]string{
		`{"inner":{"n":"x"}}`:                "inner.n",
		`{"words":{"en":5}}`:                 "words.en",
		`{"words":{"en":"a","EN":"b"}}`:      "words.en",
		`{"list":{}}`:                        "list",
		`{"inner":[]}`:                       "inner",
		`{"inner":{"deep":{"k":{"n":1.5}}}}`: "inner.deep.k.n",
	} {
		got := start()
		var failed *patch.Error
		require.ErrorAs(t, patch.Merge(&got, []byte(text)), &failed, text)
		require.Equal(t, path, failed.Path)
		require.Contains(t, failed.Error(), path)
		require.Error(t, failed.Unwrap())
	}
}

// A patch made twice is as if it were made once, and the whole of a value as a
// patch makes any other that value, but for entries that only the other has.
func TestMergeOfAWhole(t *testing.T) {
	values := rapid.Custom(func(t *rapid.T) outer {
		var o outer
		text := rapid.StringMatching(`[a-z]{0,3}`)
		o.Name, o.Inner.N = text.Draw(t, "name"), rapid.Int64Range(0, 9).Draw(t, "n")
		if rapid.Bool().Draw(t, "has a role") {
			role := text.Draw(t, "role")
			o.Role = &role
		}
		o.Tags = rapid.SliceOf(text).Draw(t, "tags")
		o.List = []inner{}
		o.Words = spelt{}
		for _, key := range rapid.SliceOf(text).Draw(t, "keys") {
			o.Words[key] = "w"
		}
		return o
	})
	rapid.Check(t, func(t *rapid.T) {
		from, to := values.Draw(t, "from"), values.Draw(t, "to")
		require.NoError(t, patch.Merge(&from, written(t, to)))
		for _, key := range slices.Collect(maps.Keys(from.Words)) {
			if _, ok := to.Words[key]; !ok {
				delete(from.Words, key)
			}
		}
		require.JSONEq(t, string(written(t, to)), string(written(t, from)))
	})
}

func FuzzMerge(f *testing.F) {
	for _, seed := range []string{`{}`, `null`, `[]`, `{"words":{"A":"b","a":null}}`, `{"inner":{"deep":{"":{}}}}`, `{"list":[null]}`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once := start()
		if patch.Merge(&once, text) != nil {
			return
		}
		twice := once
		require.NoError(t, patch.Merge(&twice, text))
		require.Equal(t, once, twice)
	})
}
