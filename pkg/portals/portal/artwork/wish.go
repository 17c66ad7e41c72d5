// Package artwork keeps copies of the pictures that a portal's pages show: its logo,
// and the pictures of its subjects. Authors name them by address, and the pages load
// nothing from elsewhere, so they are fetched when a portal is published or checked,
// decoded and written anew, and kept in the bucket. Who is shown them is package
// page's business.
package artwork

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// Wish is a picture that somebody wants to be shown.
type Wish struct {
	// Field names it as the API does, such as "brand.logoUrl".
	Field, URL string
}

// Lesson is what is taught of a subject, which may have pictures.
type Lesson struct {
	Subject id.Subject
	Content subject.Content
}

// MostWishes bounds how many pictures a portal shows, the logo among them. Those beyond
// are linked to.
const MostWishes = 40

// Wishes are the pictures of a portal and its subjects, as many as are shown, each
// address once.
func Wishes(d portal.Definition, lessons []Lesson) []Wish {
	var wishes []Wish
	add := func(field, url string) {
		if url != "" && len(wishes) < MostWishes && !slices.ContainsFunc(wishes, func(w Wish) bool { return w.URL == url }) {
			wishes = append(wishes, Wish{field, url})
		}
	}
	if d.Brand.LogoURL != nil {
		add("brand.logoUrl", *d.Brand.LogoURL)
	}
	for i, l := range lessons {
		for j, s := range l.Content.Sections {
			for k, m := range s.Media {
				if m.Kind == "image" {
					add(fmt.Sprintf("subjects[%d].sections[%d].media[%d].url", i, j, k), m.URL)
				}
			}
		}
	}
	return wishes
}

// drafted are the pictures of a portal's draft, and of what visitors see now. It rides
// portal_pkey and subject_by_portal. The error is errdefs.NotFound.
func drafted(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal) (draft, shown []Wish, err error) {
	var (
		known           bool
		wanted, visible portal.Definition
		lessons, taught []Lesson
		collect         = func(into *[]Lesson) func(pgx.Rows) error {
			return func(rows pgx.Rows) (err error) {
				*into, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Lesson])
				return err
			}
		}
	)
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&known, []any{&wanted, &visible}, `
			SELECT p.definition, COALESCE(v.definition, '{}') FROM portal p
			LEFT JOIN portal_version v ON v.org_id = p.org_id AND v.portal_id = p.id AND v.version = p.published_version
			WHERE p.org_id = $1 AND p.id = $2`, org, p)
		for into, version := range map[*[]Lesson]string{&lessons: "draft_version", &taught: "published_version"} {
			r.Query(collect(into), `
				SELECT s.id, v.content FROM subject s
				JOIN subject_version v ON v.org_id = s.org_id AND v.subject_id = s.id AND v.version = s.`+version+`
				WHERE s.org_id = $1 AND s.portal_id = $2 AND s.archived_at IS NULL ORDER BY s.place, s.id`, org, p)
		}
	})
	if err == nil && !known {
		err = portal.Noun.NotFound(p)
	}
	return Wishes(wanted, lessons), Wishes(visible, taught), err
}

// key is the hash of an address, as part of a row's key.
type key []byte

func keyOf(url string) key {
	sum := sha256.Sum256([]byte(url))
	return sum[:]
}

func (k key) String() string { return hex.EncodeToString(k) }
