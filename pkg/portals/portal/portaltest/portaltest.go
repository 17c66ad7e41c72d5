// Package portaltest enters portals and subjects for tests of what uses them.
package portaltest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// At is when everything was made.
var At = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// Portal enters a published portal whose visitors' door is open.
func Portal(t testing.TB, tenants *tenant.Tenants, org id.Org, speaker id.Persona, changes ...func(*portal.Portal)) portal.Portal {
	t.Helper()
	made := id.NewPortal()
	p := portal.Portal{
		ID: made, Name: "Harbour school", Slug: "harbour-" + made.Bare(), Kind: portal.Learning, TemplateKey: "course",
		State: portal.Published, Persona: speaker, DraftVersion: 1, PublishedVersion: new(int64(1)), PublishedAt: &At, PageStamp: 1,
		ManagedBy: "api", CreatedAt: At, UpdatedAt: At,
		Definition: portal.Definition{
			Languages: []string{"en", "de"}, DefaultLanguage: "en", KnowledgeBaseIDs: []id.KnowledgeBase{}, AllowedOrigins: []string{},
			Brand:    portal.Brand{Accent: "#175e9e", Dark: "auto"},
			Pages:    portal.Pages{Title: words("Welcome"), Welcome: words("Ask us anything."), Footer: language.Words{}},
			Privacy:  portal.Privacy{AINotice: true, PrivacyURL: new("https://example.com/privacy")},
			Audience: "mixed",
		},
	}
	for _, change := range changes {
		change(&p)
	}
	in(t, tenants, org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := tx.Exec(ctx, `
			INSERT INTO portal (org_id, id, name, slug, host, kind, template_key, state, persona_id, definition, draft_version,
				published_version, published_at, page_stamp, managed_by, created_at, updated_at, archived_at, host_proven_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
			org, p.ID, p.Name, p.Slug, p.Host, p.Kind, p.TemplateKey, p.State, p.Persona, p.Definition, p.DraftVersion,
			p.PublishedVersion, p.PublishedAt, p.PageStamp, p.ManagedBy, p.CreatedAt, p.UpdatedAt, p.ArchivedAt, p.HostProvenAt); err != nil {
			return err
		}
		if p.PublishedVersion != nil {
			if _, err := tx.Exec(ctx, `
				INSERT INTO portal_version (org_id, portal_id, version, name, persona_id, definition, published_at, published_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, 'test')`,
				org, p.ID, *p.PublishedVersion, p.Name, p.Persona, p.Definition, At); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO portal_door (org_id, portal_id, key, open, requires, changed_at, changed_by)
			VALUES ($1, $2, 'visitors', true, '{}', $3, 'test')`, org, p.ID, At)
		return err
	})
	return p
}

// Subject enters a published subject of a portal.
func Subject(t testing.TB, tenants *tenant.Tenants, org id.Org, of id.Portal, changes ...func(*subject.Subject, *subject.Content)) subject.Subject {
	t.Helper()
	s := subject.Subject{
		ID: id.NewSubject(), Portal: of, Title: "Knots", Kind: subject.Course, State: subject.Published, Edition: 1,
		DraftVersion: 1, PublishedVersion: new(int64(1)), PublishedAt: &At, CreatedAt: At, UpdatedAt: At,
		Definition: subject.Definition{
			Objectives: []subject.Objective{}, KnowledgeBaseIDs: []id.KnowledgeBase{}, Prerequisites: []id.Subject{},
		},
	}
	c := subject.Content{
		Intro: words("How to tie a boat to a pier."),
		Sections: []subject.Section{{
			Key: "bowline", Title: words("The bowline"), Body: words("A bowline makes a loop that does not slip."),
			Media: []subject.Media{}, KeyPoints: []language.Words{},
		}},
		Questions: []subject.Question{{
			Key: "loop", Kind: "open", Text: words("Which knot makes a loop that does not slip?"),
			Options: []subject.Option{}, Rubric: []subject.Criterion{}, Points: 1, Required: true,
		}},
		Rules: subject.Rules{Order: "fixed"}, Ending: subject.Ending{Message: words("Well done.")},
	}
	for _, change := range changes {
		change(&s, &c)
	}
	in(t, tenants, org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := tx.Exec(ctx, `
			INSERT INTO subject (org_id, id, portal_id, title, kind, state, place, definition, edition, draft_version, published_version,
				published_at, created_at, updated_at, archived_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
			org, s.ID, s.Portal, s.Title, s.Kind, s.State, s.Place, s.Definition, s.Edition, s.DraftVersion, s.PublishedVersion,
			s.PublishedAt, s.CreatedAt, s.UpdatedAt, s.ArchivedAt); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO subject_version (org_id, subject_id, version, base_version, content, changed_sections, saved_at, saved_by, published_at, published_by)
			VALUES ($1, $2, $3, 0, $4, '{}', $5, 'test', $6, 'test')`,
			org, s.ID, s.DraftVersion, c, At, s.PublishedAt)
		return err
	})
	return s
}

// words are a text in English and in German.
func words(text string) language.Words {
	return language.Words{"en": text, "de": text + " (auf Deutsch)"}
}

func in(t testing.TB, tenants *tenant.Tenants, org id.Org, fn func(context.Context, *tenant.Tx) error) {
	t.Helper()
	require.NoError(t, tenants.InTx(context.Background(), org, fn))
}
