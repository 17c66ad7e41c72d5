package avatar

import (
	"encoding/json"
	"fmt"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar/portrait"
)

// LivingSides are the sizes of a face's layers, in pixels: for a small screen or a
// widget, and for a large or a dense one.
var LivingSides = []int{512, 1024}

// livingKept is how many faces in layers stay in memory, half a megabyte each.
const livingKept = 48

// Living is a library face as a browser moves it.
type Living struct {
	// Rig is JSON: where everything lies and what it is painted with.
	Rig []byte
	// Layers are its parts, as a PNG.
	Layers []byte
}

// livingRig is what Living.Rig holds (web/client/rig.js).
type livingRig struct {
	portrait.Rig
	// Scale is how many pixels of the layers a design unit has.
	Scale float64                   `json:"scale"`
	Parts map[string]portrait.Layer `json:"parts"`
}

// Ahead begins to draw a face that a page will ask this process for soon: its picture of a side,
// and then what browsers move, in each of LivingSides. One face is drawn ahead at a time, and
// none waits for it: while one is, and for an own face, nothing is done.
func (l *Library) Ahead(a id.Avatar, side int) {
	if _, ok := l.looks[a]; !ok {
		return
	}
	select {
	case l.warming <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-l.warming }()
		if _, err := l.Picture(a, side); err != nil {
			return // who asks for it is told
		}
		for _, large := range LivingSides {
			if _, err := l.Living(a, large); err != nil {
				return // as above
			}
		}
	}()
}

// Living draws a face in layers of a size, one of LivingSides. One is drawn at a time,
// beside one picture.
func (l *Library) Living(a id.Avatar, side int) (Living, error) {
	key := fmt.Sprint(a, side)
	if found, ok := l.living.Get(key); ok {
		return found, nil
	}
	l.livingMu.Lock()
	defer l.livingMu.Unlock()
	if found, ok := l.living.Get(key); ok {
		return found, nil
	}
	look := l.looks[a]
	layers := portrait.DrawLayers(look, side)
	sheet, err := layers.PNG()
	if err != nil {
		return Living{}, err
	}
	rig, err := json.Marshal(livingRig{look.Rig(), layers.Scale, layers.Parts})
	if err != nil {
		return Living{}, err
	}
	drawn := Living{rig, sheet}
	l.living.Add(key, drawn)
	return drawn, nil
}
