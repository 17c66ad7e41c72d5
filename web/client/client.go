// Package client is the part of a conversation that runs in a browser: the live
// protocol (live.js), what is said as it is shown (transcript.js), how it sounds
// (player.js), the face that says it (face.js), and the user's voice (ear.js). They are ES modules as browsers load them,
// without a build, for the portal page and the widget.
package client

import "embed"

// Files are the modules by their names.
//
//go:embed live.js direct.js livekit.js transcript.js
//go:embed visemes.js rig.js mouth.js eyes.js life.js face.js pair.js
//go:embed drawn.js portrait.js mesh.js features.js warp.js
//go:embed decoder.js player.js track.js speech.js voice.js replay.js
//go:embed ear.js microphone.js downsample.js worklet.js recognition.js devices.js soundcheck.js
var Files embed.FS
