package crm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/card"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/sessions/inbox"
)

// usual are the properties that fields are written to unless the config says otherwise.
var usual = map[string]string{
	"firstName": "firstname", "lastName": "lastname", "phone": "phone", "company": "company", "jobTitle": "jobtitle",
}

// mapping is which fields of an item are which properties there, and which values of those there are which of the item's.
type mapping struct {
	properties map[string]string
	values     map[string]map[string][]string
	takesBack  bool
	owners     owners
}

// assignee is the field of whoever deals with an item, who is the contact's owner there.
const assignee = "assignee"

// owners are those of the account who are of the team, by their mail addresses.
type owners struct {
	// ids are theirs there, by who they are, and people who they are by those.
	ids    map[id.Person]string
	people map[string]id.Person
}

func ownersOf(mails map[string]string, team map[string]id.Person) owners {
	o := owners{map[id.Person]string{}, map[string]id.Person{}}
	for _, owner := range slices.Sorted(maps.Keys(mails)) {
		who, there := team[mails[owner]]
		if !there {
			continue
		}
		if o.people[owner] = who; o.ids[who] == "" {
			o.ids[who] = owner
		}
	}
	return o
}

func mappingOf(c connection.Config) mapping {
	m := mapping{properties: usual, values: map[string]map[string][]string{}, takesBack: c.TakesBack()}
	if given, ok := c["properties"].(map[string]any); ok {
		m.properties = map[string]string{}
		for field, property := range given {
			m.properties[field], _ = property.(string)
		}
	}
	given, _ := c["values"].(map[string]any)
	for field, of := range given {
		m.values[field] = map[string][]string{}
		values, _ := of.(map[string]any)
		for value := range values {
			m.values[field][value] = connection.Config(values).Texts(value)
		}
	}
	return m
}

// names are the properties that are read and written, in order.
func (m *mapping) names() []string { return slices.Sorted(maps.Values(m.properties)) }

// ours are what an item says, by the properties; empty for what is not known, which leaves what is there as it is. What
// visitors said of the matter is nowhere.
func (m *mapping) ours(i *inbox.Item) map[string]string {
	all, values := map[string]string{}, fields(i)
	values[assignee] = m.owners.ids[i.Assignee]
	for field, property := range m.properties {
		value := values[field]
		if of, mapped := m.values[field]; mapped {
			value = "" // a value that nothing is said of has no equal there
			if theirs := of[values[field]]; len(theirs) > 0 {
				value = theirs[0]
			}
		}
		all[property] = value
	}
	return all
}

// meant is the item's value that one there stands for; empty for none.
func (m *mapping) meant(field, theirs string) string {
	of, mapped := m.values[field]
	if !mapped {
		return theirs
	}
	for _, value := range slices.Sorted(maps.Keys(of)) {
		if slices.Contains(of[value], theirs) {
			return value
		}
	}
	return ""
}

// fields are an item's by the names that a config has for them.
func fields(i *inbox.Item) map[string]string {
	first, last, _ := strings.Cut(strings.TrimSpace(text(i.Contact.Name)), " ")
	values := map[string]string{
		"firstName": first, "lastName": strings.TrimSpace(last), "name": strings.TrimSpace(text(i.Contact.Name)), "phone": text(i.Contact.Phone),
		"company": text(i.Contact.Company), "jobTitle": text(i.Contact.JobTitle), "kind": string(i.Kind), "state": string(i.State),
		"language": i.Language, "itemId": i.ID.String(), "externalId": text(i.ExternalID), "sourceUrl": text(i.Source.URL),
	}
	if i.Band != nil {
		values["leadBand"] = string(*i.Band)
	}
	if c := i.Source.Campaign; c != nil {
		values["campaign"] = text(c.Name)
	}
	return values
}

func text(t *string) string {
	if t == nil {
		return ""
	}
	return *t
}

// The groups of fields that are decided together: half a name is none.
var groups = [][]string{
	{"firstName", "lastName", "name"}, {"phone"}, {"company"}, {"jobTitle"}, {"state"}, {"leadBand"}, {assignee},
	{"kind"}, {"language"}, {"itemId"}, {"externalId"}, {"sourceUrl"}, {"campaign"},
}

// details are the groups in which the system's people win where both sides changed: they talk to the visitor. In others the
// inbox does.
var details = []string{"firstName", "phone", "company", "jobTitle"}

// address is the name by which a link has the digest of the item's address.
const address = connection.Address

// addressed is the digest of an item's address alone, as a link has it of which nothing else is known.
func addressed(of id.InboxItem, to string) map[string]string {
	return map[string]string{address: digest(of, address, to)}
}

// digests tell what is compared from anything else, for one item alone.
func digests(of *inbox.Item, values map[string]string) map[string]string {
	all := map[string]string{}
	for name, value := range values {
		all[name] = digest(of.ID, name, value)
	}
	return all
}

func digest(of id.InboxItem, name, value string) string {
	sum := sha256.Sum256([]byte(of.String() + "/" + name + "/" + value))
	return hex.EncodeToString(sum[:16])
}

// changes are what each side is to be given of the other.
type changes struct {
	write map[string]string
	take  inbox.Returned
	// turns are how often there went back to what was written over, by the properties where it did now, and contested says that something did so too often: it
	// is left as both sides have it.
	turns     map[string]string
	contested bool
}

// mostTurns is how often what was written over may come back and be taken until it is left alone, each time within turnsFor of the one before: something
// there changes it, as something elsewhere does what comes of it. People take longer.
const (
	mostTurns = 2
	turnsFor  = time.Hour
)

// The names by which a link has, of a property, the digests of what was written last and of what that was written over, and how often the latter came back
// until when.
const (
	wroteKey = "/wrote"
	overKey  = "/over"
	turnsKey = "/turns"
)

// compare says what each side is to be given, by what both last agreed on, if that is known: what one of them changed since goes to the other.
// Where nothing is known the item is written if it is news.
func (m *mapping) compare(i *inbox.Item, there hubspot.Contact, base *connection.Link, news bool, now time.Time) (c changes) {
	c.write, c.turns = map[string]string{}, map[string]string{}
	ours := m.ours(i)
	s := sides{mapping: m, ours: ours, theirs: there.Properties, ourDigests: digests(i, ours), theirDigests: digests(i, m.theirs(there)), news: news, now: now}
	if base != nil {
		s.known = *base
	}
	for _, group := range groups {
		weChanged, theyChanged, differ := s.of(group)
		// Half of another's name is none; anything else that an item does not have leaves what is there.
		first := m.properties["firstName"]
		half := group[0] == "firstName" && text(i.Contact.Name) != "" && (s.known.Ours != nil || ours[first] != there.Properties[first])
		writes := s.writes(group, half)
		weChanged = weChanged && len(writes) > 0 // nobody wins who has nothing to write, as where the owner left
		back, again := s.back(group)
		switch theirsWin := slices.Contains(details, group[0]); {
		case !differ:
		case back > mostTurns && !weChanged:
			c.contested = true
			s.turned(group, back, again, c.turns)
		case theyChanged && m.takesBack && (!weChanged || theirsWin):
			m.take(&c.take, i, there, group)
			s.turned(group, back, again, c.turns)
		case weChanged:
			maps.Copy(c.write, writes)
		}
	}
	return c
}

// sides are an item and a contact that are compared, and how they were last.
type sides struct {
	*mapping
	ours, theirs             map[string]string
	ourDigests, theirDigests map[string]string
	known                    connection.Link
	news                     bool
	now                      time.Time
}

// of says which side changed a group, and whether they differ in it.
func (s *sides) of(group []string) (weChanged, theyChanged, differ bool) {
	for _, field := range group {
		property, mapped := s.properties[field]
		if !mapped {
			continue
		}
		was, compared := s.known.Ours[property]
		// Who owns a contact since before owners were compared goes on with it.
		owned := field == assignee && len(s.known.Theirs) > 0 && s.theirs[property] != ""
		weChanged = weChanged || compared && was != s.ourDigests[property] || !compared && !owned && (s.news || s.known.Ours != nil)
		was, compared = s.known.Theirs[property]
		theyChanged = theyChanged || compared && was != s.theirDigests[property]
		differ = differ || !s.equal(field, s.ours[property], s.theirs[property])
	}
	return weChanged, theyChanged, differ
}

// back is how often what is there of a group came back after it was written over, and whether it did since that was last compared; 0 where it is something else.
func (s *sides) back(group []string) (n int, again bool) {
	for _, field := range group {
		property, mapped := s.properties[field]
		was, known := s.known.Theirs[property+overKey]
		if !mapped || !known || was != s.theirDigests[property] {
			continue
		}
		times, at, _ := strings.Cut(s.known.Theirs[property+turnsKey], "@")
		before, _ := strconv.Atoi(times)
		if s.known.Theirs[property] != s.theirDigests[property] {
			if last, _ := strconv.ParseInt(at, 10, 64); s.now.Sub(time.Unix(last, 0)) > turnsFor {
				before = 0
			}
			before, again = before+1, true
		}
		n = max(n, before)
	}
	return n, again
}

// turned notes how often what is there of a group came back until now, if it did.
func (s *sides) turned(group []string, n int, again bool, all map[string]string) {
	for _, field := range group {
		if property, mapped := s.properties[field]; mapped && again {
			all[property] = fmt.Sprintf("%d@%d", n, s.now.Unix())
		}
	}
}

// writes is what of a group is to be written; empty says that what the item does not have is removed.
func (s *sides) writes(group []string, empty bool) map[string]string {
	all := map[string]string{}
	for _, field := range group {
		property, mapped := s.properties[field]
		if ours := s.ours[property]; mapped && (ours != "" || empty) && ours != s.theirs[property] {
			all[property] = ours
		}
	}
	return all
}

// theirs are what is there, by all properties that are compared.
func (m *mapping) theirs(there hubspot.Contact) map[string]string {
	all := map[string]string{}
	for _, property := range m.properties {
		all[property] = there.Properties[property]
	}
	return all
}

// spelling are the signs by which one number is written in several ways, and national what stands in an international one for calls from within.
var (
	spelling = regexp.MustCompile(`[^0-9+x]`)
	national = regexp.MustCompile(`^(\s*(?:\+|00).*?)\(\s*0\s*\)`)
)

// normal is a value without what is a matter of spelling: a system that writes it in a way of its own did not change it. Two of them would otherwise change it to
// and fro.
func normal(field, value string) string {
	if field != "phone" || !inbox.IsPhone(value) {
		return strings.Join(strings.Fields(value), " ")
	}
	number := spelling.ReplaceAllString(strings.ReplaceAll(strings.ToLower(national.ReplaceAllString(value, "$1")), "#", "x"), "")
	if abroad, ok := strings.CutPrefix(number, "00"); ok {
		return "+" + abroad
	}
	return number
}

// equal says whether a value there is the item's.
func (m *mapping) equal(field, ours, theirs string) bool {
	if ours == theirs || normal(field, ours) == normal(field, theirs) {
		return true
	}
	if who, known := m.owners.people[ours]; field == assignee && known {
		return m.owners.people[theirs] == who
	}
	of, mapped := m.values[field]
	return mapped && ours != "" && slices.ContainsFunc(slices.Collect(maps.Values(of)), func(all []string) bool {
		return len(all) > 0 && all[0] == ours && slices.Contains(all, theirs)
	})
}

// longest bound what is taken, in characters, as what is entered; a longer text is left there.
const (
	longestDetail = 200
	longestPhone  = 40
)

// take takes what is there of a group. What an item cannot have is left.
func (m *mapping) take(r *inbox.Returned, i *inbox.Item, there hubspot.Contact, group []string) {
	now := fields(i)
	value := func(field string) (string, bool) {
		property, mapped := m.properties[field]
		if !mapped {
			return now[field], true
		}
		clean := strings.Join(strings.Fields(card.Clean(there.Properties[property])), " ")
		return clean, clean != "" || there.Properties[property] == ""
	}
	switch group[0] {
	case "firstName":
		first, fits := value("firstName")
		last, lastFits := value("lastName")
		name := strings.TrimSpace(first + " " + last)
		if _, whole := m.properties["name"]; whole && m.properties["firstName"] == "" && m.properties["lastName"] == "" {
			name, fits = value("name")
		}
		if fits && lastFits && len([]rune(name)) <= longestDetail {
			r.Name = &name
		}
	case "phone":
		if phone, fits := value("phone"); fits && len([]rune(phone)) <= longestPhone && (phone == "" || inbox.IsPhone(phone)) {
			r.Phone = &phone
		}
	case "company":
		if company, fits := value("company"); fits && len([]rune(company)) <= longestDetail {
			r.Company = &company
		}
	case "jobTitle":
		if title, fits := value("jobTitle"); fits && len([]rune(title)) <= longestDetail {
			r.JobTitle = &title
		}
	case "state":
		r.State = inbox.State(m.meant("state", there.Properties[m.properties["state"]]))
	case assignee:
		r.Assignee = m.owners.people[there.Properties[m.properties[assignee]]]
	case "leadBand":
		r.Band = inbox.Band(m.meant("leadBand", there.Properties[m.properties["leadBand"]]))
	}
}
