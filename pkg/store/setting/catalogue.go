package setting

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// EU is the region whose law has people told that they talk with an AI.
const EU = "eu"

// Definition is what a setting is, wherever it is set.
type Definition struct {
	Key   Key
	Label string
	Group Group
	Type  Type
	// Default holds where nothing is set.
	Default Value
	// Min and Max bound an Integer.
	Min, Max int64
	// At are the kinds of scopes where it can be set.
	At []ScopeKind
	// Feature is what the plan must include for it to be set; empty for nothing.
	Feature string
	// RequiresOwner settings are changed by keys that an owner trusts with keys
	// (the scope keys:manage): they give up words, or spend money.
	RequiresOwner bool
	// Fixed are the regions whose law fixes the value, and to what.
	Fixed map[string]Value
}

var (
	everywhere   = []ScopeKind{OfOrganization, OfPortal, OfUnit}
	organization = []ScopeKind{OfOrganization}
)

// catalogue is every setting, in alphabetical order.
var catalogue = []Definition{
	{
		Key: Agents, Label: "AI assistants may ask portals what their visitors may ask without a sign-in or an age check", Group: Portals, Type: Boolean,
		Default: false, At: organization,
	},
	{
		Key: Hiring, Label: "Candidates may be invited and interviewed", Group: OfHiring, Type: Boolean,
		Default: true, At: organization, Feature: "hiring",
	},
	{
		Key: HiringNoticeDays, Label: "Fewest business days between what candidates are told and their interview", Group: OfHiring, Type: Integer,
		Default: int64(0), Max: 90, At: organization,
	},
	{
		Key: HiringRetentionDays, Label: "How long candidates of roles are kept that say nothing of it, in days", Group: OfHiring, Type: Integer,
		Default: int64(365), Min: 1, Max: 3650, At: organization,
	},
	{
		Key: YoungLearners, Label: "Everybody who comes through a portal is taken for a minor", Group: Learning, Type: Boolean,
		Default: false, At: everywhere, RequiresOwner: true,
	},
	{
		Key: Memory, Label: "Personas may remember people between sessions", Group: Privacy, Type: Boolean,
		Default: true, At: everywhere,
	},
	{
		Key: AINotice, Label: "Every widget tells its visitors that they talk with an AI, whatever it says itself", Group: Privacy, Type: Boolean,
		Default: false, At: organization, Fixed: map[string]Value{EU: true},
	},
	{
		Key: Recordings, Label: "Sessions may be recorded, where their users agree", Group: Privacy, Type: Boolean,
		Default: false, At: everywhere, RequiresOwner: true,
	},
	{
		Key: RecordingsRequired, Label: "Sessions that are to be recorded end where their users do not agree", Group: Privacy, Type: Boolean,
		Default: false, At: everywhere, RequiresOwner: true,
	},
	{
		Key: RetentionDays, Label: "Longest time that words of sessions are kept, in days", Group: Privacy, Type: Integer,
		Max: 3650, At: everywhere,
	},
	{
		Key: ZeroRetention, Label: "No words of any conversation are kept", Group: Privacy, Type: Boolean,
		Default: false, At: organization, Feature: "zero_data_retention", RequiresOwner: true,
	},
	{
		Key: IdleTimeoutS, Label: "Silence that ends a session which says nothing of it, in seconds", Group: Sessions, Type: Integer,
		Default: int64(300), Min: 15, Max: 1800, At: everywhere,
	},
	{
		Key: MaxConcurrent, Label: "Most sessions at one time", Group: Sessions, Type: Integer,
		Min: 1, Max: 100_000, At: organization,
	},
	{
		Key: MaxDurationS, Label: "Longest session, in seconds", Group: Sessions, Type: Integer,
		Default: int64(7200), Min: 30, Max: 7200, At: everywhere,
	},
	{
		Key: MonthlyCapMinutes, Label: "Most minutes of a calendar month", Group: Sessions, Type: Integer,
		Max: 100_000_000, At: organization, RequiresOwner: true,
	},
	{
		Key: WebRTC, Label: "Conversations on pages of portals go over WebRTC, where that connects", Group: Sessions, Type: Boolean,
		Default: false, At: organization,
	},
	{
		Key: Widgets, Label: "Pages may show widgets", Group: Showing, Type: Boolean,
		Default: true, At: organization, Feature: "widgets",
	},
}

// Catalogue lists every setting, by group.
func Catalogue() []Definition { return slices.Clone(catalogue) }

// Find finds a setting.
func Find(k Key) (Definition, bool) {
	i := slices.IndexFunc(catalogue, func(d Definition) bool { return d.Key == k })
	if i < 0 {
		return Definition{}, false
	}
	return catalogue[i], true
}

// ValueError says what is wrong with a value.
type ValueError struct{ Want string }

func (e *ValueError) Error() string { return "the value must be " + e.Want }

// Parse reads a value that somebody gives. The error is a ValueError.
func (d Definition) Parse(text json.RawMessage) (Value, error) {
	if d.Type == Boolean {
		switch string(text) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, &ValueError{"true or false"}
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < d.Min || n > d.Max {
		return nil, &ValueError{fmt.Sprintf("a whole number from %d to %d", d.Min, d.Max)}
	}
	return n, nil
}

// stored reads a value that was kept, which may be outside of bounds that were
// drawn later.
func (d Definition) stored(text json.RawMessage) (v Value, err error) {
	if d.Type == Boolean {
		var on bool
		err = json.Unmarshal(text, &on)
		return on, err
	}
	var n int64
	err = json.Unmarshal(text, &n)
	return n, err
}
