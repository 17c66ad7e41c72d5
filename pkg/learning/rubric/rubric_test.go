package rubric_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
)

func en(text string) language.Words { return language.Words{"en": text} }

func in(w language.Words) string { return w["en"] }

// alarm is a question with two points, of which the first is required.
var alarm = subject.Question{
	Key: "alarm", Kind: "open", Text: en("What do you do when the fire alarm rings?"), Points: 4,
	Rubric: []subject.Criterion{{
		Key: "steps", Label: en("Names the steps"), Weight: 1,
		Points: []subject.Point{{Text: en("Leave the building by the stairs"), Required: true}, {Text: en("Meet at the parking lot")}},
		Levels: []subject.Level{{Score: 0, Description: en("None")}, {Score: 1, Description: en("One")}, {Score: 2, Description: en("Both")}},
	}},
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		said  string
		score float64
		sure  bool
	}{
		"both":                    {"You leave the building by the stairs. Then everybody meets at the parking lot.", 4, true},
		"in other words' order":   {"By the stairs we leave the building and meet at the parking lot.", 4, true},
		"one":                     {"I leave the building by the stairs.", 2, true},
		"one, and not the needed": {"We meet at the parking lot.", 2, true},
		"none":                    {"I have no idea.", 0, true},
		"nothing":                 {"", 0, true},
		"the contrary":            {"You do not leave the building by the stairs.", 0, true},
		"half of one":             {"Leave somehow, quickly out of there, and take your bag, call your friends, and wait for somebody.", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			scores := rubric.Judge("en", alarm, rubric.Answer{Text: c.said, Kept: true}, in)
			require.Len(t, scores, 1)
			s := scores[0]
			require.Equal(t, "alarm.steps", s.Key)
			require.InDelta(t, 4, s.Max, 0.001)
			require.Equal(t, c.sure, s.Confidence >= rubric.Least, "%+v", s)
			if c.sure {
				require.InDelta(t, c.score, s.Score, 0.001, "%+v", s)
			}
		})
	}
}

// Whoever may say the contrary of a point has neither met it nor missed it for sure, in
// whichever words they deny.
func TestDenialsAreNeverSureScores(t *testing.T) {
	for _, c := range []struct{ language, point, said string }{
		{"en", "Leave the building by the stairs", "We don't leave the building by the stairs."},
		{"en", "Leave the building by the stairs", "We don’t leave the building by the stairs"},
		{"en", "Leave the building by the stairs", "You cannot leave the building by the stairs."},
		{"en", "Leave the building by the stairs", "Nobody leaves the building by the stairs. That is forbidden."},
		{"en", "Leave the building by the stairs", "We do not, under any circumstances, leave the building by the stairs."},
		{"en", "Leave the building by the stairs", "Avoid leaving the building by the stairs."},
		{"en", "Leave the building by the stairs", "I leave the building by the stairs. I don't leave the building by the stairs."},
		{"en", "Call the police", "I would not call anybody. Police are no help."},
		{"en", "Don't use the lift", "Use the lift."},
		{"en", "Don't use the lift", "I don't use the stairs, I use the lift."},
		{"de", "Das Gebäude über die Treppe verlassen", "Wir verlassen das Gebäude keinesfalls über die Treppe."},
		{"fr", "Quitter le bâtiment par l'escalier", "On ne quitte jamais le bâtiment par l'escalier."},
		{"es", "Salir del edificio por la escalera", "No salimos del edificio por la escalera."},
		{"it", "Lasciare l'edificio per le scale", "Non lasciamo l'edificio per le scale."},
		{"pt", "Sair do prédio pelas escadas", "Não sair do prédio pelas escadas."},
		{"nl", "Het gebouw via de trap verlaten", "Het gebouw niet via de trap verlaten."},
		{"pl", "Opuścić budynek schodami", "Nie opuścić budynku schodami."},
		{"tr", "Binadan merdivenle çıkın", "Binadan merdivenle çıkmayın."},
		{"ar", "غادر المبنى عبر الدرج", "لا تغادر المبنى عبر الدرج"},
		{"zh", "走楼梯离开大楼", "不要走楼梯离开大楼"},
		{"ja", "階段で建物を出る", "階段で建物を出ない"},
		{"sv", "Lämna byggnaden via trappan", "Lämna inte byggnaden via trappan."},
		{"ru", "Покинуть здание по лестнице", "Не покинуть здание по лестнице."},
	} {
		s := judged(c.language, c.point, c.said)
		require.True(t, s.Confidence < rubric.Least || s.Score == 0, "%q: %+v", c.said, s)
	}
}

// A point that denies is met by what denies the same.
func TestDenialsMeetWhatDenies(t *testing.T) {
	for _, said := range []string{"Do not use the lift.", "Never use the lift!", "You mustn't use the lift.", "We do not use the lift, please.", "Avoid using the lift."} {
		s := judged("en", "Don't use the lift", said)
		require.InDelta(t, 1, s.Score, 0.001, "%s: %+v", said, s)
		require.GreaterOrEqual(t, s.Confidence, rubric.Least, "%s: %+v", said, s)
	}
	s := judged("de", "Nicht den Aufzug nehmen", "Den Aufzug nehmen wir nicht.")
	require.InDelta(t, 1, s.Score, 0.001, "%+v", s)
}

// judged is an answer to a question of one point.
func judged(code, point, said string) rubric.Score {
	q := subject.Question{Key: "q", Kind: "open", Points: 1, Rubric: []subject.Criterion{{
		Key: "c", Weight: 1, Points: []subject.Point{{Text: map[string]string{code: point}}},
	}}}
	return rubric.Judge(code, q, rubric.Answer{Text: said, Kept: true}, func(w language.Words) string { return w[code] })[0]
}

// What is said in other words, or in another language, is no zero for sure.
func TestOtherWordsAreNoZeroForSure(t *testing.T) {
	for _, said := range []string{
		"Je quitte le bâtiment par l'escalier et je vais au parking.", "Wir gehen die Treppe hinunter und treffen uns auf dem Parkplatz.",
		"I'd walk down on foot, get outside quickly, and wait with my colleagues beside the cars.", "Salgo por las escaleras y voy al aparcamiento.",
		"I leave the building by the stairs. Et je vais avec les autres sur le grand parking.\nNous attendons tous les autres sur le parking.",
	} {
		s := rubric.Judge("en", alarm, rubric.Answer{Text: said, Kept: true}, in)[0]
		require.Less(t, s.Confidence, rubric.Least, "%q: %+v", said, s)
	}
	require.Zero(t, rubric.Judge("en", alarm, rubric.Answer{Text: "Je quitte le bâtiment par l'escalier.", Kept: true}, in)[0].Confidence)
	require.Zero(t, rubric.Judge("en", alarm, rubric.Answer{Text: "Stairs.", Kept: true, Foreign: true}, in)[0].Confidence)
	for _, said := range []string{"I have no idea.", "I don't know.", "Nothing.", "No clue, sorry.", "The bakery."} {
		s := rubric.Judge("en", alarm, rubric.Answer{Text: said, Kept: true}, in)[0]
		require.GreaterOrEqual(t, s.Confidence, rubric.Least, "%q: %+v", said, s)
		require.Zero(t, s.Score)
	}
}

// What one criterion wants said is no other words for what another does.
func TestWhatMeetsOneCriterionMissesAnotherForSure(t *testing.T) {
	q := alarm
	q.Rubric = nil
	for _, p := range []string{"Leave the building by the stairs", "Meet at the parking lot"} {
		q.Rubric = append(q.Rubric, subject.Criterion{Key: p[:4], Weight: 1, Points: []subject.Point{{Text: en(p)}}})
	}
	scores := rubric.Judge("en", q, rubric.Answer{Text: "I leave the building by the stairs.", Kept: true}, in)
	for i, want := range []float64{2, 0} {
		require.InDelta(t, want, scores[i].Score, 0.001)
		require.GreaterOrEqual(t, scores[i].Confidence, rubric.Least, "%+v", scores[i])
	}
}

// A criterion is as sure as the least sure of its points.
func TestOneUnsurePointLeavesTheCriterionUnsure(t *testing.T) {
	q := alarm
	q.Rubric = []subject.Criterion{{Key: "c", Weight: 1, Points: []subject.Point{
		{Text: en("Leave the building by the stairs")}, {Text: en("Meet at the parking lot")}, {Text: en("Close the windows")},
	}}}
	s := rubric.Judge("en", q, rubric.Answer{Text: "Leave the building by the stairs. Meet at the parking lot. Don't close the windows without asking.", Kept: true}, in)[0]
	require.Less(t, s.Confidence, rubric.Least, "%+v", s)
}

func TestFiguresDecide(t *testing.T) {
	q := subject.Question{Key: "boil", Kind: "open", Points: 1, Rubric: []subject.Criterion{{
		Key: "degrees", Weight: 1, Points: []subject.Point{{Text: en("Water boils at 100 degrees")}},
	}}}
	for said, want := range map[string]float64{"Water boils at 100 degrees.": 1, "Water boils at 80 degrees.": 0} {
		s := rubric.Judge("en", q, rubric.Answer{Text: said, Kept: true}, in)[0]
		require.InDelta(t, want, s.Score, 0.001, "%+v", s)
		require.GreaterOrEqual(t, s.Confidence, rubric.Least, "%+v", s)
	}
}

func TestChoices(t *testing.T) {
	q := subject.Question{Key: "knot", Kind: "choice", Points: 2, Text: en("Which?"), Options: []subject.Option{
		{Key: "bowline", Text: en("The bowline"), Correct: true}, {Key: "hitch", Text: en("The half hitch")},
	}}
	for said, want := range map[string]struct {
		score float64
		sure  bool
	}{
		"The bowline": {2, true}, "I think it is the bowline.": {2, true}, "bowline": {2, true}, "The half hitch": {0, true},
		"The bowline or the half hitch": {0, false}, "The blue one": {0, false}, "": {0, true},
	} {
		s := rubric.Judge("en", q, rubric.Answer{Text: said, Kept: true}, in)[0]
		require.InDelta(t, want.score, s.Score, 0.001, said)
		require.Equal(t, want.sure, s.Confidence >= rubric.Least, "%s: %+v", said, s)
	}
}

// Words that deny an option, or that may mean another, are no choice for sure.
func TestChoicesThatMayBeOthers(t *testing.T) {
	options := func(right string, others ...string) subject.Question {
		q := subject.Question{Key: "q", Kind: "choice", Points: 2, Text: en("Which?"), Options: []subject.Option{{Text: en(right), Correct: true}}}
		for _, o := range others {
			q.Options = append(q.Options, subject.Option{Text: en(o)})
		}
		return q
	}
	knots := options("The bowline", "The half hitch")
	for name, c := range map[string]struct {
		q    subject.Question
		said string
		sure bool
	}{
		"denied":                  {knots, "Definitely not the bowline", false},
		"denied by a contraction": {knots, "It isn't the bowline", false},
		"anything but":            {knots, "Anything but the bowline", false},
		"the wrong one denied":    {knots, "Not the half hitch", false},
		"a word of every text":    {knots, "The", false},
		"a place in the row":      {options("The first aid kit", "The hose"), "the first", false},
		"a part of it":            {options("The first aid kit", "The hose"), "aid kit", true},
		"a part of two":           {options("Open the red valve", "Close the red valve"), "the red valve", false},
		"a letter in other words": {options("A", "B"), "I need a moment", false},
		"a letter":                {options("A", "B"), "A", true},
		"a number among others":   {options("12", "20"), "12 or 15", false},
		"an option that denies":   {options("Do not touch it", "Pull it"), "I do not touch it", true},
		"that very option":        {options("Do not touch it", "Pull it"), "Do not touch it.", true},
		"that option, in more":    {options("Not allowed", "Permitted"), "I think it is not allowed.", true},
		"in another language":     {knots, "Ce n'est pas the bowline mais un autre nœud je crois", false},
		"by its words":            {knots, "That must be the bowline, I am sure.", true},
	} {
		s := rubric.Judge("en", c.q, rubric.Answer{Text: c.said, Kept: true}, in)[0]
		require.Equal(t, c.sure, s.Confidence >= rubric.Least, "%s: %+v", name, s)
		if c.sure {
			require.InDelta(t, 2, s.Score, 0.001, name)
		}
	}
}

// What nobody can know is left to a person.
func TestWhatCannotBeJudged(t *testing.T) {
	plain := subject.Question{Key: "why", Kind: "open", Text: en("Why?"), Points: 1}
	require.Zero(t, rubric.Judge("en", plain, rubric.Answer{Text: "Because.", Kept: true}, in)[0].Confidence)
	require.Zero(t, rubric.Judge("en", alarm, rubric.Answer{}, in)[0].Confidence, "what was not kept")
	require.Zero(t, rubric.Judge("en", alarm, rubric.Answer{Kept: true, Unasked: true}, in)[0].Confidence, "what was not asked")
	require.NotZero(t, rubric.Judge("en", alarm, rubric.Answer{Text: "Leave the building by the stairs", Kept: true, Unasked: true}, in)[0].Confidence)
	require.Empty(t, rubric.Judge("en", subject.Question{Key: "r", Kind: "rating", Points: 1}, rubric.Answer{Text: "5", Kept: true}, in))
}

// Whatever is said, and however criteria weigh, a score lies between nothing and all there is;
// who says all has all, and the criteria have the points of the question.
func TestScoresAreBounded(t *testing.T) {
	points := alarm.Rubric[0].Points
	rapid.Check(t, func(t *rapid.T) {
		q := alarm
		q.Points, q.Rubric = float64(rapid.IntRange(1, 100000).Draw(t, "points")), nil
		for i, weight := range rapid.SliceOfN(rapid.Float64Range(0.1, 10), 1, 7).Draw(t, "weights") {
			q.Rubric = append(q.Rubric, subject.Criterion{Key: string(rune('a' + i)), Weight: weight, Points: points[:1]})
		}
		said := rapid.OneOf(rapid.String(), rapid.Just("Leave the building by the stairs")).Draw(t, "said")
		var most float64
		for _, s := range rubric.Judge("en", q, rubric.Answer{Text: said, Kept: true}, in) {
			most += s.Max
			require.GreaterOrEqual(t, s.Score, 0.0)
			require.LessOrEqual(t, s.Score, s.Max)
			require.GreaterOrEqual(t, s.Confidence, 0.0)
			require.LessOrEqual(t, s.Confidence, 1.0)
			require.InDelta(t, math.Round(s.Max*1e4)/1e4, s.Max, 0, "a maximum has four digits, as a score has")
			if said == "Leave the building by the stairs" {
				require.InDelta(t, s.Max, s.Score, 0)
			}
		}
		require.InDelta(t, q.Points, most, 1e-6)
	})
}

// Who says all there is to say is asked for no more, however the points are parted.
func TestAFullAnswerIsNotThin(t *testing.T) {
	q := alarm
	q.Points, q.FollowUps, q.Rubric = 10, 2, nil
	for _, p := range []string{"Leave the building by the stairs", "Meet at the parking lot", "Close the windows"} {
		q.Rubric = append(q.Rubric, subject.Criterion{Key: p[:4], Weight: 1, Points: []subject.Point{{Text: en(p)}}})
	}
	e := rubric.Examiner{Language: "en", Questions: map[string]subject.Question{"alarm": q}, In: in}
	_, more := e.Heard("alarm", "Leave the building by the stairs. Meet at the parking lot. Close the windows.", 0)
	require.False(t, more)
	_, more = e.Heard("alarm", "Leave the building by the stairs. Meet at the parking lot.", 0)
	require.True(t, more)
}

// What the clock says of an answer: a time that ran out in silence is told, and what is doubtful is never sure.
func TestAnswersInATime(t *testing.T) {
	limit := session.Clock{LimitS: 30}
	with := func(came session.Came, doubts ...session.Doubt) session.Clock {
		k := limit
		k.Came, k.Doubts = came, doubts
		return k
	}
	const full = "You leave the building by the stairs. Then everybody meets at the parking lot."
	for name, c := range map[string]struct {
		clock   session.Clock
		said    string
		unasked bool
		sure    bool
		score   *float64
		tells   string
	}{
		"in time":                        {with(session.InTime), full, false, true, new(4.0), ""},
		"the time ran out over it":       {with(session.RanOut), full, false, true, new(4.0), "ran out over the answer"},
		"no answer":                      {with(session.NoAnswer), "", false, true, new(0.0), "The time ran out, and no answer was given."},
		"no answer, of a question read":  {with(session.NoAnswer), "", true, true, new(0.0), "The time ran out, and no answer was given."},
		"no answer was understood":       {with(session.NoAnswer, session.NotUnderstood), "", false, false, nil, "not understood"},
		"late words":                     {with(session.RanOut, session.LateWords), "I have no idea.", false, false, new(0.0), "after a time"},
		"late words of a full answer":    {with(session.RanOut, session.LateWords), full, false, false, new(4.0), "after a time"},
		"not asked":                      {with(session.NeverPut), "", false, false, nil, "The time was up before"},
		"left, after somebody took over": {with("", session.ByStaff), "", false, false, nil, "team member"},
		"nobody kept the time":           {limit, full, false, false, new(4.0), "not known"},
		"left before an answer":          {limit, "", false, true, new(0.0), "No answer was given."},
	} {
		t.Run(name, func(t *testing.T) {
			a := rubric.Answer{Text: c.said, Kept: true, Unasked: c.unasked}
			clocks := &session.Clocks{Questions: map[string]session.Clock{"alarm": c.clock}}
			scores, _ := rubric.Timed(rubric.Judge("en", alarm, a, in), a, clocks, "alarm")
			require.Equal(t, !c.sure && c.clock.Came != session.NeverPut, rubric.Doubtful(a, clocks, "alarm"))
			for _, s := range scores {
				require.Equal(t, c.sure, s.Confidence >= rubric.Least, "%+v", s)
				require.Equal(t, c.score == nil, s.Confidence == 0, "%+v", s)
				if c.score != nil {
					require.InDelta(t, *c.score, s.Score, 0.001)
				}
				require.Contains(t, strings.ToLower(s.Rationale), strings.ToLower(c.tells))
			}
		})
	}
	a := rubric.Answer{Text: full, Kept: true}
	before := rubric.Judge("en", alarm, a, in)
	after, came := rubric.Timed(rubric.Judge("en", alarm, a, in), a, nil, "alarm")
	require.Equal(t, before, after, "of a session that nothing is known of")
	require.Empty(t, came)
}
