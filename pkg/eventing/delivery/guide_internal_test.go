package delivery

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/webhook"
)

// What the guide tells receivers to write accepts a delivery as it is signed here, and
// nothing else.
func TestTheVerificationOfTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/webhooks.md")
	require.NoError(t, err)
	const secret, body = "whsec_test", `{"id":"evt_1","data":{"text":"Grüße"}}`
	now := time.UnixMilli(1_790_000_000_000)
	stamp := strconv.FormatInt(now.UnixMilli(), 10)
	signed := func(secret, stamp, body string) string { return sign(webhook.Secret(secret), stamp, []byte(body)) }
	cases := []struct {
		stamp, signature, body string
		after                  time.Duration
		want                   bool
	}{
		{stamp, signed(secret, stamp, body), body, 0, true},
		{stamp, signed(secret, stamp, body), body, 4 * time.Minute, true},
		{stamp, signed(secret, stamp, body), body, 6 * time.Minute, false},
		{stamp, signed(secret, stamp, body), body, -6 * time.Minute, false},
		{stamp, signed("another", stamp, body), body, 0, false},
		{stamp, signed(secret, stamp, body), body + " ", 0, false},
		{stamp, strings.TrimPrefix(signed(secret, stamp, body), "sha256="), body, 0, false},
		{stamp, "", body, 0, false},
		{"", signed(secret, "", body), body, 0, false},
		{"soon", signed(secret, "soon", body), body, 0, false},
	}
	for _, language := range []struct {
		name, program string
		write         func(dir, code string) (args []string)
	}{
		{"go", "go", func(dir, code string) []string {
			file := filepath.Join(dir, "main.go")
			code = strings.Replace(code, "package receiver", "package main", 1)
			code = strings.Replace(code, "import (", "import (\n\"fmt\"\n\"io\"\n\"os\"\n\"strings\"", 1)
			write(t, file, code+goMain)
			write(t, filepath.Join(dir, "go.mod"), "module receiver\n\ngo 1.24\n")
			return []string{"run", "."}
		}},
		{"python", "python3", func(dir, code string) []string {
			file := filepath.Join(dir, "main.py")
			write(t, file, code+pythonMain)
			return []string{file}
		}},
	} {
		code := regexp.MustCompile("(?s)```" + language.name + "\n(.*?)```").FindSubmatch(guide)
		require.NotNil(t, code, language.name)
		program, err := exec.LookPath(language.program)
		if err != nil {
			t.Logf("%s is not here: its code was not run", language.program)
			continue
		}
		dir := t.TempDir()
		args := language.write(dir, string(code[1]))
		var asked bytes.Buffer
		for _, c := range cases {
			asked.WriteString(strings.Join([]string{
				c.stamp, c.signature, c.body, secret, strconv.FormatInt(now.Add(c.after).UnixMilli(), 10),
			}, "\t") + "\n")
		}
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Stdin = dir, &asked
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", language.name, out)
		got := strings.Fields(strings.ToLower(string(out)))
		require.Len(t, got, len(cases), "%s: %s", language.name, out)
		for i, c := range cases {
			require.Equal(t, strconv.FormatBool(c.want), got[i], "%s, case %d", language.name, i)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// What asks the code: a case a line, its parts apart by tabs.
const (
	goMain = `
func main() {
	all, _ := io.ReadAll(os.Stdin)
	for _, line := range strings.Split(strings.TrimSuffix(string(all), "\n"), "\n") {
		part := strings.Split(line, "\t")
		ms, _ := strconv.ParseInt(part[4], 10, 64)
		h := http.Header{"X-Service-Timestamp": {part[0]}, "X-Service-Signature": {part[1]}}
		fmt.Println(Verify(h, []byte(part[2]), part[3], time.UnixMilli(ms)))
	}
}
`
	pythonMain = `
import sys
for line in sys.stdin.read().split("\n")[:-1]:
    stamp, signature, body, secret, now = line.split("\t")
    print(verify({"X-Service-Timestamp": stamp, "X-Service-Signature": signature}, body.encode(), secret, int(now)))
`
)
