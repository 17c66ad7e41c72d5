// Package widget is the script that shows a widget on somebody's page. Its
// modules are in src; make generate bundles them, with what they share with
// portal pages (web/client), into the one file that is served.
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

// ETag identifies Text, with quotes.
var ETag = func() string {
	sum := sha256.Sum256(Text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}()
