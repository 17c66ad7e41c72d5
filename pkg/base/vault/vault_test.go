package vault_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/vault"
)

func open(t *testing.T, keys ...[]byte) *vault.Vault {
	t.Helper()
	v, err := vault.New(keys...)
	require.NoError(t, err)
	return v
}

func TestSealedSecretsOpenInTheirPlace(t *testing.T) {
	v := open(t, vault.NewKey())
	sealed := v.Seal("wh_1", []byte("whsec_abc"))
	require.NotContains(t, string(sealed), "whsec")
	require.NotEqual(t, sealed, v.Seal("wh_1", []byte("whsec_abc")), "nobody sees that two secrets are the same")
	secret, err := v.Open("wh_1", sealed)
	require.NoError(t, err)
	require.Equal(t, "whsec_abc", string(secret))

	_, err = v.Open("wh_2", sealed)
	require.ErrorIs(t, err, vault.ErrCannotOpen, "a row's secret copied into another row")
	for at := range sealed {
		altered := bytes.Clone(sealed)
		altered[at] ^= 1
		_, err = v.Open("wh_1", altered)
		require.ErrorIs(t, err, vault.ErrCannotOpen)
		_, err = v.Open("wh_1", sealed[:at])
		require.ErrorIs(t, err, vault.ErrCannotOpen)
	}
}

func TestAKeyIsReplaced(t *testing.T) {
	old, young := vault.NewKey(), vault.NewKey()
	sealed := open(t, old).Seal("p", []byte("s"))
	both := open(t, young, old)
	secret, err := both.Open("p", sealed)
	require.NoError(t, err)
	require.Equal(t, "s", string(secret))
	_, err = open(t, old).Open("p", both.Seal("p", []byte("s")))
	require.ErrorIs(t, err, vault.ErrCannotOpen, "the first key seals")
}

func TestKeys(t *testing.T) {
	a, b := vault.NewKey(), vault.NewKey()
	text := "# today's\n" + base64.StdEncoding.EncodeToString(a) + "\n\n " + base64.StdEncoding.EncodeToString(b) + "\n"
	keys, err := vault.ParseKeys(text)
	require.NoError(t, err)
	require.Equal(t, [][]byte{a, b}, keys)
	for _, bad := range []string{"", "# none\n", "c2hvcnQ=", "not base64!"} {
		_, err := vault.ParseKeys(bad)
		require.Error(t, err, bad)
	}
	_, err = vault.New()
	require.Error(t, err)
	_, err = vault.New([]byte("short"))
	require.Error(t, err)
}
