package conversation

import (
	"context"
	"time"

	"visavis.dev/pkg/provider/model"
)

// maxRounds is how often a model is told of its tools' results and may ask for others, in one
// answer. Then it has to do with what it knows.
const maxRounds = 4

// maxPerformed is how many tools are used in one answer.
const maxPerformed = 8

// converse has the model write, and use tools, until it asks for none.
func (a *generation) converse(ctx context.Context, ask []model.Message) error {
	if call := a.question.resumed; call != nil {
		call.result = make(chan toolResult, 1)
		ask = append(ask, model.Message{Role: "assistant", Calls: []model.ToolCall{call.asked}}, a.await(ctx, call))
	}
	for round := 0; !a.over && ctx.Err() == nil; round++ {
		tools := toolsOf(a.question.offers)
		if round == maxRounds {
			tools = nil
		}
		a.calls = nil
		a.wrote.Reset()
		if err := a.listen(ctx, ask, tools); err != nil || len(a.calls) == 0 || tools == nil {
			return err
		}
		ask = append(ask, model.Message{Role: "assistant", Content: a.wrote.String(), Calls: a.calls})
		for _, asked := range a.calls {
			ask = append(ask, a.perform(ctx, asked))
		}
		a.began = a.brain.Clock.Now() // the next words are waited for anew
	}
	return ctx.Err()
}

// perform has a tool used, and answers what the model is told of it.
func (a *generation) perform(ctx context.Context, asked model.ToolCall) model.Message {
	call, wrong := read(a.question.offers, asked)
	if a.performed++; a.performed > maxPerformed {
		wrong = "Error: no more tools can be used in this answer."
	}
	if wrong != "" {
		return resultOf(asked, wrong)
	}
	return a.await(ctx, call)
}

// await has the conversation use a tool, and waits as long as that may take.
func (a *generation) await(ctx context.Context, call *toolCall) model.Message {
	const late = "Error: the tool did not answer in time. Whether it was done is not known."
	if a.over || !a.tell(Piece{call: call}) {
		return resultOf(call.asked, late)
	}
	a.used = true
	var timer <-chan time.Time
	if within := call.Within(); within > 0 {
		t := a.brain.Clock.NewTimer(within)
		defer t.Stop()
		timer = t.C()
	}
	select {
	case result := <-call.result:
		a.tellings++
		switch result.source {
		case fromSystem:
			a.basis.inform(a.question.Language, call, result.text)
		case fromClient:
			a.basis.said.add(a.question.Language, result.text)
		}
		return resultOf(call.asked, result.text)
	case <-timer:
		a.tell(Piece{gaveUp: call})
		return resultOf(call.asked, late)
	case <-ctx.Done():
		return resultOf(call.asked, late)
	}
}

// tell tells the conversation something that is not said; false ends the answer.
func (a *generation) tell(p Piece) bool {
	p.Retrieval, p.ModelFirst = a.retrieval, a.modelFirst
	if !a.yield(p, nil) {
		a.over = true
		return false
	}
	return true
}

func resultOf(asked model.ToolCall, text string) model.Message {
	return model.Message{Role: "tool", ResultOf: asked.ID, Content: text}
}

// inform adds what a system answered to what an answer may rest on. What the model asked it
// with is none of that.
func (b *basis) inform(language string, call *toolCall, result string) {
	text := call.Title + ". " + result
	b.passages = append(b.passages, Passage{Title: call.Title, Text: text, Language: language})
	b.own = append(b.own, nil)
	b.firm.add(language, text)
	b.informed = append(b.informed, len(b.passages))
}
