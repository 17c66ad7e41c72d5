package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"visavis.dev/config"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/apikey"
)

const (
	// sampleSlug is that of the sample portal.
	sampleSlug = "museum"
	// sampleWithin is how long a start may take until the sample portal is there, and
	// sampleEvery how often it is looked whether calls are answered yet.
	sampleWithin = 30 * time.Second
	sampleEvery  = 100 * time.Millisecond
)

// sample makes a portal whose avatar knows the guide of a museum, so that a newcomer has somebody to
// talk with at once. It makes the calls that anybody would.
type sample struct {
	api string // with /v1
	key apikey.Secret
}

// ensureSample makes the sample portal, once for a data directory.
func (d *devSettings) ensureSample(ctx context.Context, c *credentials) error {
	if c.Sample {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sampleWithin)
	defer cancel()
	s := sample{c.BaseURL, c.Organizations[0].Keys.New}
	if _, err := s.when(ctx, "/me", func(made) bool { return true }); err != nil {
		return err
	}
	if err := s.make(ctx); err != nil {
		return fmt.Errorf("make the sample portal: %w", err)
	}
	c.Sample = true
	return c.write(d.credentialsPath())
}

// when looks at a path until calls are answered there and what they answer is as it should be.
func (s sample) when(ctx context.Context, path string, is func(made) bool) (made, error) {
	for {
		m, err := s.call(ctx, http.MethodGet, path, nil)
		if err == nil && is(m) {
			return m, nil
		}
		select {
		case <-ctx.Done():
			return made{}, errors.Join(ctx.Err(), err)
		case <-time.After(sampleEvery):
		}
	}
}

type object map[string]any

// made is what of an answer the next calls need.
type made struct {
	ID            string
	PersonaID     string
	SubjectBaseID string
}

func (s sample) make(ctx context.Context) error {
	base, err := s.call(ctx, http.MethodPost, "/knowledge/bases", object{"name": "City Museum"})
	if err != nil {
		return err
	}
	if _, err := s.call(ctx, http.MethodPost, "/knowledge/bases/"+base.ID+"/documents", object{
		"kind": "text", "title": "Visitor guide of the City Museum", "text": config.Guide,
	}); err != nil {
		return err
	}
	portal, err := s.call(ctx, http.MethodPost, "/portals", object{
		"name": "City Museum", "slug": sampleSlug, "templateKey": "museum_guide", "avatarId": id.NamedAvatar("amara"), "voiceId": id.NamedVoice("nora"),
		"answers": object{"organization": "City Museum"},
	})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		method, path string
		body         object
	}{
		{http.MethodPatch, "", object{"knowledgeBaseIds": []string{base.ID}, "privacy": object{"privacyUrl": "https://example.com/privacy"}}},
		{http.MethodPut, "/doors/visitors", object{"open": true, "requires": []string{}}},
		{http.MethodPost, "/publish", nil},
	} {
		if _, err := s.call(ctx, c.method, "/portals/"+portal.ID+c.path, c.body); err != nil {
			return err
		}
	}
	// A worker makes the pack of what the subjects teach.
	portal, err = s.when(ctx, "/portals/"+portal.ID, func(m made) bool { return m.SubjectBaseID != "" })
	if err != nil {
		return err
	}
	// The persona knows elsewhere too, such as in a terminal, what it knows on the portal.
	_, err = s.call(ctx, http.MethodPatch, "/personas/"+portal.PersonaID, object{
		"knowledge": object{"baseIds": []string{base.ID, portal.SubjectBaseID}},
	})
	return err
}

// call makes a call. Where a start broke off, the next one
// has the same things from the calls that were made.
func (s sample) call(ctx context.Context, method, path string, body object) (made, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return made{}, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.api+path, bytes.NewReader(text))
	if err != nil {
		return made{}, err
	}
	req.Header.Set("Authorization", "Bearer "+string(s.key))
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost {
		req.Header.Set("Idempotency-Key", "sample"+strings.ReplaceAll(path, "/", "-"))
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return made{}, err
	}
	defer answer.Body.Close()
	var said struct {
		Data  made
		Error *struct{ Code, Message string }
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&said); err != nil {
		return made{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if said.Error != nil {
		return made{}, fmt.Errorf("%s %s: %s: %s", method, path, said.Error.Code, said.Error.Message)
	}
	return said.Data, nil
}
