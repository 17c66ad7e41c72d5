// Package node runs a whole Kubernetes on this machine, with neither Docker nor
// a way out of it: control plane, kubelet, kube-proxy, DNS and containerd.
//
// All of it lives in namespaces of its own for processes, mounts and network,
// below one first process that starts the others. When that one is killed the
// kernel ends them all, pods too, and their mounts and links go with the
// namespaces, so that nothing can be left over but files. The namespace's
// default route ends in a bridge without ports: what pods send leaves it for
// this machine's end of a veth pair only.
package node

const (
	// State is the node's folder. It is the machine's, not a user's, so that
	// a leftover is found by whoever comes next.
	State = "/var/lib/visavis-cluster"

	// Host is this machine's address for the node and its pods. Servers that
	// tests run outside of the cluster listen there.
	Host = "10.89.0.1"

	// Address is the node's, as this machine sees it.
	Address = "10.89.0.2"

	// Name is the node's in the cluster.
	Name = "node-1"

	podNetwork     = "10.244.0.0/16"
	serviceNetwork = "10.96.0.0/16"
	apiService     = "10.96.0.1"
	dnsAddress     = "10.89.1.1"
	link           = "visavis0"
	cgroup         = "visavis"
	pauseImage     = "localhost/visavis-pause:1"
)
