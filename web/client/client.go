// Package client is the part of a conversation that runs in a browser: the live
// protocol (live.js) and what is said as it is shown (transcript.js). They are ES
// modules as browsers load them, without a build, for the portal page and the widget.
package client

import "embed"

// Files are the modules by their names.
//
//go:embed live.js transcript.js
var Files embed.FS
