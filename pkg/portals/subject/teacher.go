package subject

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Teacher keeps what the published subjects tell in a knowledge pack of their
// portal, a document for each language, so that the portal's avatar answers from
// it. It is what the jobs of the kind subject_sync do.
type Teacher struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Clock   clock.PassiveClock
}

// Work is what to run the jobs with.
func (t *Teacher) Work() job.Work { return job.Work{Prepare: t.prepare} }

// lessonTask is what a job of the kind is to do.
type lessonTask struct {
	Subject id.Subject `json:"subject"`
}

// teach queues the job that brings the portal's pack up to a subject.
func teach(ctx context.Context, tx *tenant.Tx, s id.Subject, who Author) error {
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.SubjectSync, ResourceKind: "subject", ResourceID: s.String(), Subject: s, Scope: scope.ContentRead,
		CreatedBy: who.By, CreatedAt: who.At,
	}, lessonTask{s})
	return err
}

// prepare writes the texts of a subject to files, which the step keeps.
func (t *Teacher) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var what lessonTask
	if err := json.Unmarshal(j.Input, &what); err != nil {
		return nil, err
	}
	s, err := Get(ctx, t.Tenants, j.Org, what.Subject)
	if errdefs.IsNotFound(err, Noun) {
		return cancelled, nil
	}
	if err != nil {
		return nil, err
	}
	var lessons []knowledge.Document
	if s.State == Published {
		if lessons, err = t.lessons(ctx, j.Org, s); err != nil {
			return nil, err
		}
	}
	return t.step(s, lessons), nil
}

func cancelled(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Cancelled
	return 0, nil
}

// lessons are the documents of a published subject.
func (t *Teacher) lessons(ctx context.Context, org id.Org, s Subject) ([]knowledge.Document, error) {
	_, v, err := GetContent(ctx, t.Tenants, org, s.ID, *s.PublishedVersion)
	if err != nil {
		return nil, err
	}
	now := t.Clock.Now().UTC().Truncate(time.Microsecond)
	var documents []knowledge.Document
	for _, code := range v.Content.Languages() {
		said := Lesson(s, v.Content, code)
		if said == "" {
			continue
		}
		sum := sha256.Sum256([]byte(said))
		stored, err := t.Files.Put(ctx, org, "text/markdown", []byte(said))
		if err != nil {
			return nil, err
		}
		documents = append(documents, knowledge.Document{
			ID: id.NewDocument(), Kind: knowledge.Text, Title: s.TitleIn(v.Content, code), Titled: true, ContentType: "text/markdown",
			Bytes: int64(len(said)), SHA256: sum[:], File: stored, Tags: []string{s.ID.String()}, Refresh: knowledge.Never,
			CreatedAt: now, UpdatedAt: now,
		})
	}
	return documents, nil
}

// step makes lessons all that the portal's pack has of a subject as it was read.
func (t *Teacher) step(read Subject, lessons []knowledge.Document) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		// The portal comes first, as it does for everyone. That it is archived changes nothing.
		p, err := portal.Lock(ctx, tx, read.Portal)
		if err != nil && !errdefs.IsArchived(err, portal.Noun) {
			return 0, err
		}
		s, err := Lock(ctx, tx, read.ID)
		if err != nil && !errdefs.IsArchived(err, Noun) {
			return 0, err
		}
		if s.State != read.State || s.Title != read.Title || !bytes.Equal(written(s.PublishedVersion), written(read.PublishedVersion)) {
			return 0, nil // changed meanwhile: once more
		}
		who := Author{By: j.CreatedBy, At: now}.Unlogged()
		base, err := subjectBase(ctx, tx, p, len(lessons) > 0, who)
		if err != nil {
			return 0, err
		}
		j.State = job.Succeeded
		if base.IsZero() {
			return 0, nil
		}
		return 0, t.replace(ctx, tx, base, s.ID.String(), lessons, who)
	}
}

// replace makes lessons the documents of a pack that have a tag. Those that say
// the same stay as they are.
func (t *Teacher) replace(ctx context.Context, tx *tenant.Tx, base id.KnowledgeBase, tag string, lessons []knowledge.Document, who Author) error {
	had, err := knowledge.Tagged(ctx, tx, base, tag)
	if err != nil {
		return err
	}
	for _, old := range had {
		same := func(d knowledge.Document) bool { return bytes.Equal(d.SHA256, old.SHA256) && d.Title == old.Title }
		if slices.ContainsFunc(lessons, same) {
			lessons = slices.DeleteFunc(lessons, same)
			continue
		}
		if err := t.drop(ctx, tx, old, tag, who); err != nil {
			return err
		}
	}
	for _, d := range lessons {
		d.Base = base
		if err := t.add(ctx, tx, d, tag, who); err != nil {
			return err
		}
	}
	return nil
}

// add adds a document. Two subjects that say the same share one.
func (t *Teacher) add(ctx context.Context, tx *tenant.Tx, d knowledge.Document, tag string, who Author) error {
	added, outcome, err := knowledge.Add(ctx, tx, d, plan.Terms{}, who)
	if err != nil {
		return err
	}
	switch outcome {
	case knowledge.Added:
		return t.Files.Keep(ctx, tx, d.File)
	case knowledge.Full, knowledge.FullBytes, knowledge.FullIndex:
		return problem.Conflicting("pack_full", "The portal's knowledge pack is full. Delete documents of it.")
	case knowledge.Existing:
	}
	added.Tags, added.UpdatedAt = append(added.Tags, tag), who.At
	return knowledge.UpdateDocument(ctx, tx, added, nil, who)
}

// drop removes a document, unless another subject says the same.
func (t *Teacher) drop(ctx context.Context, tx *tenant.Tx, d knowledge.Document, tag string, who Author) error {
	d.Tags = slices.DeleteFunc(d.Tags, func(other string) bool { return other == tag })
	if len(d.Tags) > 0 {
		d.UpdatedAt = who.At
		return knowledge.UpdateDocument(ctx, tx, d, nil, who)
	}
	gone, err := knowledge.DeleteDocument(ctx, tx, d.ID, who)
	if err != nil || gone.File.IsZero() {
		return err
	}
	return t.Files.Discard(ctx, tx, gone.File)
}
