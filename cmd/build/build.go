// Package build says which version a program is.
package build

import "runtime/debug"

// Version is what a build says of itself: linked is what the linker set, as for images and
// releases.
func Version(linked string) string {
	if linked != "" {
		return linked
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
