package node

import "path/filepath"

// daemon is a program that runs as long as the node does.
type daemon struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
}

// daemons are the node's. They start in no order: one that misses another ends
// and is started again.
func daemons(programs, state string) []daemon {
	in := func(name string) string { return filepath.Join(state, name) }
	start := func(name string, arguments ...string) daemon {
		return daemon{Name: name, Command: append([]string{filepath.Join(programs, name)}, arguments...)}
	}
	return []daemon{
		start("etcd",
			"--data-dir="+in("etcd"),
			"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
			"--listen-peer-urls=http://127.0.0.1:2380",
			// The cluster does not outlive a crash of the machine anyway.
			"--unsafe-no-fsync"),
		start("kube-apiserver",
			"--etcd-servers=http://127.0.0.1:2379",
			"--secure-port=6443", "--advertise-address="+Address,
			"--tls-cert-file="+in("pki/apiserver.crt"), "--tls-private-key-file="+in("pki/apiserver.key"),
			"--client-ca-file="+in("pki/ca.crt"),
			"--service-account-key-file="+in("pki/accounts.pub"), "--service-account-signing-key-file="+in("pki/accounts.key"),
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-cluster-ip-range="+serviceNetwork,
			"--authorization-mode=Node,RBAC", "--allow-privileged",
			// The node's name is in no DNS; kubectl logs would look for it there.
			"--kubelet-preferred-address-types=InternalIP",
			"--kubelet-client-certificate="+in("pki/admin.crt"), "--kubelet-client-key="+in("pki/admin.key"),
			"--kubelet-certificate-authority="+in("pki/ca.crt")),
		start("kube-controller-manager",
			"--kubeconfig="+in("kube-controller-manager.kubeconfig"),
			"--service-account-private-key-file="+in("pki/accounts.key"), "--root-ca-file="+in("pki/ca.crt"),
			"--use-service-account-credentials", "--allocate-node-cidrs", "--cluster-cidr="+podNetwork,
			"--leader-elect=false", "--bind-address=127.0.0.1"),
		start("kube-scheduler",
			"--kubeconfig="+in("kube-scheduler.kubeconfig"), "--leader-elect=false", "--bind-address=127.0.0.1"),
		start("containerd", "--config="+in("containerd.toml")),
		start("kubelet",
			"--config="+in("kubelet.yaml"), "--kubeconfig="+in("node.kubeconfig"),
			"--hostname-override="+Name, "--root-dir="+in("kubelet"), "--node-ip="+Address),
		start("kube-proxy", "--config="+in("proxy.yaml")),
		start("coredns", "-conf="+in("Corefile")),
	}
}
