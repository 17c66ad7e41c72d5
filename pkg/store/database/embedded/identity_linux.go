package embedded

import "syscall"

// namespaceIdentity is a user namespace in which root outside is the account
// inside: the server is not root by its own lights, has none of root's powers,
// and yet owns root's files.
func namespaceIdentity(a account) (identity, bool) {
	return identity{
		description: "as root mapped to user " + a.name + " in a user namespace",
		attr: syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: a.uid, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: a.gid, HostID: 0, Size: 1}},
		},
	}, true
}
