// Package livekit has livekit-client, by which a page enters the room of a LiveKit server, as its makers publish it
// (LICENSE): the version that hack/browser pins, whose test compares the two.
package livekit

import "embed"

// Files has livekit-client.umd.js, which sets LivekitClient of the page that loads it.
//
//go:embed livekit-client.umd.js
var Files embed.FS
