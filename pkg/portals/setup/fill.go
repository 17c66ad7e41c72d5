package setup

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Section is a part of a portal that can be filled.
type Section string

// The sections.
const (
	// Subjects enters a subject for each source whose title none has.
	Subjects Section = "subjects"
	// Questions writes questions for subjects that have none.
	Questions Section = "questions"
	// Texts writes the page's texts in the portal's languages that lack them.
	Texts Section = "texts"
	// Knowledge adds the sources to what the portal answers from.
	Knowledge Section = "knowledge"
)

// Written says whether the section needs a model.
func (s Section) Written() bool { return s == Questions || s == Texts }

// NeedsModel says whether nothing of it can be done without a model: without one,
// subjects are made of what there is to read alone.
func (r *Request) NeedsModel() bool {
	readable := r.Source.URL != nil || len(r.Source.DocumentIDs) > 0
	return !slices.ContainsFunc(r.Sections, func(s Section) bool { return s == Knowledge || s == Subjects && readable })
}

// Read says whether the section needs something to read.
func (s Section) Read() bool { return s == Subjects || s == Knowledge }

// Request is what to fill of a portal, and from what.
type Request struct {
	Sections []Section `json:"sections"`
	Source   Input     `json:"source"`
}

func (r *Request) asks(s Section) bool { return slices.Contains(r.Sections, s) }

// fetching says whether filling gets pages of a site.
func (r *Request) fetching() job.Fetching {
	if r.gathers() {
		return r.Source.fetching()
	}
	return job.Fetching{}
}

// gathers says whether anything that is asked for is made of what the source names.
func (r *Request) gathers() bool { return r.asks(Subjects) || r.asks(Knowledge) }

// Fill queues the job that fills a portal that is held.
func Fill(ctx context.Context, tx *tenant.Tx, p portal.Portal, r Request, who activity.Actor) (job.Job, error) {
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.PortalFill, ResourceKind: "portal", ResourceID: p.ID.String(), Portal: p.ID, Scope: scope.PortalsWrite,
		CreatedBy: who.By, CreatedAt: who.At,
	}, task{Portal: p.ID, Fill: &r, Fetching: r.fetching()})
	if err != nil {
		return j, err
	}
	who.Log(tx, "portal.fill_ordered", "portal", p.ID, map[string]any{"sections": r.Sections, "jobId": j.ID})
	return j, nil
}

// filling is what a job adds to a portal, all in one commit.
type filling struct {
	portal id.Portal
	terms  plan.Terms
	parts  []ProposedPart
	from   stock
	// pages are the texts that were lacking, and asked the questions of subjects
	// that had none.
	pages portal.Pages
	asked []asked
}

// asked are the questions of a subject as a model wrote them.
type asked struct {
	Subject   id.Subject       `json:"subject"`
	Questions []language.Words `json:"questions"`
}

// add adds what is still lacking. Nobody's words are replaced; the error is a
// job.Refusal where there is no room.
func (f *filling) add(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
	p, err := portal.Lock(ctx, tx, f.portal)
	if errdefs.IsNotFound(err, portal.Noun) || errdefs.IsArchived(err, portal.Noun) {
		j.State = job.Cancelled
		return nil
	}
	if err != nil {
		return err
	}
	who := actor(*j, now)
	base, err := f.ownPack(ctx, tx, p)
	if err != nil {
		return err
	}
	base, documents, err := f.from.fill(ctx, tx, base, p.Name, f.terms, who.Unlogged())
	if err != nil {
		return err
	}
	packs := slices.Clone(f.from.packs)
	if documents > 0 {
		packs = append(packs, base)
	}
	texts, err := f.dress(ctx, tx, p, packs, who)
	if err != nil {
		return err
	}
	subjects, err := f.enter(ctx, tx, *j, now)
	if err != nil {
		return err
	}
	questions, err := f.examine(ctx, tx, j, p.Definition.Languages, now)
	if err != nil {
		return err
	}
	j.State, j.Done, j.Total = job.Succeeded, j.Done+1, j.Done+1
	j.Counts = map[string]int64{"subjects": subjects, "documents": documents, "texts": texts, "questions": questions}
	return nil
}

// ownPack finds a pack that the portal alone answers from, to add to; the zero id
// where there is none.
func (f *filling) ownPack(ctx context.Context, tx *tenant.Tx, p portal.Portal) (id.KnowledgeBase, error) {
	if len(f.from.addresses) == 0 {
		return id.KnowledgeBase{}, nil
	}
	for _, base := range p.Definition.KnowledgeBaseIDs {
		b, err := knowledge.LockBase(ctx, tx, base)
		if errdefs.IsAbsent(err, knowledge.BaseNoun) {
			continue
		}
		if err != nil {
			return id.KnowledgeBase{}, err
		}
		if len(b.Personas) == 0 && slices.Equal(b.Portals, []id.Portal{p.ID}) {
			return base, nil
		}
	}
	return id.KnowledgeBase{}, nil
}

// dress adds packs and texts to the portal's draft, and counts the texts.
func (f *filling) dress(ctx context.Context, tx *tenant.Tx, p portal.Portal, packs []id.KnowledgeBase, who portal.Author) (int64, error) {
	after, texts := p, int64(0)
	after.Definition.KnowledgeBaseIDs = slices.Clone(p.Definition.KnowledgeBaseIDs)
	for _, base := range packs {
		if !slices.Contains(after.Definition.KnowledgeBaseIDs, base) {
			after.Definition.KnowledgeBaseIDs = append(after.Definition.KnowledgeBaseIDs, base)
		}
	}
	if len(after.Definition.KnowledgeBaseIDs) > maxSources {
		return 0, &job.Refusal{Code: CodePacksFull}
	}
	for _, t := range pageTexts {
		texts += supplement(t.of(&after.Definition.Pages), *t.of(&f.pages), p.Definition.Languages)
	}
	_, _, err := portal.Update(ctx, tx, p, after, portal.Change{Action: "portal.updated"}, who)
	if code := whyNot(err); code != "" {
		return texts, &job.Refusal{Code: code}
	}
	return texts, err
}

// supplement adds the texts in languages that a text lacks, and counts them.
func supplement(to *language.Words, written language.Words, languages []string) (added int64) {
	filled := language.Words{}
	maps.Copy(filled, *to)
	for _, code := range languages {
		if _, had := filled[code]; !had && written[code] != "" {
			filled[code] = written[code]
			added++
		}
	}
	*to = filled
	return added
}

// enter enters the subjects whose titles none has yet, and counts them.
func (f *filling) enter(ctx context.Context, tx *tenant.Tx, j job.Job, now time.Time) (entered int64, err error) {
	there, err := subject.OfPortal(ctx, tx, f.portal)
	if err != nil {
		return 0, err
	}
	had := map[string]bool{}
	for _, s := range there {
		had[fold(s.Title)] = true
	}
	for _, part := range f.parts {
		if had[fold(part.Title)] {
			continue
		}
		had[fold(part.Title)] = true
		l := part.lesson()
		l.Subject.ID, l.Subject.Portal = id.NewSubject(), f.portal
		_, err := subject.Insert(ctx, tx, l.Subject, l.Content, actor(j, now))
		if errdefs.IsConflict(err, subject.Noun, subject.ReasonFull) {
			err = &job.Refusal{Code: CodeSubjectsFull}
		}
		if err != nil {
			return entered, err
		}
		entered++
	}
	return entered, nil
}

// examine saves the questions of subjects that still have none, and counts them.
func (f *filling) examine(ctx context.Context, tx *tenant.Tx, j *job.Job, languages []string, now time.Time) (saved int64, err error) {
	for _, a := range f.asked {
		s, err := subject.Lock(ctx, tx, a.Subject)
		if errdefs.IsNotFound(err, subject.Noun) || errdefs.IsArchived(err, subject.Noun) {
			continue
		}
		if err != nil {
			return saved, err
		}
		newest, err := subject.FindVersion(ctx, tx, s.ID, s.DraftVersion)
		if err != nil {
			return saved, err
		}
		content := newest.Content
		if len(content.Questions) > 0 {
			continue
		}
		content.Questions = questions(a.Questions, languages)
		_, changed, err := subject.Save(ctx, tx, s, content, nil, actor(*j, now).Unlogged(), new("Questions written by a model."))
		if errors.Is(err, subject.ErrTooLarge) {
			err = &job.Refusal{Code: "too_large"}
		}
		if err != nil {
			return saved, err
		}
		if changed {
			saved += int64(len(content.Questions))
		}
	}
	return saved, nil
}
