package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"

	"visavis.dev/pkg/visits/live/livetest"
)

// open reads the credentials that visavis dev wrote.
func open(path string) (livetest.API, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return livetest.API{}, fmt.Errorf("%w; is `make run` on?", err)
	}
	var c struct {
		BaseURL       string
		Organizations []struct{ Keys map[string]string }
	}
	if err := json.Unmarshal(text, &c); err != nil || len(c.Organizations) == 0 {
		return livetest.API{}, fmt.Errorf("%s is not what visavis dev writes: %w", path, err)
	}
	return livetest.API{Base: c.BaseURL, Key: c.Organizations[0].Keys["2026-10-01"]}, nil
}

var codeBlock = regexp.MustCompile("(?s)```.*?```\n")

// somebody is the newest persona, or one that has read the README.
func somebody(ctx context.Context, api livetest.API) (string, error) {
	var personas []struct{ ID string }
	if err := api.Call(ctx, "GET", "/personas?limit=1", nil, &personas); err != nil {
		return "", err
	}
	if len(personas) > 0 {
		return personas[0].ID, nil
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return "", err
	}
	// Commands and what they print are nothing to say aloud.
	text := codeBlock.ReplaceAllString(string(readme), "")
	return api.Persona(ctx, "Amara", map[string]string{"README": text}, nil)
}
