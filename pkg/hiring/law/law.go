// Package law knows what laws ask of an interview that a program holds and scores: what
// candidates are told and how long before, what they agree to, and how long what is kept. It
// makes these things provable; whether they are enough is for counsel to say.
package law

import (
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Key names a law.
type Key string

// The laws.
const (
	// NYC144 is New York City's Local Law 144.
	NYC144 Key = "nyc_ll144"
	// ILVideo is Illinois' Artificial Intelligence Video Interview Act, and ILHumanRights its
	// Human Rights Act as House Bill 3773 amended it.
	ILVideo       Key = "il_aivia"
	ILHumanRights Key = "il_hra"
	// Colorado is Senate Bill 26-189, in force from 2027.
	Colorado Key = "co_sb26_189"
	// California are the Civil Rights Council's rules on automated decisions.
	California Key = "ca_crc"
	// EUAct is the European Union's AI Act.
	EUAct Key = "eu_ai_act"
)

// Keys lists every law, in alphabetical order.
func Keys() []Key {
	return []Key{California, Colorado, EUAct, ILVideo, ILHumanRights, NYC144}
}

// Law is what one law asks.
type Law struct {
	Key Key
	// Jurisdiction is where it holds, such as us_nyc.
	Jurisdiction string
	// LeadDays are business days between the notice and the interview.
	LeadDays int64
	// Audit says that a bias audit of the last twelve months must be public.
	Audit bool
	// EraseDays is within how many days an interview is deleted that the candidate asks to
	// have deleted; zero for no bound of its own.
	EraseDays int64
	// KeepDays is how long the record of a decision is kept at least.
	KeepDays int64
	// ExplainDays is within how many days somebody who was rejected is told why.
	ExplainDays int64
}

// days of a year, and of California's four.
const fourYears = 4*365 + 1

var laws = map[Key]Law{
	NYC144:        {Key: NYC144, Jurisdiction: "us_nyc", LeadDays: 10, Audit: true},
	ILVideo:       {Key: ILVideo, Jurisdiction: "us_il", EraseDays: 30},
	ILHumanRights: {Key: ILHumanRights, Jurisdiction: "us_il"},
	Colorado:      {Key: Colorado, Jurisdiction: "us_co", ExplainDays: 30},
	California:    {Key: California, Jurisdiction: "us_ca", KeepDays: fourYears},
	EUAct:         {Key: EUAct, Jurisdiction: "eu"},
}

// Of finds a law.
func Of(k Key) (Law, bool) {
	l, ok := laws[k]
	return l, ok
}

// Place is where somebody is to work, or works from.
type Place struct {
	City    string `json:"city" maxLength:"120" doc:"Where the work is, such as New York."`
	Region  string `json:"region" maxLength:"80" doc:"The state or province; of the United States by its two letters or its name."`
	Country string `json:"country" pattern:"^([A-Z]{2})?$" doc:"The country by its two letters, such as US; a role needs it to open."`
	Remote  bool   `json:"remote" doc:"Whether the work is done from elsewhere: a candidate's own location says which laws hold for them beside these."`
	// Timezone is an IANA name.
	Timezone string `json:"timezone" maxLength:"60" doc:"The time zone by whose days notice is counted, as the IANA names it; UTC where it is empty."`
	// OutsideNYC settles what the name of a place in New York State leaves open.
	OutsideNYC bool `json:"outsideNewYorkCity" doc:"Whether a place in New York State lies outside of New York City; to be said where city does not tell."`
}

// IsCountry says whether two letters are those of a country in ISO 3166: no law is known of a place that is none, such as
// UK or EL, and it must not look as if none held there.
func IsCountry(letters string) bool {
	r, err := language.ParseRegion(letters)
	return err == nil && r.IsCountry() && r.Canonicalize().String() == letters
}

// union are the member states of the European Union.
const union = " AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "

// newYork are names of the city, of its boroughs and of their counties.
var newYork = []string{
	"new york", "new york city", "city of new york", "nyc", "manhattan", "brooklyn", "queens", "bronx", "staten island", "new york county", "kings county",
	"queens county", "bronx county", "richmond county", "long island city", "flushing", "jamaica", "astoria",
}

// elsewhere are larger places in New York State outside of the city.
var elsewhere = []string{
	"albany", "binghamton", "buffalo", "hempstead", "ithaca", "mount vernon", "new rochelle", "niagara falls", "poughkeepsie", "rochester",
	"saratoga springs", "schenectady", "syracuse", "troy", "utica", "white plains", "yonkers",
}

func (p Place) region() string {
	return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(p.Region)), "us-")
}

func (p Place) city() string {
	city, _, _ := strings.Cut(strings.ToLower(p.City), ",")
	return strings.TrimPrefix(strings.TrimSpace(city), "the ")
}

// inNewYork says whether a place is in New York State.
func (p Place) inNewYork() bool {
	return p.Country == "US" && slices.Contains([]string{"ny", "new york"}, p.region())
}

// Unclear names the fields of a place, as the API has them, that must be said before it is known
// which laws hold there; none where it is.
func Unclear(p Place) []string {
	switch {
	case p.Country == "":
		return []string{"country"}
	case p.Country == "US" && p.region() == "":
		return []string{"region"}
	case p.inNewYork() && !p.OutsideNYC && !slices.Contains(newYork, p.city()) && !slices.Contains(elsewhere, p.city()):
		return []string{"city"}
	}
	return nil
}

// At are the laws of a place, in alphabetical order.
func At(p Place) []Key {
	region, city := p.region(), p.city()
	switch {
	case p.Country != "" && strings.Contains(union, " "+p.Country+" "):
		return []Key{EUAct}
	case p.Country != "US":
		return []Key{}
	case p.inNewYork() && slices.Contains(newYork, city):
		return []Key{NYC144}
	case slices.Contains([]string{"il", "illinois"}, region):
		return []Key{ILVideo, ILHumanRights}
	case slices.Contains([]string{"co", "colorado"}, region):
		return []Key{Colorado}
	case slices.Contains([]string{"ca", "california"}, region):
		return []Key{California}
	}
	return []Key{}
}

// Together are the laws of a place and others that are named, each once, in alphabetical order.
func Together(p Place, named []Key) []Key {
	all := append(At(p), named...)
	slices.Sort(all)
	return slices.Compact(all)
}

// LeadDays are the most business days that any of the laws asks for.
func LeadDays(all []Key) (days int64) {
	for _, k := range all {
		days = max(days, laws[k].LeadDays)
	}
	return days
}

// KeepDays is how long records are kept at least by any of the laws.
func KeepDays(all []Key) (days int64) {
	for _, k := range all {
		days = max(days, laws[k].KeepDays)
	}
	return days
}

// EraseDays is within how many days an interview is deleted by the strictest of the laws; zero for
// no bound of theirs.
func EraseDays(all []Key) int64 { return strictest(all, func(l Law) int64 { return l.EraseDays }) }

// ExplainDays is within how many days a rejection is explained, likewise.
func ExplainDays(all []Key) int64 { return strictest(all, func(l Law) int64 { return l.ExplainDays }) }

func strictest(all []Key, of func(Law) int64) (days int64) {
	for _, k := range all {
		if bound := of(laws[k]); bound > 0 && (days == 0 || bound < days) {
			days = bound
		}
	}
	return days
}

// Audit says whether any of the laws asks for a bias audit.
func Audit(all []Key) bool {
	return slices.ContainsFunc(all, func(k Key) bool { return laws[k].Audit })
}

// Jurisdictions are where the laws hold, each once.
func Jurisdictions(all []Key) []string {
	found := []string{}
	for _, k := range all {
		if at := laws[k].Jurisdiction; !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	return found
}
