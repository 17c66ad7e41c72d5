package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// configuration runs visavis config for a role, or without one, and answers its lines by
// name.
func configuration(t *testing.T, env []string, role string, args ...string) map[string]setting {
	t.Helper()
	line := append(strings.Fields("config "+role), "--json")
	stdout, stderr, code := execute(t, env, append(line, args...)...)
	require.Zero(t, code, "%s", stderr)
	var lines []setting
	require.NoError(t, json.Unmarshal([]byte(stdout), &lines))
	byName := map[string]setting{}
	for _, l := range lines {
		byName[l.Name] = l
	}
	return byName
}

func settingsFileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestConfigurationSources(t *testing.T) {
	t.Parallel()
	file := settingsFileOf(t, "pods: 2\nshards: 3\nmax-conns: 5\naddress-limit: 1000000\ntrusted-proxy: [10.0.0.0/8, 192.168.0.0/16]\nrates: read=9/9,write=8/8\n")
	env := []string{"VISAVIS_PODS=7", "VISAVIS_SHARDS=8", "VISAVIS_ALLOW_ADDRESS=10.1.0.0/16,10.2.0.0/16",
		"VISAVIS_DATABASE=postgres://me:geheim@db/dir"}
	lines := configuration(t, env, "dev", "--config", file, "--pods", "9")
	for name, want := range map[string]struct{ value, source string }{
		"pods":          {"9", "flag"},
		"shards":        {"8", "environment"},
		"allow-address": {"[10.1.0.0/16,10.2.0.0/16]", "environment"},
		"database":      {"postgres://me:xxxxx@db/dir", "environment"},
		"max-conns":     {"5", "file"},
		"trusted-proxy": {"[10.0.0.0/8,192.168.0.0/16]", "file"},
		"rates":         {"read=9/9,write=8/8", "file"},
		"address-limit": {"1000000", "file"},
		"log-level":     {"info", "default"},
		"config":        {file, "flag"},
	} {
		require.Equal(t, want.value, lines[name].Value, name)
		require.Equal(t, want.source, lines[name].Source, name)
		require.Equal(t, envName(name), lines[name].Environment)
		require.NotEmpty(t, lines[name].Meaning, name)
	}
	byEnvironment := configuration(t, []string{"VISAVIS_CONFIG=" + file}, "")
	require.Equal(t, "2", byEnvironment["pods"].Value)
	require.Equal(t, "file", byEnvironment["pods"].Source)
}

// Each role has defaults of its own; without a role they are those of the API.
func TestConfigurationOfARole(t *testing.T) {
	t.Parallel()
	api, dev, worker := configuration(t, nil, ""), configuration(t, nil, "dev"), configuration(t, nil, "worker")
	require.Equal(t, api, configuration(t, nil, "api"))
	require.Equal(t, "on", api["dns-proof"].Value)
	require.Equal(t, "off", dev["dns-proof"].Value)
	require.Equal(t, "json", api["log-format"].Value)
	require.Equal(t, "text", dev["log-format"].Value)
	require.NotContains(t, api, "delivery-lease")
	require.Equal(t, "10s", worker["delivery-lease"].Value)
	require.Contains(t, configuration(t, nil, "operator"), "pod-config")
	require.Contains(t, configuration(t, nil, "portal"), "advertise")
}

func TestConfigurationRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		env  string
		says []string
	}{
		"an unknown setting": {file: "pods: 2\npodz: 3\n", says: []string{`"podz"`}},
		"a wrong value":      {file: "pods: many\n", says: []string{"pods", "file"}},
		"no YAML":            {file: "pods: [\n", says: []string{"settings.yaml"}},
		"a wrong variable":   {env: "VISAVIS_DRAIN=soon", says: []string{"drain", "environment"}},
		"a missing file":     {env: "VISAVIS_CONFIG=/nowhere/at/all.yaml", says: []string{"settings file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"config"}
			if c.file != "" {
				args = append(args, "--config", settingsFileOf(t, c.file))
			}
			_, stderr, code := execute(t, []string{c.env}, args...)
			require.Equal(t, 1, code)
			for _, says := range c.says {
				require.Contains(t, stderr, says)
			}
		})
	}
}

func TestSettingsOfOtherRolesAreAccepted(t *testing.T) {
	t.Parallel()
	file := settingsFileOf(t, "shards: 3\naddr: 127.0.0.1:0\n")
	_, stderr, code := execute(t, nil, "migrate", "--config", file)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "database is required", "the file itself is fine")
}

func TestConfigurationHidesPasswords(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"postgres://me:geheim@db/dir": "postgres://me:xxxxx@db/dir",
		"postgres://me@db/dir":        "postgres://me@db/dir",
		"127.0.0.1:8080":              "127.0.0.1:8080",
		"":                            "",
	} {
		require.Equal(t, want, redact(value))
	}
}

// The chart takes settings that there are, and says which.
func TestSettingsOfTheChart(t *testing.T) {
	text, err := os.ReadFile("../../charts/visavis/values.schema.json")
	require.NoError(t, err)
	var schema struct {
		Properties struct {
			Settings struct {
				AdditionalProperties bool
				Properties           map[string]any
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	settings := schema.Properties.Settings
	require.False(t, settings.AdditionalProperties)
	require.NotEmpty(t, settings.Properties)
	known := everySetting()
	for name := range settings.Properties {
		require.NotNil(t, known.Lookup(name), name)
	}
	for _, name := range []string{"body-bytes", "search-memory", "temporary-dir"} {
		require.Contains(t, settings.Properties, name, "what bounds a process's memory")
	}
}
