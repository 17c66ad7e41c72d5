package apikey_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/store/apikey"
)

func TestSecret(t *testing.T) {
	pattern := regexp.MustCompile(apikey.Pattern)
	seen := map[apikey.Secret]bool{}
	for environment, prefix := range map[apikey.Environment]string{apikey.Live: "vsk_live_", apikey.Test: "vsk_test_"} {
		for range 200 {
			s := apikey.NewSecret(environment)
			require.False(t, seen[s])
			seen[s] = true
			require.True(t, strings.HasPrefix(string(s), prefix))
			require.Equal(t, string(s), pattern.FindString("token="+string(s)+"; more"))
			parsed, ok := apikey.ParseSecret(string(s))
			require.True(t, ok)
			require.Equal(t, s, parsed)
			require.True(t, strings.HasSuffix(string(s), s.Last4()))
		}
	}
}

func TestAnyOneCharacterMistyped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := []byte(apikey.NewSecret(apikey.Live))
		i := rapid.IntRange(0, len(s)-1).Draw(t, "position")
		c := rapid.Byte().Filter(func(b byte) bool { return b != s[i] }).Draw(t, "typed")
		s[i] = c
		_, ok := apikey.ParseSecret(string(s))
		require.False(t, ok, "%q", s)
	})
}

func TestNotASecret(t *testing.T) {
	good := string(apikey.NewSecret(apikey.Live))
	for name, s := range map[string]string{
		"empty": "", "short": good[:len(good)-1], "long": good + "0",
		"the other environment": strings.Replace(good, "live", "test", 1), "prefix alone": "vsk_live_",
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := apikey.ParseSecret(s)
			require.False(t, ok)
		})
	}
}
