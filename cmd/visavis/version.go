package main

import "visavis.dev/cmd/build"

// built is the version that an image is built as, which the linker sets.
var built string

// version is what the build says of itself.
func version() string { return build.Version(built) }
