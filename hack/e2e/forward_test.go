package e2e

import (
	"bufio"
	"fmt"
	"os/exec"
	"regexp"

	"github.com/stretchr/testify/require"
)

var forwarded = regexp.MustCompile(`Forwarding from (127\.0\.0\.1:\d+) ->`)

// forward has kubectl carry a port of a Service to loopback until the test ends.
func (s stage) forward(service string, port int) string {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "kubectl", "--namespace", s.namespace,
		"port-forward", "--address", "127.0.0.1", "service/"+service, fmt.Sprintf(":%d", port))
	out, err := cmd.StdoutPipe()
	require.NoError(s, err)
	require.NoError(s, cmd.Start())
	s.Cleanup(func() { _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(s, err)
	match := forwarded.FindStringSubmatch(line)
	require.NotNil(s, match, line)
	return match[1]
}
