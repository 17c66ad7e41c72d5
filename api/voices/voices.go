// Package voices declares the operations on voices.
package voices

import (
	"context"
	"net/http"
	"slices"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/scope"
	"visavis.dev/pkg/voice"
)

// Register declares the operations.
func Register(s *route.Service) {
	route.List(s, route.Operation{
		ID: "listVoices", Method: http.MethodGet, Path: "/voices", Group: "Voices", Class: "read", Scope: scope.VoicesRead,
		Summary: "Studio voices first, then the organisation's clones, oldest first",
	}, list)
}

// Voice is one voice.
type Voice struct {
	ID              id.Voice  `json:"id"`
	Kind            string    `json:"kind" enum:"builtin,custom"`
	Name            string    `json:"name"`
	Gender          string    `json:"gender" enum:"female,male"`
	Engine          string    `json:"engine" enum:"premier,global" doc:"The engine a persona with this voice runs on."`
	Languages       []string  `json:"languages"`
	PrimaryLanguage string    `json:"primaryLanguage"`
	Accent          *string   `json:"accent"`
	Style           *string   `json:"style"`
	Description     string    `json:"description"`
	Status          string    `json:"status" enum:"ready,training,failed"`
	Provider        string    `json:"provider" enum:"builtin,connection"`
	Speed           Speed     `json:"speed"`
	CreatedAt       time.Time `json:"createdAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
}

// Speed is how fast a voice may speak; 1 is its natural pace.
type Speed struct {
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Default float64 `json:"default"`
}

// released is when the studio voices were.
var released = time.Date(2026, 7, 8, 0, 0, 0, 0, time.UTC)

// studio never changes while the program runs.
var studio = func() []Voice {
	var all []Voice
	for _, v := range voice.Studio() {
		all = append(all, Voice{
			ID: id.NamedVoice(v.Key), Kind: "builtin", Name: v.Name, Gender: v.Gender, Engine: v.Engine,
			Languages: v.Languages, PrimaryLanguage: v.PrimaryLanguage, Accent: orNull(v.Accent), Style: orNull(v.Style),
			Description: v.Description, Status: "ready", Provider: "builtin",
			Speed: Speed{v.SpeedMin, v.SpeedMax, v.SpeedDefault}, CreatedAt: released, UpdatedAt: released,
		})
	}
	return all
}()

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Query filters and pages the voices.
type Query struct {
	route.Paging
	Kind   string `query:"kind" enum:"builtin,custom"`
	Gender string `query:"gender" enum:"female,male"`
}

type position struct {
	ID id.Voice `json:"i"`
}

func list(_ context.Context, c *route.Call, q *Query) (route.Page[Voice], error) {
	after, err := route.After[position](c, q.Paging)
	if err != nil {
		return route.Page[Voice]{}, err
	}
	rest := studio
	if after != nil {
		at := slices.IndexFunc(rest, func(v Voice) bool { return v.ID == after.ID })
		rest = rest[at+1:]
	}
	var found []Voice
	for _, v := range rest {
		if (q.Kind == "" || v.Kind == q.Kind) && (q.Gender == "" || v.Gender == q.Gender) {
			found = append(found, v)
		}
	}
	return route.Paged(c, q.Paging, found, func(v Voice) position { return position{v.ID} })
}
