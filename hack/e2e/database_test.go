package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

// database makes an empty database outside of the cluster and a Service of this
// name for it, as for one that a cloud runs. It answers the address for pods.
// The password is checked, as it would be there.
func (s stage) database(service string) string {
	s.Helper()
	// The run's server, by way of a database of it that the test also owns.
	server, err := url.Parse(databasetest.URL(s.T, database.Directory))
	require.NoError(s, err)
	conn, err := pgx.Connect(s.Context(), server.String())
	require.NoError(s, err)
	defer conn.Close(s.Context())
	name := strings.ReplaceAll(s.namespace+"_"+service, "-", "_")
	require.NoError(s, database.Create(s.Context(), conn, name))
	s.Cleanup(func() {
		// The product's pods may still hold connections.
		conn, err := pgx.Connect(context.Background(), server.String())
		require.NoError(s, err)
		defer conn.Close(context.Background())
		require.NoError(s, database.Drop(context.Background(), conn, name))
	})

	host, port := s.expose(server.Host)
	s.apply(fmt.Sprintf(outsideService, service, host, port))
	inside := *server
	inside.Host = net.JoinHostPort(service+"."+s.namespace+".svc", "5432")
	inside.Path = "/" + name
	return inside.String()
}

// outsideService has no selector: its only endpoint is no pod.
const outsideService = `
apiVersion: v1
kind: Service
metadata: {name: %[1]s}
spec:
  ports: [{name: postgres, port: 5432, targetPort: %[3]s}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %[1]s-outside, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
endpoints: [{addresses: ["%[2]s"], conditions: {ready: true}}]
ports: [{name: postgres, protocol: TCP, port: %[3]s}]
`

// expose carries a port of loopback to where pods reach this machine.
func (s stage) expose(target string) (host, port string) {
	s.Helper()
	host = os.Getenv(hostEnv)
	require.NotEmpty(s, host, "set "+hostEnv+" to this machine's address for pods")
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	require.NoError(s, err)
	s.Cleanup(func() { listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go carry(from, target)
		}
	}()
	_, port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(s, err)
	return host, port
}

func carry(from net.Conn, target string) {
	defer from.Close()
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from)
		to.Close()
	}()
	_, _ = io.Copy(from, to)
}
