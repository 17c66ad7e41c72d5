// Package config holds what a deployment can replace: the plans it sells.
package config

import _ "embed"

// Plans is the plan catalogue that applies unless a deployment gives its own.
//
//go:embed plans.yaml
var Plans []byte

// Guide is the guide of a museum, in Markdown, that samples answer from.
//
//go:embed samples/guide.md
var Guide string
