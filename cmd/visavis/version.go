package main

import "runtime/debug"

// built is the version that an image is built as, which the linker sets.
var built string

// version is what the build says of itself.
func version() string {
	if built != "" {
		return built
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
