package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// requirements are what the node takes from the machine: a program or a file,
// and Debian's package for it. runc has to be one with libseccomp, as Debian's.
var requirements = []struct{ name, pkg string }{
	{"runc", "runc"},
	{"iptables", "iptables"},
	{"ip", "iproute2"},
	{"conntrack", "conntrack"},
	{"nsenter", "util-linux"},
	{"/usr/lib/cni/bridge", "containernetworking-plugins"},
}

// missing are the packages of what is not there.
func missing(there func(name string) bool) []string {
	var packages []string
	for _, r := range requirements {
		if !there(r.name) {
			packages = append(packages, r.pkg)
		}
	}
	return packages
}

// require installs what is missing on Debian and its kin.
func require() error {
	if os.Geteuid() != 0 {
		return errors.New("a cluster of its own needs root; set KUBECONFIG, or start Docker and put kind on PATH")
	}
	there := func(name string) bool { _, err := exec.LookPath(name); return err == nil }
	packages := missing(there)
	if len(packages) == 0 {
		return nil
	}
	if !there("apt-get") {
		return fmt.Errorf("install %v", packages)
	}
	for _, arguments := range [][]string{
		{"update", "-qq"},
		append([]string{"install", "-y", "-qq", "--no-install-recommends"}, packages...),
	} {
		cmd := exec.Command("apt-get", arguments...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %v: %w\n%s", arguments, err, out)
		}
	}
	return nil
}
