package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// composeService is what the tests read of a service of compose.yaml.
type composeService struct {
	Image       string            `json:"image"`
	Command     string            `json:"command"`
	Entrypoint  []string          `json:"entrypoint"`
	Environment map[string]string `json:"environment"`
}

// What compose.yaml starts of the product, started with the same settings and arguments but
// for the addresses, the databases and the bucket, serves.
func TestTheComposeFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../compose.yaml")
	require.NoError(t, err)
	here := strings.NewReplacer(
		"postgres://root@database:26257/visavis_directory?sslmode=disable", newDatabase(t),
		"postgres://root@database:26257/visavis_shard_1?sslmode=disable", newDatabase(t),
		"s3://visavis?endpoint=http://files:7070&use_path_style=true&region=us-east-1",
		"file://"+filepath.ToSlash(t.TempDir())+"?no_tmp_dir=true&metadata=skip",
		"0.0.0.0:8080", "127.0.0.1:0", "0.0.0.0:8082", "127.0.0.1:0",
	)
	var file struct {
		Services map[string]composeService `json:"services"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(here.Replace(string(text))), &file))
	settings := func(s composeService) (env []string) {
		for name, value := range s.Environment {
			env = append(env, name+"="+value)
		}
		return env
	}
	once := func(service string, args ...string) []byte {
		s := file.Services[service]
		require.Equal(t, "visavis", s.Image, service)
		args = slices.Concat(strings.Fields(s.Command), args)
		if len(s.Entrypoint) > 0 {
			args = slices.Concat(s.Entrypoint[1:], args)
		}
		out, errs, code := execute(t, settings(s), args...)
		require.Zero(t, code, "%s: %s", service, errs)
		return []byte(out)
	}

	once("migrate")
	once("shard")
	once("shard") // at the next start
	var org shownOrg
	require.NoError(t, json.Unmarshal(once("admin", "org", "create", "Acme Academy", "--plan", "business", "--json"), &org))
	var key adminKey
	require.NoError(t, json.Unmarshal(once("admin", "key", "create", org.ID, "--full-access", "--json"), &key))

	at := map[string]string{}
	for _, role := range []string{"api", "worker", "portal"} {
		s := file.Services[role]
		require.Equal(t, "visavis", s.Image, role)
		p := launchWith(t, settings(s), append(strings.Fields(s.Command), "--admin-addr", "127.0.0.1:0")...)
		at[role] = p.awaitLine(t, map[bool]string{true: "working", false: "serving"}[role == "worker"]).Addr
	}
	require.Equal(t, http.StatusOK, get(t, "http://"+at["api"]+"/v1/settings", key.Secret).status)
	require.Equal(t, http.StatusNotFound, get(t, "http://"+at["portal"]+"/p/nobody", "").status)
}
