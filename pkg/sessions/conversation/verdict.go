package conversation

import (
	"cmp"

	"visavis.dev/pkg/text/answer"
)

// leastBeside is the share of what is asked besides the day that a sentence holds, with what stands
// around it, from which is concluded.
const leastBeside = 0.4

// leastOwn is the share of a question that a sentence holds from which is concluded.
const leastOwn = 0.4

// verdict is whether what is asked is so, by the sentence that answers.
func (i *inquiry) verdict(c *candidate) answer.Verdict {
	if v := i.excepted(c); v != answer.Unclear {
		return v
	}
	switch {
	case i.age >= 0 && c.age != answer.Unclear && (i.decides() || i.kind == answer.Anything) && c.cover >= leastOwn:
		return answer.Negated(c.held.language, cmp.Or(c.aged, c.text), c.age)
	case !i.decides() || c.own < leastOwn:
		return answer.Unclear
	case i.onDay && c.beside < leastBeside:
		return answer.Unclear // it says something of that day, and of another matter
	case i.onDay && c.days == answer.Unclear && c.told:
		return answer.Fails // it names its days, and this is none of them
	case i.onDay && c.days == answer.Holds && i.ofHoliday() && c.schedule.Dated(i.day) == answer.Undated && !answer.OfHolidays(&c.held.evidence):
		return answer.Unclear // a rule for every week need not hold on a holiday
	case i.onDay:
		return c.days
	}
	return answer.Unclear
}

// decides says whether the question is to be answered by yes or no. One that asks for no
// kind of answer and names a day or an age wants to know whether it is so.
func (i *inquiry) decides() bool {
	return i.kind == answer.YesNo || i.kind == answer.May || i.kind == answer.Anything && (i.onDay && i.Previous == "" || i.age >= 0)
}
