//go:build unix && !linux

package embedded

// namespaceIdentity is not supported: user namespaces are Linux's.
func namespaceIdentity(account) (identity, bool) { return identity{}, false }
