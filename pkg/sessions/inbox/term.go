package inbox

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"visavis.dev/pkg/store/tenant"
)

// An item is found by the beginnings of the words in its contact and by its tags, each of which is
// a row, so that a page of whoever has one is a stretch of an index.
const (
	// termLetters is how many letters of a word count, and maxWords how many words of an item.
	termLetters = 16
	maxWords    = 24
	// MaxQueryWords bounds the words of a query that count.
	MaxQueryWords = 6
)

// fold makes alike what people take for the same: letters of either case, with their accents
// or without.
func fold(s string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < firstLetterMark {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s)))
}

// firstLetterMark is where the marks begin that belong to their letters.
const firstLetterMark = 0x0900

// words takes a text apart where it has neither letters nor digits.
func words(s string) []string {
	return strings.FieldsFunc(fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// tagTerms are what items are found by that have tags. No word has the sign before them.
func tagTerms(tags []string) []string {
	all := make([]string, 0, len(tags))
	for _, tag := range tags {
		all = append(all, "#"+tag)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// terms are what an item is found by.
func (i *Item) terms() []string {
	found := tagTerms(i.Tags)
	if i.Contact == nil {
		return found
	}
	var all []string
	for _, text := range []*string{i.Contact.Name, i.Contact.Email, i.Contact.Phone, i.Contact.Company, i.ExternalID} {
		if text != nil {
			all = append(all, words(*text)...)
		}
	}
	for _, word := range all[:min(len(all), maxWords)] {
		letters := []rune(word)
		for to := range min(termLetters, len(letters)) {
			found = append(found, string(letters[:to+1]))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// queryTerms are what an item must all have that is looked for, the longest first.
func queryTerms(query string) []string {
	all := words(query)
	all = all[:min(len(all), MaxQueryWords)]
	for i, word := range all {
		if letters := []rune(word); len(letters) > termLetters {
			all[i] = string(letters[:termLetters])
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// term is a part of a row's key.
type term string

func (t term) String() string { return string(t) }

// enterTerms makes the terms that an item is found by those of its contact and its tags. It rides
// inbox_term_by_item and inbox_term_pkey.
func (i *Item) enterTerms(ctx context.Context, tx *tenant.Tx) error {
	terms := i.terms()
	rows, err := tx.Query(ctx, `
		DELETE FROM inbox_term WHERE org_id = $1 AND item_id = $2 AND term <> ALL($3) RETURNING term`, tx.Org, i.ID, terms)
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, t := range append(gone, terms...) {
		tx.Touch("inbox_term", term(t), i.ID)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO inbox_term (org_id, term, item_id) SELECT $1, term, $2 FROM unnest($3::TEXT[]) AS t (term)
		ON CONFLICT (org_id, term, item_id) DO NOTHING`, tx.Org, i.ID, terms)
	return err
}
