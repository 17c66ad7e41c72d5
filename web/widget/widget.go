// Package widget is the script that shows a widget on somebody's page. Its
// modules are in src; make generate bundles them, with what they share with
// portal pages (web/client), into the one file that shows it, and another that it loads
// where a visitor checks microphone and sound.
package widget

import (
	"crypto/sha256"
	_ "embed" // the script
	"encoding/hex"
)

// ContentType is the script's.
const ContentType = "text/javascript"

// Text is the script.
//
//go:embed widget.js
var Text []byte

// Check is the script of the check of microphone and sound, a module.
//
//go:embed check.js
var Check []byte

// ETag identifies Text, with quotes.
var ETag = tag(Text)

// CheckETag identifies Check, with quotes.
var CheckETag = tag(Check)

func tag(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}
