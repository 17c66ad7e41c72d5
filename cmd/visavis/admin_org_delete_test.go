package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeleteAnOrganizationByHand(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	other := adminTool[shownOrg](t, p.directory, "org", "create", "Globex")
	api := p.serve(t)
	files := "file://" + filepath.ToSlash(p.files)
	require.NoError(t, os.MkdirAll(filepath.Join(p.files, p.org), 0o700))
	own := filepath.Join(p.files, p.org, "one")
	require.NoError(t, os.WriteFile(own, []byte("x"), 0o600))
	remove := func(args ...string) (string, int) {
		_, stderr, code := execute(t, nil, append([]string{"admin", "--database", p.directory, "org", "delete"}, args...)...)
		return stderr, code
	}

	said, code := remove("acme")
	require.Equal(t, 1, code)
	require.Contains(t, said, p.org+" (Acme, on one) and everything that it owns would be deleted at once and for good: say --yes")
	require.Equal(t, http.StatusOK, get(t, api.url+"/me", p.key).status)

	said, code = remove("acme", "--yes")
	require.Equal(t, 1, code)
	require.Contains(t, said, "--files or VISAVIS_FILES", "files that are elsewhere would stay")
	require.Equal(t, http.StatusOK, get(t, api.url+"/me", p.key).status)

	executeSQL(t, p.directory, `UPDATE organization SET managed_by = 'Organisation/acme/main/42' WHERE slug = 'acme'`)
	said, code = remove("acme", "--yes", "--files", files)
	require.Equal(t, 1, code)
	require.Contains(t, said, "is managed by Organisation acme/main: delete that")
	executeSQL(t, p.directory, `UPDATE organization SET managed_by = 'api' WHERE slug = 'acme'`)

	said, code = remove("acme", "--yes", "--files", files)
	require.Zero(t, code, said)
	left := adminTool[[]shownOrg](t, p.directory, "org", "list")
	require.Len(t, left, 1)
	require.Equal(t, other.ID, left[0].ID)
	require.NoFileExists(t, own)
	requireStatus(t, http.StatusUnauthorized, api.url+"/me", p.key)
	said, code = remove(p.org, "--yes", "--files", files)
	require.Equal(t, 1, code)
	require.Contains(t, said, "organization")
}
