package conversation

import (
	"maps"
	"slices"
	"strings"

	"visavis.dev/pkg/personas/persona"
)

// goals is how far a conversation's goals are met. It is data and its rules;
// what is said about it stands in pursuing.go.
type goals struct {
	all []persona.Goal
	// at is the goal pursued now, -1 when none is left.
	at int
	// met are the keys of goals that are done, and passed of those that were asked for in
	// vain and are not required.
	met, passed map[string]bool
	// asked is whether the goal's prompt stands unanswered; asks counts how
	// often it was put.
	asked bool
	asks  int
	// further counts how often more was asked for, of an answer that was thin.
	further int
	// proposed are values that await the user's yes.
	proposed map[string]string
	values   map[string]string
}

func newGoals(all []persona.Goal) *goals {
	g := &goals{all: all, at: -1, met: map[string]bool{}, passed: map[string]bool{}, values: map[string]string{}}
	if len(all) > 0 {
		g.at = 0
	}
	return g
}

// learn takes what was found out; goals that have all they want are met.
func (g *goals) learn(values map[string]string) {
	maps.Copy(g.values, values)
	for g.at >= 0 && (g.passed[g.all[g.at].Key] || len(g.all[g.at].Outputs) > 0 && g.complete(&g.all[g.at])) {
		if goal := &g.all[g.at]; g.complete(goal) {
			delete(g.passed, goal.Key)
			g.met[goal.Key] = true
		}
		g.at = g.after(&g.all[g.at])
	}
}

// leave goes on to the next goal, whether the current one is met or not.
func (g *goals) leave(met bool) {
	goal := g.current()
	g.asked, g.asks, g.further, g.proposed = false, 0, 0, nil
	if met {
		g.met[goal.Key] = true
	} else {
		g.passed[goal.Key] = true
	}
	g.at = g.after(goal)
}

// skip goes on to the next goal that is neither met nor passed, if the current one is.
func (g *goals) skip() {
	for goal := g.current(); goal != nil && (g.met[goal.Key] || g.passed[goal.Key]); goal = g.current() {
		g.at, g.asked, g.asks, g.further, g.proposed = g.after(goal), false, 0, 0, nil
	}
}

func (g *goals) complete(goal *persona.Goal) bool {
	if goal.Key == callback {
		return g.contact()
	}
	return !slices.ContainsFunc(goal.Outputs, func(output string) bool { return g.values[output] == "" })
}

func (g *goals) current() *persona.Goal {
	if g.at < 0 {
		return nil
	}
	return &g.all[g.at]
}

// due is the goal to ask for now: one whose prompt does not stand already. What
// is not required is asked for once, and then the next one is due.
func (g *goals) due() *persona.Goal {
	for goal := g.current(); goal != nil && !g.asked; goal = g.current() {
		if g.asks == 0 || goal.Required {
			return goal
		}
		g.passed[goal.Key] = true
		g.at, g.asks, g.further = g.after(goal), 0, 0
	}
	return nil
}

func (g *goals) wasAsked() { g.asked, g.asks = true, g.asks+1 }

// pursue makes the goal of a key the current one; an unknown key changes nothing.
func (g *goals) pursue(key string) {
	if i := slices.IndexFunc(g.all, func(goal persona.Goal) bool { return goal.Key == key }); i >= 0 {
		g.at, g.asked, g.asks, g.further, g.proposed = i, false, 0, 0, nil
		delete(g.met, key)
		delete(g.passed, key)
	}
}

// fill reads what the current goal wants from the utterance that answered its
// prompt; ok is false when it is not there.
func (g *goals) fill(language, utterance string) (values map[string]string, ok bool) {
	goal := g.current()
	if goal == nil || !g.asked {
		return nil, false
	}
	if output := answerOf(goal); output != "" {
		return map[string]string{output: utterance}, true
	}
	values = map[string]string{}
	for _, output := range goal.Outputs {
		value, found := valueOf(output, utterance, len(goal.Outputs) == 1 && !asks(language, utterance))
		if found {
			values[output] = value
			continue
		}
		if isPattern(output) || len(goal.Outputs) > 1 && patternOf(output) != "" {
			continue // nobody's name is the address they gave
		}
		if asks(language, utterance) {
			return nil, false
		}
		values[output] = utterance
	}
	if len(goal.Outputs) == 0 {
		return values, !asks(language, utterance)
	}
	return values, len(values) > 0
}

// accept takes values as the goal's, and goes on to the next. With a part of
// them still missing the goal stays.
func (g *goals) accept(values map[string]string) {
	maps.Copy(g.values, values)
	goal := g.current()
	g.asked, g.asks, g.further, g.proposed = false, 0, 0, nil
	if !g.complete(goal) {
		return
	}
	g.met[goal.Key] = true
	g.at = g.after(goal)
}

// after is the goal that follows one: that it names, or the next in order that
// is not met.
func (g *goals) after(goal *persona.Goal) int {
	open := func(next persona.Goal) bool { return !g.met[next.Key] && !g.passed[next.Key] }
	if goal.Next != nil {
		return slices.IndexFunc(g.all, func(next persona.Goal) bool { return next.Key == *goal.Next && open(next) })
	}
	for i := g.at + 1; i < len(g.all); i++ {
		if open(g.all[i]) {
			return i
		}
	}
	return -1
}

// questioned says whether questions of a subject were put, and none is left.
func (g *goals) questioned() bool {
	var any bool
	for i := range g.all {
		if goal := &g.all[i]; answerOf(goal) != "" {
			if !g.met[goal.Key] && !g.passed[goal.Key] {
				return false
			}
			any = true
		}
	}
	return any
}

// contact says whether somebody could be reached by what was collected.
func (g *goals) contact() bool {
	for name, value := range g.values {
		if kind := patternOf(name); value != "" && (kind == "email" || kind == "phone") {
			return true
		}
	}
	return false
}

// told is what a model is told of the goals: what each is for, and what is known already.
func (g *goals) told() []string {
	var out []string
	for i := range g.all {
		goal := &g.all[i]
		state := "open"
		if g.met[goal.Key] {
			state = "done"
		}
		line := []string{goal.Key + " (" + state + "): " + goal.Prompt}
		for _, output := range goal.Outputs {
			if value := g.values[output]; value != "" {
				line = append(line, output+" is "+value+".")
			}
		}
		out = append(out, strings.Join(line, " "))
	}
	return out
}
