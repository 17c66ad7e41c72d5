package conversation

import (
	"context"
)

// extractive is the built-in brain: it answers with sentences of the packs, word
// for word, and says that it does not know rather than anything else.
type extractive struct {
	retrieval
}

// Answer implements Brain.
func (b extractive) Answer(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		passages, took, err := b.find(ctx, q)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		for _, piece := range extracted(q, passages) {
			piece.Retrieval, piece.ModelFirst = took, untold
			if !yield(piece, nil) {
				return
			}
		}
	}
}

// extracted is the answer that passages give to a question: its sentences, or
// that it is not known.
func extracted(q Question, passages []Passage) []Piece {
	if len(wantedWords(q)) == 0 {
		return []Piece{{Text: bookOf(q.Language).askAgain, Act: ActClarify}} // nothing was asked for
	}
	chosen := best(q, passages)
	if len(chosen) == 0 {
		return []Piece{unknown(q.Language)}
	}
	yes := true
	pieces := make([]Piece, len(chosen))
	for i, s := range chosen {
		pieces[i] = Piece{Text: s.text, Sources: []Source{sourceOf(&passages[s.passage])}, Grounded: &yes}
	}
	return pieces
}

// unknown is the honest answer.
func unknown(language string) Piece {
	no := false
	return Piece{Text: bookOf(language).dontKnow, Grounded: &no, Gap: true, Act: ActUnknown, Retrieval: untold, ModelFirst: untold}
}

func sourceOf(p *Passage) Source {
	s := Source{Page: p.Page, URL: p.URL}
	s.DocumentID, s.Title, s.ChunkID, s.Score = p.Document, p.Title, p.Chunk, p.Score
	return s
}
