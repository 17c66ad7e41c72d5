package id_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

var avatars = rapid.Custom(func(t *rapid.T) id.Avatar {
	return id.Avatar(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes"))
})

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := avatars.Draw(t, "id")
		text := want.String()
		require.Regexp(t, `^av_[0-9A-Za-z]{22}$`, text)
		require.Equal(t, strings.TrimPrefix(text, "av_"), want.Bare())
		for _, spelling := range []string{text, want.Bare()} {
			got, err := id.ParseAvatar(spelling)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}

// Nobody's id is given by a caller, who would be taken for one that gives none; what is stored can
// hold it.
func TestTheZeroIDIsNotParsed(t *testing.T) {
	var none id.Avatar
	for _, spelling := range []string{none.String(), none.Bare()} {
		_, err := id.ParseAvatar(spelling)
		require.ErrorIs(t, err, id.ErrMalformed)
	}
	read := id.NewAvatar()
	require.NoError(t, read.UnmarshalText([]byte(none.String())))
	require.True(t, read.IsZero())
}

func TestTextSortsAsBytesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := avatars.Draw(t, "a"), avatars.Draw(t, "b")
		require.Equal(t, bytes.Compare(a[:], b[:]), strings.Compare(a.String(), b.String()))
	})
}

func TestNewIDsSortByAge(t *testing.T) {
	before := id.NewAvatar()
	for range 1000 {
		after := id.NewAvatar()
		require.Less(t, before.String(), after.String())
		require.EqualValues(t, 7, uuid.UUID(after).Version())
		before = after
	}
}

func TestKnownSpellings(t *testing.T) {
	for text, bytes := range map[string]id.Avatar{
		"av_0000000000000000000001": {15: 1},
		"av_000000000000000000000z": {15: 61},
		"av_0000000000000000000010": {15: 62},
		"av_7n42DGM5Tflk9n8mt7Fhc7": {
			255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
		},
	} {
		require.Equal(t, text, bytes.String())
		got, err := id.ParseAvatar(text)
		require.NoError(t, err)
		require.Equal(t, bytes, got)
	}
}

func TestMalformed(t *testing.T) {
	good := id.NewAvatar()
	for name, text := range map[string]string{
		"empty":                   "",
		"the prefix alone":        "av_",
		"another kind":            "vo_" + good.Bare(),
		"no underscore":           "av" + good.Bare(),
		"the prefix twice":        "av_" + good.String(),
		"a capital prefix":        "AV_" + good.Bare(),
		"a digit short":           good.String()[:24],
		"a digit long":            good.String() + "0",
		"leading space":           " " + good.String(),
		"trailing newline":        good.String() + "\n",
		"a hyphen":                "av_-" + good.Bare()[1:],
		"not ASCII":               "av_é" + good.Bare()[2:],
		"a NUL":                   "av_\x00" + good.Bare()[1:],
		"one beyond 128 bits":     "av_7n42DGM5Tflk9n8mt7Fhc8",
		"the largest of 22":       "av_zzzzzzzzzzzzzzzzzzzzzz",
		"a UUID":                  uuid.UUID(good).String(),
		"a UUID without hyphens":  strings.ReplaceAll(uuid.UUID(good).String(), "-", ""),
		"an id with a path added": good.String() + "/preview",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := id.ParseAvatar(text)
			require.ErrorIs(t, err, id.ErrMalformed)
			require.True(t, got.IsZero())
			got = good
			require.ErrorIs(t, got.UnmarshalText([]byte(text)), id.ErrMalformed)
			require.Equal(t, good, got, "left as it was")
		})
	}
}

func TestJSON(t *testing.T) {
	type body struct {
		ID   id.Avatar          `json:"id"`
		Keys map[id.Avatar]bool `json:"keys"`
	}
	a := id.NewAvatar()
	text, err := json.Marshal(body{a, map[id.Avatar]bool{a: true}})
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"`+a.String()+`","keys":{"`+a.String()+`":true}}`, string(text))
	var back body
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, body{a, map[id.Avatar]bool{a: true}}, back)
	require.Error(t, json.Unmarshal([]byte(`{"id":"vo_`+a.Bare()+`"}`), &back))
}

func TestDatabaseForm(t *testing.T) {
	a := id.NewAvatar()
	v, err := a.UUIDValue()
	require.NoError(t, err)
	require.Equal(t, pgtype.UUID{Bytes: a, Valid: true}, v)
	var back id.Avatar
	require.NoError(t, back.ScanUUID(v))
	require.Equal(t, a, back)

	v, err = id.Avatar{}.UUIDValue()
	require.NoError(t, err)
	require.False(t, v.Valid, "the zero id is NULL")
	require.NoError(t, back.ScanUUID(pgtype.UUID{}))
	require.True(t, back.IsZero(), "NULL is the zero id")
}

func TestNamedIDsNeverChange(t *testing.T) {
	// Links to library faces have these in them.
	require.Equal(t, "av_50hSdFlU2cUkDBJTqG0cMi", id.NamedAvatar("amara").String())
	require.NotEqual(t, id.NamedAvatar("amara").Bare(), id.NamedAvatar("aiko").Bare())
	require.NotEqual(t, id.NamedAvatar("amara").Bare(), id.NamedVoice("amara").Bare(), "each kind has its own")
	require.False(t, id.NamedAvatar("").IsZero())
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "av_", "av_7n42DGM5Tflk9n8mt7Fhc7", "7n42DGM5Tflk9n8mt7Fhc8", "vo_0000000000000000000000", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := id.ParseAvatar(text)
		if err != nil {
			require.ErrorIs(t, err, id.ErrMalformed)
			return
		}
		require.Equal(t, strings.TrimPrefix(text, "av_"), got.Bare())
		require.Equal(t, "av_"+got.Bare(), got.String())
	})
}
