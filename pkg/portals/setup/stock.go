package setup

import (
	"context"
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// stock is what a portal is to answer from.
type stock struct {
	// packs hold documents that are there, and addresses are documents to be.
	packs     []id.KnowledgeBase
	addresses []ProposedSource
}

// stocked looks up what a proposal names. The error is a job.Refusal where a
// document is gone.
func stocked(ctx context.Context, t *tenant.Tenants, org id.Org, sources []ProposedSource) (stock, error) {
	var s stock
	for _, named := range sources {
		if named.DocumentID == nil {
			s.addresses = append(s.addresses, named)
			continue
		}
		d, err := knowledge.GetDocument(ctx, t, org, *named.DocumentID)
		if errdefs.IsAbsent(err, knowledge.DocumentNoun) {
			err = &job.Refusal{Code: CodeDocumentGone}
		}
		if err != nil {
			return s, err
		}
		if !slices.Contains(s.packs, d.Base) {
			s.packs = append(s.packs, d.Base)
		}
	}
	return s, nil
}

// fill adds the addresses to a pack, a new one where it is the zero id, with the
// jobs that read them. It answers the pack, zero where none is needed, and how many
// documents are new; the error is a job.Refusal where the terms leave no room.
func (s *stock) fill(ctx context.Context, tx *tenant.Tx, base id.KnowledgeBase, name string, terms plan.Terms, who activity.Actor) (id.KnowledgeBase, int64, error) {
	if len(s.addresses) == 0 {
		return base, 0, nil
	}
	if base.IsZero() {
		base = id.NewKnowledgeBase()
		full, err := knowledge.InsertBase(ctx, tx, knowledge.Base{ID: base, Name: clip(name, maxName-10) + ": sources", CreatedAt: who.At, UpdatedAt: who.At}, terms, who)
		if full {
			err = &job.Refusal{Code: CodePacksFull}
		}
		if err != nil {
			return base, 0, err
		}
	}
	var added int64
	for _, a := range s.addresses {
		d := knowledge.Document{
			ID: id.NewDocument(), Base: base, Kind: knowledge.Address, Title: a.Title, URL: a.URL, Tags: []string{}, Refresh: knowledge.Never,
			SHA256: []byte{}, CreatedAt: who.At, UpdatedAt: who.At,
		}
		if d.Title == "" {
			d.Title = *a.URL
		}
		switch _, outcome, err := knowledge.Add(ctx, tx, d, terms, who); {
		case err != nil:
			return base, added, err
		case outcome == knowledge.Full, outcome == knowledge.FullBytes, outcome == knowledge.FullIndex:
			return base, added, &job.Refusal{Code: CodeDocumentsFull}
		case outcome == knowledge.Added:
			added++
		}
	}
	return base, added, nil
}
