package contract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
)

// Files of before 2026-10-01 have the ids of portals and subjects bare, wherever they stand.
func TestBareIDs(t *testing.T) {
	text, err := contract.BareIDs([]byte(`{"portalId":"portal_1","resultId":"res_1","rows":[{"subjectId":"sub_2","portalIds":["portal_3",null]}],"title":"sub_4"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"portalId":"1","resultId":"res_1","rows":[{"subjectId":"2","portalIds":["3",null]}],"title":"sub_4"}`, string(text))
	require.Equal(t, []string{"1", "2", "res_3"}, []string{contract.Bare("portal_1"), contract.Bare("sub_2"), contract.Bare("res_3")})
	_, err = contract.BareIDs([]byte(`{`))
	require.Error(t, err)
}
