package node

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

func TestFiles(t *testing.T) {
	state := t.TempDir()
	require.NoError(t, writeFiles(state))
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(state, name))
		require.NoError(t, err)
		require.NotContains(t, string(text), "<no value>", name)
		return text
	}
	require.True(t, json.Valid(read("cni/10-visavis.conflist")))
	var kubelet, proxy map[string]any
	require.NoError(t, yaml.UnmarshalStrict(read("kubelet.yaml"), &kubelet))
	require.Equal(t, "unix://"+state+"/containerd.sock", kubelet["containerRuntimeEndpoint"])
	require.Equal(t, "/visavis", kubelet["cgroupRoot"])
	require.NoError(t, yaml.UnmarshalStrict(read("proxy.yaml"), &proxy))
	require.Equal(t, podNetwork, proxy["clusterCIDR"])
	require.Contains(t, string(read("containerd.toml")), `sandbox = "`+pauseImage+`"`)
	require.Contains(t, string(read("Corefile")), "bind "+dnsAddress)
}

// What daemons are told to read is written.
func TestDaemonsFindTheirFiles(t *testing.T) {
	state := t.TempDir()
	require.NoError(t, writeFiles(state))
	require.NoError(t, writeIdentities(state, time.Now()))
	for _, d := range daemons("/programs", state) {
		require.Equal(t, "/programs/"+d.Name, d.Command[0])
		for _, argument := range d.Command[1:] {
			flag, path, _ := strings.Cut(argument, "=")
			if strings.HasPrefix(path, state) && !strings.HasSuffix(flag, "-dir") {
				require.FileExists(t, path, argument)
			}
		}
	}
}

func TestIdentities(t *testing.T) {
	state := t.TempDir()
	now := time.Now()
	require.NoError(t, writeIdentities(state, now))

	admin, err := clientcmd.BuildConfigFromFlags("", filepath.Join(state, "admin.kubeconfig"))
	require.NoError(t, err)
	require.Equal(t, "https://10.89.0.2:6443", admin.Host)

	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(admin.CAData))
	server, err := tls.LoadX509KeyPair(filepath.Join(state, "pki/apiserver.crt"), filepath.Join(state, "pki/apiserver.key"))
	require.NoError(t, err)
	for _, name := range []string{Address, apiService, "127.0.0.1", "kubernetes.default.svc"} {
		_, err = server.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: now})
		require.NoError(t, err, name)
	}
	client, err := tls.X509KeyPair(admin.CertData, admin.KeyData)
	require.NoError(t, err)
	require.Equal(t, []string{"system:masters"}, client.Leaf.Subject.Organization)
	_, err = client.Leaf.Verify(x509.VerifyOptions{
		Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	require.NoError(t, err)

	info, err := os.Stat(filepath.Join(state, "admin.kubeconfig"))
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
}

func TestMissing(t *testing.T) {
	none := func(string) bool { return false }
	require.Contains(t, missing(none), "containernetworking-plugins")
	require.Empty(t, missing(func(string) bool { return true }))
	require.Equal(t, []string{"runc"}, missing(func(name string) bool { return name != "runc" }))
}
