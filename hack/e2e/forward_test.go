package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"regexp"

	"github.com/stretchr/testify/require"
)

var forwarded = regexp.MustCompile(`Forwarding from (127\.0\.0\.1:\d+) ->`)

// forward has kubectl carry a port of service/… or pod/… to loopback until the test ends.
func (s stage) forward(target string, port int) string {
	s.Helper()
	return s.forwardWhile(s.Context(), target, port)
}

// forwardWhile is forward until a context ends.
func (s stage) forwardWhile(ctx context.Context, target string, port int) string {
	s.Helper()
	cmd := exec.CommandContext(ctx, "kubectl", "--namespace", s.namespace,
		"port-forward", "--address", "127.0.0.1", target, fmt.Sprintf(":%d", port))
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
