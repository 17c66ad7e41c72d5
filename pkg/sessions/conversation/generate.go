package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/upstream"
)

// maxAnswerBytes is where a model that does not come to an end is cut off.
const maxAnswerBytes = 8000

// Why a model was given up. The first two are failures of the service's.
var (
	errSlow   = fmt.Errorf("the model kept silent: %w", upstream.ErrTimeout)
	errSilent = fmt.Errorf("the model said nothing: %w", upstream.ErrMalformed)
)

// generative is the brain of a connected model. It answers from retrieved
// passages; as long as nothing was said, whatever goes wrong makes the built-in
// brain answer instead, or ends the answer with ErrNoModel where it may not.
type generative struct {
	retrieval
	// running counts the calls under way, which may outlive their answers.
	running *sync.WaitGroup
}

// Answer implements Brain.
func (b *generative) Answer(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		passages, took, err := b.find(ctx, q)
		if err != nil && b.Persona.Knowledge.Mode == strict {
			yield(Piece{}, err)
			return
		}
		if len(passages) == 0 && b.Persona.Knowledge.Mode == strict {
			nothing := unknown(q.Language)
			nothing.Retrieval = took
			yield(nothing, nil)
			return
		}
		a := &generation{brain: b, question: q, passages: passages, retrieval: took, modelFirst: untold, yield: yield}
		a.run(ctx, b.messages(q, passages), func() []Piece { return b.extracted(q, passages) })
	}
}

// Greet is a greeting of the model's own, or the given one.
func (b *generative) Greet(ctx context.Context, q Question, builtin string) Stream {
	return func(yield func(Piece, error) bool) {
		a := &generation{brain: b, question: q, retrieval: untold, modelFirst: untold, yield: yield, free: true}
		ask := []model.Message{
			{Role: "system", Content: b.system(q, nil)},
			{Role: "user", Content: "(The person has just joined. Greet them in one or two short sentences and offer your help. Cite nothing.)"},
		}
		a.run(ctx, ask, func() []Piece { return []Piece{{Text: builtin}} })
	}
}

// generation is one answer in the making.
type generation struct {
	brain                 *generative
	question              Question
	passages              []Passage
	retrieval, modelFirst time.Duration
	yield                 func(Piece, error) bool
	// free words rest on nothing, as a greeting's.
	free bool

	split splitter
	said  bool
	over  bool // nothing more is to be said
	bytes int
}

func (a *generation) run(ctx context.Context, ask []model.Message, instead func() []Piece) {
	err := a.listen(ctx, ask)
	switch {
	case a.over || ctx.Err() != nil:
	case !a.said && a.brain.ModelOnly:
		a.yield(Piece{}, errors.Join(ErrNoModel, err))
	case !a.said:
		for _, piece := range instead() {
			piece.Retrieval, piece.ModelFirst = a.retrieval, a.modelFirst
			if !a.yield(piece, nil) {
				return
			}
		}
	case err != nil:
		a.yield(Piece{Retrieval: a.retrieval, ModelFirst: a.modelFirst}, err)
	}
}

// listen has the model write and passes its sentences on. The error is nil when
// the answer came to its end.
func (a *generation) listen(ctx context.Context, ask []model.Message) error {
	b := a.brain
	asked := b.Clock.Now()
	streaming, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces, ended := make(chan string), make(chan error, 1)
	b.running.Go(func() {
		ended <- b.Model.Stream(streaming, model.Request{
			Messages: ask, Temperature: b.Persona.Model.Temperature, MaxTokens: b.Persona.Model.MaxTokens,
		}, func(piece string) error {
			select {
			case pieces <- piece:
				return nil
			case <-streaming.Done():
				return streaming.Err()
			}
		})
	})
	err := a.follow(ctx, pieces, ended, asked)
	if ctx.Err() != nil {
		return ctx.Err() // interrupted: that says nothing of the model
	}
	if b.ModelOutcome != nil {
		b.ModelOutcome(err, b.Clock.Since(asked))
	}
	return err
}

// follow takes the model's pieces until it ends, or is silent for too long.
func (a *generation) follow(ctx context.Context, pieces <-chan string, ended <-chan error, asked time.Time) error {
	patience := time.Duration(a.brain.Persona.Model.TimeoutMs) * time.Millisecond
	for {
		timer := a.brain.Clock.NewTimer(patience)
		select {
		case piece := <-pieces:
			timer.Stop()
			if a.modelFirst < 0 && strings.TrimSpace(piece) != "" {
				a.modelFirst = a.brain.Clock.Since(asked)
			}
			if !a.take(piece) {
				return nil
			}
		case err := <-ended:
			timer.Stop()
			return a.finish(err)
		case <-timer.C():
			return errSlow
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// take says the sentences that a piece completes; false ends the answer.
func (a *generation) take(piece string) bool {
	if a.bytes += len(piece); a.bytes > maxAnswerBytes {
		a.over = a.said
		return false
	}
	for _, sentence := range a.split.add(piece) {
		if !a.say(sentence) {
			return false
		}
	}
	return true
}

func (a *generation) finish(err error) error {
	if err != nil {
		return err // half a sentence is not said
	}
	if rest := a.split.end(); rest != "" {
		a.say(rest)
	}
	if !a.said && !a.over {
		return errSilent
	}
	return nil
}

// say passes a sentence on; false ends the answer.
func (a *generation) say(sentence string) bool {
	if strings.Contains(sentence, unknownMark) {
		a.over = true
		if !a.said {
			nothing := unknown(a.question.Language)
			nothing.Retrieval, nothing.ModelFirst = a.retrieval, a.modelFirst
			a.said = true
			a.yield(nothing, nil)
		}
		return false
	}
	words, cited := uncite(sentence)
	sources := a.sources(cited)
	if words == "" && len(sources) == 0 {
		return true
	}
	piece := Piece{Text: words, Sources: sources, Retrieval: a.retrieval, ModelFirst: a.modelFirst}
	if !a.free {
		grounded := len(sources) > 0
		piece.Grounded = &grounded
	}
	a.said = a.said || words != ""
	if !a.yield(piece, nil) {
		a.over = true
		return false
	}
	return true
}

// sources are the passages of the numbers a model cited, each once; numbers
// that it made up are dropped.
func (a *generation) sources(cited []int) []Source {
	var out []Source
	slices.Sort(cited)
	for _, n := range slices.Compact(cited) {
		if n >= 1 && n <= len(a.passages) {
			out = append(out, sourceOf(&a.passages[n-1]))
		}
	}
	return out
}

var _, _ Brain = (*generative)(nil), extractive{}
