// Package demographics is what candidates say of themselves of their own free will, so that it can
// be known whether a role selects people of one sex or race more rarely than others (spec, Hiring).
//
// Nobody reads one person's answer. It lies under a keyed hash of the candidate's id and sealed,
// the keys in the hands of the process alone, until the candidate was decided on; then it is
// counted together with those of others, as a cohort, and deleted. What is kept of a cohort are
// counts, none of which, nor any sum or difference of them, is about fewer than five people who
// were selected or five who were not, and from which it is not known of all who were selected, or of
// all who were not, that they are of one category (see tell).
package demographics

import (
	"slices"

	"visavis.dev/pkg/base/errdefs"
)

// Sex is what a candidate says of their sex, in the categories of an EEO-1 report.
type Sex string

// The sexes.
const (
	Female Sex = "female"
	Male   Sex = "male"
	// UnknownSex is of who does not say.
	UnknownSex Sex = "unknown"
)

// Sexes lists every category, unknown last.
func Sexes() []Sex { return []Sex{Female, Male, UnknownSex} }

// Race is what a candidate says of their race or ethnicity, in the categories of an EEO-1 report.
type Race string

// The races and ethnicities. All but Hispanic are of who is not Hispanic or Latino.
const (
	Hispanic Race = "hispanic_or_latino"
	White    Race = "white"
	Black    Race = "black_or_african_american"
	Islander Race = "native_hawaiian_or_pacific_islander"
	Asian    Race = "asian"
	Native   Race = "american_indian_or_alaska_native"
	Several  Race = "two_or_more_races"
	// UnknownRace is of who does not say.
	UnknownRace Race = "unknown"
)

// Races lists every category, unknown last.
func Races() []Race {
	return []Race{Hispanic, White, Black, Islander, Asian, Native, Several, UnknownRace}
}

// Answer is what a candidate says of themselves.
type Answer struct {
	Sex  Sex
	Race Race
}

// unknown is the answer of who says nothing.
var unknown = Answer{UnknownSex, UnknownRace}

// Check refuses what is no category. The error is an errdefs.Invalid.
func (a Answer) Check() error {
	switch {
	case !slices.Contains(Sexes(), a.Sex):
		return errdefs.InvalidField("sex", "is none of the categories")
	case !slices.Contains(Races(), a.Race):
		return errdefs.InvalidField("race", "is none of the categories")
	}
	return nil
}

// person is a candidate who is counted.
type person struct {
	Answer
	// selected says that people decided to go on with them.
	selected bool
}

// few is the smallest number of people that a figure is about: as many who were selected and as
// many who were not, or none.
const few = 5

// Count is how many people there were, and how many of them were selected.
type Count struct {
	Applicants int64 `json:"applicants"`
	Selected   int64 `json:"selected"`
}

func (c Count) plus(o Count) Count {
	return Count{c.Applicants + o.Applicants, c.Selected + o.Selected}
}

// rejected is how many were not selected.
func (c Count) rejected() int64 { return c.Applicants - c.Selected }

// ok says whether a count is about no small number of people.
func (c Count) ok() bool {
	return (c.Selected == 0 || c.Selected >= few) && (c.rejected() == 0 || c.rejected() >= few)
}

// Told is a category of a cohort that can be told; Sex or Race is empty for any.
type Told struct {
	Sex  Sex  `json:"sex,omitempty"`
	Race Race `json:"race,omitempty"`
	Count
}

// Counts are what is kept of a cohort.
type Counts struct {
	Count
	Told []Told `json:"told"`
}
