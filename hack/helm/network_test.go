package helm_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	corev1 "k8s.io/api/core/v1"
)

// policies are those of the chart and those that the operator makes.
func policies(t *testing.T, all objects) (found []networkingv1.NetworkPolicySpec) {
	t.Helper()
	for _, p := range of[*networkingv1.NetworkPolicy](all) {
		found = append(found, p.Spec)
	}
	for key, text := range named[*corev1.ConfigMap](t, all, release+"-pods").Data {
		if strings.HasSuffix(key, "-networkpolicy.yaml") {
			var p networkingv1.NetworkPolicySpec
			require.NoError(t, yaml.UnmarshalStrict([]byte(text), &p), key)
			found = append(found, p)
		}
	}
	return found
}

// reaches says whether a component's pods may reach an address at a port over TCP.
func reaches(t *testing.T, all objects, component, address string, port int) bool {
	t.Helper()
	return reachesOver(t, all, corev1.ProtocolTCP, component, address, port)
}

func reachesOver(t *testing.T, all objects, protocol corev1.Protocol, component, address string, port int) bool {
	t.Helper()
	pod := labels.Set{
		"app.kubernetes.io/name": "visavis", "app.kubernetes.io/instance": release, "app.kubernetes.io/component": component,
		"visavis.dev/shard": "shard-1",
	}
	selected := false
	for _, p := range policies(t, all) {
		selector, err := metav1.LabelSelectorAsSelector(&p.PodSelector)
		require.NoError(t, err)
		if !selector.Matches(pod) {
			continue
		}
		selected = true
		for _, rule := range p.Egress {
			if allowsPort(rule.Ports, protocol, port) && allowsAddress(rule.To, netip.MustParseAddr(address)) {
				return true
			}
		}
	}
	require.True(t, selected, "%s is selected by no policy", component)
	return false
}

func allowsPort(ports []networkingv1.NetworkPolicyPort, protocol corev1.Protocol, port int) bool {
	for _, p := range ports {
		if p.Protocol != nil && *p.Protocol != protocol {
			continue
		}
		if p.Port == nil || p.Port.IntValue() == port {
			return true
		}
	}
	return len(ports) == 0
}

func allowsAddress(to []networkingv1.NetworkPolicyPeer, address netip.Addr) bool {
	for _, peer := range to {
		if peer.IPBlock == nil || !netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(address) {
			continue
		}
		allowed := true
		for _, except := range peer.IPBlock.Except {
			allowed = allowed && !netip.MustParsePrefix(except).Contains(address)
		}
		if allowed {
			return true
		}
	}
	return len(to) == 0
}

func TestWhatPodsReach(t *testing.T) {
	all := render(t, everything)
	const https, postgres, dns = 443, 5432, 53
	for name, c := range map[string]struct {
		address string
		port    int
		by      string
	}{
		"the internet":                        {"93.184.215.14", https, "api portal worker reader operator"},
		"the internet by IPv6":                {"2606:2800:21f::1", https, "api portal worker reader operator"},
		"the internet's odd ports":            {"93.184.215.14", 9443, "api portal worker reader operator"},
		"private addresses":                   {"10.244.0.7", https, ""},
		"private addresses of the middle":     {"172.20.0.1", https, ""},
		"home addresses":                      {"192.168.1.1", https, ""},
		"carriers' addresses":                 {"100.64.0.1", https, ""},
		"the cloud's metadata":                {"169.254.169.254", https, ""},
		"loopback":                            {"127.0.0.1", https, ""},
		"the cluster's public range":          {"34.118.225.1", https, ""},
		"the cluster's public range by IPv6":  {"2600:1900::1", https, ""},
		"private addresses by IPv6":           {"fd00::1", https, ""},
		"link-local addresses by IPv6":        {"fe80::1", https, ""},
		"the API server":                      {"10.0.0.1", https, "operator crds"},
		"the databases":                       {"10.1.2.3", postgres, "api portal worker reader operator migrate"},
		"another database":                    {"10.1.2.4", postgres, ""},
		"the databases' hosts at other ports": {"10.1.2.3", 22, ""},
		"names":                               {"10.96.0.10", dns, "api portal worker reader operator migrate crds test"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, component := range []string{"api", "portal", "worker", "reader", "operator", "migrate", "crds", "test"} {
				may := strings.Contains(" "+c.by+" ", " "+component+" ")
				require.Equal(t, may, reaches(t, all, component, c.address, c.port), component)
			}
		})
	}
}

// The operator calls nobody but the bucket, of which it deletes files.
func TestWhatTheOperatorReaches(t *testing.T) {
	const bucket, https = "93.184.215.14", 443
	server := least + "\nnetworkPolicy: {apiServerCIDRs: [10.0.0.1/32]}"
	require.False(t, reaches(t, render(t, server), "operator", bucket, https))
	require.True(t, reaches(t, render(t, server+"\nfiles: {url: s3://bucket}"), "operator", bucket, https))
}

// A portal is in the rooms of customers' media servers, which speak UDP.
func TestWhoReachesMediaServers(t *testing.T) {
	all := render(t, everything)
	for _, component := range []string{"api", "portal", "worker", "reader", "operator", "migrate", "crds", "test"} {
		require.Equal(t, component == "portal", reachesOver(t, all, corev1.ProtocolUDP, component, "93.184.215.14", 50_000), component)
		require.False(t, reachesOver(t, all, corev1.ProtocolUDP, component, "10.244.0.7", 50_000), component)
		require.False(t, reachesOver(t, all, corev1.ProtocolUDP, component, "34.118.225.1", 50_000), component)
	}
}

// The exceptions of a block lie within it, as the API server asks.
func TestExceptionsLieWithinTheirBlocks(t *testing.T) {
	for _, p := range policies(t, render(t, everything)) {
		for _, rule := range p.Egress {
			for _, peer := range rule.To {
				if peer.IPBlock == nil {
					continue
				}
				block := netip.MustParsePrefix(peer.IPBlock.CIDR)
				for _, except := range peer.IPBlock.Except {
					e := netip.MustParsePrefix(except)
					require.True(t, block.Contains(e.Addr()) && e.Bits() > block.Bits(), "%s in %s", e, block)
					require.Equal(t, e.Masked(), e)
				}
			}
		}
	}
}

func TestNothingComesInUnlessAllowed(t *testing.T) {
	all := render(t, least)
	def := named[*networkingv1.NetworkPolicy](t, all, release+"-default").Spec
	require.Empty(t, def.Ingress)
	require.Empty(t, def.Egress)
	require.Len(t, def.PolicyTypes, 2)
	for _, p := range policies(t, all) {
		require.Len(t, p.PolicyTypes, 2)
		for _, rule := range p.Ingress {
			if rule.Ports[0].Port.String() == "metrics" {
				require.Equal(t, "monitoring", rule.From[0].NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
				continue
			}
			if rule.Ports[0].Port.String() == "hints" {
				require.Equal(t, map[string]string{"app.kubernetes.io/name": "visavis", "app.kubernetes.io/instance": release}, rule.From[0].PodSelector.MatchLabels)
				require.Contains(t, []string{"worker", "reader"}, p.PodSelector.MatchLabels["app.kubernetes.io/component"])
				continue
			}
			require.Equal(t, "http", rule.Ports[0].Port.String())
			require.Contains(t, []string{"api", "portal"}, p.PodSelector.MatchLabels["app.kubernetes.io/component"])
		}
	}

	off := render(t, least+"\nnetworkPolicy: {enabled: false}")
	require.Empty(t, policies(t, off))
}

// Whoever commits something for workers tells them, and nobody else can.
func TestWorkersAreToldOfCommits(t *testing.T) {
	all := render(t, least)
	require.Contains(t, named[*corev1.ConfigMap](t, all, release).Data["settings.yaml"],
		"hint-target:\n- "+release+"-worker-hints."+namespace+".svc:8082\n- "+release+"-reader-hints."+namespace+".svc:8082")
	hears := map[string]bool{}
	for _, component := range []string{"worker", "reader"} {
		s := named[*corev1.Service](t, all, release+"-"+component+"-hints")
		require.Equal(t, "None", s.Spec.ClusterIP)
		require.Equal(t, component, s.Spec.Selector["app.kubernetes.io/component"])
		require.Equal(t, corev1.ProtocolUDP, s.Spec.Ports[0].Protocol)
	}
	for _, p := range policies(t, all) {
		for _, rule := range p.Ingress {
			if rule.Ports[0].Port.String() == "hints" {
				hears[p.PodSelector.MatchLabels["app.kubernetes.io/component"]] = true
			}
		}
		told := 0
		for _, rule := range p.Egress {
			if len(rule.Ports) == 1 && rule.Ports[0].Port != nil && rule.Ports[0].Port.String() == "hints" {
				require.Equal(t, []string{"worker", "reader"}, rule.To[0].PodSelector.MatchExpressions[0].Values)
				told++
			}
		}
		component := p.PodSelector.MatchLabels["app.kubernetes.io/component"]
		require.Equal(t, slices.Contains([]string{"api", "portal", "worker", "reader", "operator"}, component), told == 1, component)
	}
	require.Equal(t, map[string]bool{"worker": true, "reader": true}, hears)

	without := render(t, least+"\nhints: {enabled: false}")
	require.NotContains(t, named[*corev1.ConfigMap](t, without, release).Data["settings.yaml"], "hint-target")
	for _, s := range of[*corev1.Service](without) {
		require.NotContains(t, s.Name, "hints")
	}
}
