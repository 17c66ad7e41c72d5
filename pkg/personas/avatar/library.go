package avatar

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/personas/avatar/portrait"
)

// released is when the library's faces were.
var released = time.Date(2026, 7, 8, 0, 0, 0, 0, time.UTC)

const (
	// PortraitSide is the size faces are shown in, in pixels.
	PortraitSide = 768
	// ThumbnailSide is that of the small pictures.
	ThumbnailSide = 256
	// drawnKept is how many drawn pictures stay in memory.
	drawnKept = 96
	// drawing names the way faces are drawn; a change of it changes every ETag.
	drawing = "1"
)

// Library is the faces that ship with the product. Pictures are drawn when
// they are first asked for.
type Library struct {
	faces []Avatar
	looks map[id.Avatar]portrait.Look

	// mu and livingMu are held by who draws: a picture is quick, and waits for no layers.
	mu, livingMu sync.Mutex
	drawn        lru.Cache[string, []byte]
	living       lru.Cache[string, Living]
	// warming is held by who draws ahead.
	warming chan struct{}
}

// NewLibrary makes the library.
func NewLibrary() *Library {
	drawn, err := lru.New[string, []byte](drawnKept)
	if err != nil {
		panic(err) // only for a size below one
	}
	living, err := lru.New[string, Living](livingKept)
	if err != nil {
		panic(err) // as above
	}
	l := &Library{looks: map[id.Avatar]portrait.Look{}, drawn: drawn, living: living, warming: make(chan struct{}, 1)}
	for _, f := range portrait.Library() {
		marks := f.Look.Landmarks()
		a := Avatar{
			ID: id.NamedAvatar(f.Key), Kind: Builtin, Name: f.Name, Gender: f.Gender, AgeBand: f.AgeBand,
			Heritage: f.Heritage, Width: PortraitSide, Height: PortraitSide, Landmarks: &marks, Marked: landmark.Given,
			CreatedAt: released, UpdatedAt: released,
		}
		l.faces = append(l.faces, a)
		l.looks[a.ID] = f.Look
	}
	return l
}

// Faces lists the library in its fixed order.
func (l *Library) Faces() []Avatar { return l.faces }

// Find finds a face.
func (l *Library) Find(a id.Avatar) (Avatar, bool) {
	for _, f := range l.faces {
		if f.ID == a {
			return f, true
		}
	}
	return Avatar{}, false
}

// ETag identifies the bytes of a face's picture of a side, in pixels.
func (l *Library) ETag(a id.Avatar, side int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %+v %v", drawing, l.looks[a], side))
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// Picture draws a face as a square PNG. One is drawn at a time: drawing is work
// for a core, and anybody may ask.
func (l *Library) Picture(a id.Avatar, side int) ([]byte, error) {
	key := fmt.Sprint(a, side)
	if b, ok := l.drawn.Get(key); ok {
		return b, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.drawn.Get(key); ok {
		return b, nil
	}
	b, err := portrait.PNG(l.looks[a], side)
	if err != nil {
		return nil, err
	}
	l.drawn.Add(key, b)
	return b, nil
}
