package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"visavis.dev/pkg/base/id"
)

// Export is a candidate's record as it is handed out, to be checked by anybody (visavis verify).
type Export struct {
	// Format is the version of the form.
	Format string `json:"format"`
	// Organization is whose candidate it is of, whom anchors name.
	Organization id.Org       `json:"organizationId"`
	Candidate    id.Candidate `json:"candidateId"`
	ExportedAt   time.Time    `json:"exportedAt"`
	Entries      []Entry      `json:"entries"`
	// Head is the hash of the last entry; empty where it was not exported. Intact is what the
	// server said of it.
	Head   Hash `json:"head,omitempty"`
	Intact bool `json:"intact,omitempty"`
	// QuestionSets are what the candidate is asked, in words, by the hashes that entries name.
	QuestionSets []Document `json:"questionSets,omitempty"`
	// Anchors hold the record as it was signed day by day, oldest first.
	Anchors []Anchored `json:"anchors,omitempty"`
}

// The forms that exports have: AskedFormat has the questions in words (QuestionSets), which programs that know Format alone
// do not read.
const (
	Format      = "visavis-candidate-record-1"
	AskedFormat = "visavis-candidate-record-2"
)

// NewExport makes an export of entries and of the anchors that hold them.
func NewExport(org id.Org, c id.Candidate, entries []Entry, anchors []Anchored, now time.Time) Export {
	return Export{Format: Format, Organization: org, Candidate: c, Anchors: anchors, ExportedAt: now.UTC().Truncate(time.Microsecond), Entries: entries}
}

// Verified is what an export that holds says.
type Verified struct {
	Candidate id.Candidate
	Entries   int
	// Head is the hash of the last entry: whoever noted it before sees that nothing before it
	// changed.
	Head Hash
	// Erased is how many entries had words that were erased since.
	Erased int
	// Anchors is how many signed anchors hold it, Anchored how many of its entries the last of them
	// does, and AnchoredAt when that was; the zero time for none.
	Anchors    int
	Anchored   int64
	AnchoredAt time.Time
	// Signed are the keys that signed, by their ids in the organization's DID document.
	Organization id.Org
	Signed       map[string]Hash
	// Asked are the sets of questions that entries name.
	Asked []Asked
}

// Verify checks an export, as JSON. The error is ErrBroken where it was changed.
func Verify(text []byte) (Verified, error) {
	var e Export
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // what nobody hashed has no place beside what was
	if err := d.Decode(&e); err != nil {
		return Verified{}, fmt.Errorf("this is no record: %w", err)
	}
	if e.Format != Format && e.Format != AskedFormat {
		return Verified{}, fmt.Errorf("the format %q is unknown", e.Format)
	}
	if err := Check(e.Candidate, e.Entries); err != nil {
		return Verified{}, err
	}
	if len(e.Head) > 0 && !same(e.Head, head(e.Candidate, e.Entries)) {
		return Verified{}, broken("the last entry is not the head")
	}
	asked, err := checkQuestions(e.Entries, e.QuestionSets)
	if err != nil {
		return Verified{}, err
	}
	if err := checkAnchors(e.Organization, e.Candidate, e.Entries, e.Anchors); err != nil {
		return Verified{}, err
	}
	v := Verified{Organization: e.Organization, Candidate: e.Candidate, Entries: len(e.Entries), Head: head(e.Candidate, e.Entries), Signed: map[string]Hash{}, Asked: asked}
	for _, a := range e.Anchors {
		v.Anchors, v.Anchored, v.AnchoredAt = v.Anchors+1, a.Length, a.At
		if of, twice := v.Signed[a.Key.String()]; twice && !same(of, a.PublicKey) {
			return Verified{}, broken("anchor %d was signed with another key of the name %s", a.Number, a.Key)
		}
		v.Signed[a.Key.String()] = a.PublicKey
	}
	for _, one := range e.Entries {
		if len(one.WordsHash) > 0 && one.Words == nil {
			v.Erased++
		}
	}
	return v, nil
}
