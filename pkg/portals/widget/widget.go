package widget

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
)

// Widget is one widget.
type Widget struct {
	ID         id.Widget
	Name       string
	Persona    id.Persona
	Enabled    bool
	Definition Definition
	PublicKey  PublicKey
	// LastSeenAt is about when a page loaded it last; nil before the first.
	LastSeenAt *time.Time
	// Version counts from one.
	Version              int64
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
}

// Noun is what errors call a widget.
const Noun errdefs.Noun = "widget"

// PublicKey is what a page shows a widget with. It is no secret: it stands in
// the page. It says whose widget it is, since nothing else of a visitor does.
type PublicKey string

const keyPrefix = "wpk_"

// bareID is the length of an id without its prefix.
const bareID = 22

// NewPublicKey makes a key of an organization.
func NewPublicKey(org id.Org) PublicKey { return PublicKey(keyPrefix + org.Bare() + rand.Text()) }

// Org is whose key it is; false for what is no key.
func (k PublicKey) Org() (id.Org, bool) {
	rest, ok := strings.CutPrefix(string(k), keyPrefix)
	if !ok || len(rest) <= bareID {
		return id.Org{}, false
	}
	org, err := id.ParseOrg(rest[:bareID])
	return org, err == nil
}

// differences names what differs between two widgets, as the API does, in
// alphabetical order.
func differences(a, b Widget) []string {
	x, y := a.members(), b.members()
	names := slices.Sorted(maps.Keys(x))
	return slices.DeleteFunc(names, func(name string) bool { return bytes.Equal(x[name], y[name]) })
}

// members are what can be changed of a widget, by name.
func (w *Widget) members() map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	for _, part := range []any{
		w.Definition, map[string]any{"name": w.Name, "personaId": w.Persona, "enabled": w.Enabled, "publicKey": w.PublicKey},
	} {
		b, err := json.Marshal(part)
		if err == nil {
			err = json.Unmarshal(b, &members)
		}
		if err != nil {
			panic(err) // what was read from JSON can be written
		}
	}
	return members
}
