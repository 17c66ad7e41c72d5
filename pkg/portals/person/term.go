package person

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// A person is found by the beginnings of the words in their names, address and
// external id, each of which is a row. A page of whoever has one is then a
// stretch of an index in the order of the people, however many they are: no
// pattern is matched and nothing is sorted.
const (
	// termLetters is how many letters of a word count.
	termLetters = 16
	// maxWords bounds the words of a person, and so their rows.
	maxWords = 32
	// MaxQueryWords bounds the words of a query that count.
	MaxQueryWords = 8
)

// bare letters stand for those that Unicode does not take apart.
var bare = strings.NewReplacer("ß", "ss", "ø", "o", "æ", "ae", "œ", "oe", "đ", "d", "ð", "d", "þ", "th", "ł", "l", "ı", "i", "ħ", "h", "ς", "σ")

// fold makes alike what people take for the same: letters of either case, with
// their marks or without.
func fold(s string) string {
	lower := strings.ToLower(norm.NFKC.String(s))
	return bare.Replace(norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < firstLetterMark {
			return -1
		}
		return r
	}, norm.NFD.String(lower))))
}

// firstLetterMark is where the marks begin that belong to their letters, such as
// those of Devanagari and kana; before it are those of European scripts and the
// vowel points of Hebrew and Arabic.
const firstLetterMark = 0x0900

// words takes a text apart: where letters and digits end, and between the two.
func words(s string) (all []string) {
	class := func(r rune) int {
		switch {
		case unicode.IsDigit(r):
			return 1
		case unicode.IsLetter(r), unicode.IsMark(r):
			return 2
		}
		return 0
	}
	start, last := 0, 0
	for i, r := range s {
		now := class(r)
		if now == last {
			continue
		}
		if last != 0 {
			all = append(all, s[start:i])
		}
		start, last = i, now
	}
	if last != 0 {
		all = append(all, s[start:])
	}
	return all
}

// spaceless says whether people write words with a letter without spaces between,
// so that a name begins anywhere in what looks like a word.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// terms are the beginnings that a person is found by, in order; none of somebody
// who was erased.
func (p *Person) terms() []string {
	found := []string{}
	if p.State == Erased {
		return found
	}
	text := []string{p.Name}
	for _, more := range []*string{p.GivenName, p.FamilyName, p.Email, p.ExternalID} {
		if more != nil {
			text = append(text, *more)
		}
	}
	all := words(fold(strings.Join(text, " ")))
	for _, word := range all[:min(len(all), maxWords)] {
		letters := []rune(word)
		for from := range letters {
			if from > 0 && (from >= termLetters || !spaceless(letters[from])) {
				continue
			}
			for to := from + 1; to <= min(from+termLetters, len(letters)); to++ {
				found = append(found, string(letters[from:to]))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// queryTerms are the terms that whoever is looked for must all have, the longest,
// which the fewest have, first.
func queryTerms(query string) []string {
	all := words(fold(query))
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

// enterTerms makes the terms that a person is found by those of their details.
// It rides person_term_by_person and person_term_pkey.
func (p *Person) enterTerms(ctx context.Context, tx *tenant.Tx) error {
	terms := p.terms()
	rows, err := tx.Query(ctx, `
		DELETE FROM person_term WHERE org_id = $1 AND person_id = $2 AND term <> ALL($3) RETURNING term`, tx.Org, p.ID, terms)
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, term := range append(gone, terms...) {
		tx.Touch("person_term", name(term), p.ID)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO person_term (org_id, term, person_id) SELECT $1, term, $2 FROM unnest($3::TEXT[]) AS t (term)
		ON CONFLICT (org_id, term, person_id) DO NOTHING`, tx.Org, p.ID, terms)
	return err
}

// TermsBatch bounds the people whose terms one sweep enters.
const TermsBatch = 200

// SweepTerms enters the terms of people of a shard whose row was last written by
// a process that knew of none. It rides person_without_terms.
func SweepTerms(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, `
		SELECT p.org_id, p.id FROM person p JOIN org_fence f ON f.org_id = p.org_id AND f.state = 'open'
		WHERE p.terms_edition < p.edition ORDER BY p.org_id, p.id LIMIT $1`, TermsBatch)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org    id.Org
		Person id.Person
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	for i, d := range all {
		if err := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error { return refreshTerms(ctx, tx, d.Person) },
			tenant.Idempotent(true)); err != nil {
			return i, err
		}
	}
	return len(all), nil
}

// refreshTerms enters the terms of somebody as they are now.
func refreshTerms(ctx context.Context, tx *tenant.Tx, which id.Person) error {
	p, err := Lock(ctx, tx, which)
	if err != nil && p.State != Erased {
		return err
	}
	if err := p.enterTerms(ctx, tx); err != nil {
		return err
	}
	tx.Touch("person", which)
	_, err = tx.Exec(ctx, `UPDATE person SET terms_edition = edition WHERE org_id = $1 AND id = $2`, tx.Org, which)
	return err
}
