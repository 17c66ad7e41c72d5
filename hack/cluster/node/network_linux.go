package node

import (
	"fmt"
	"os/exec"
	"strings"
)

// connect makes the network of the node whose first process this is, and this
// machine's routes to pods and Services.
func connect(pid int) error {
	// Inside, by the namespace alone: with the node's /sys the kubelet finds its cgroups.
	in := fmt.Sprintf("nsenter --net=/proc/%d/ns/net ip ", pid)
	return runAll(
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d", link, pid),
		"ip addr add "+Host+"/30 dev "+link,
		"ip link set "+link+" up",
		in+"link set lo up",
		in+"addr add "+Address+"/30 dev eth0",
		in+"link set eth0 up",
		// No way out: a device of type dummy would do, but not every kernel has it.
		in+"link add void type bridge",
		in+"link set void up",
		in+"addr add "+dnsAddress+"/32 dev void",
		in+"route add default dev void",
		"ip route add "+podNetwork+" via "+Address+" dev "+link,
		"ip route add "+serviceNetwork+" via "+Address+" dev "+link,
	)
}

// disconnect removes the link, and with it the routes, where the namespace's
// end did not yet.
func disconnect() {
	_ = exec.Command("ip", "link", "del", link).Run()
}

func runAll(commands ...string) error {
	for _, line := range commands {
		words := strings.Fields(line)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
