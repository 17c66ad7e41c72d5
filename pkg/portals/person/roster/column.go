package roster

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/metadata"
	"visavis.dev/pkg/portals/person"
)

// problemColumn is the one that a file of refused lines has besides; it is passed
// over when the file is sent again.
const problemColumn = "problem"

// wanted is what a line asks for.
type wanted struct {
	person person.Wanted
	place  person.Place
	// unitCode names the unit of the place where no id does.
	unitCode string
}

// column is one that a sheet can have. It reads a cell that is not empty into what
// is wanted, and answers what is wrong with it, as the rest of a sentence that
// begins with the column's name.
type column struct {
	name string
	// longest is how many characters a cell may have.
	longest int
	take    func(w *wanted, cell string) (wrong string)
}

// known are the columns by name, but for metadata's.
var known = []column{
	text("name", func(w *wanted, cell string) { w.person.Name = cell }),
	text("givenName", func(w *wanted, cell string) { w.person.GivenName = &cell }),
	text("familyName", func(w *wanted, cell string) { w.person.FamilyName = &cell }),
	text("email", func(w *wanted, cell string) { w.person.Email = &cell }),
	text("phone", func(w *wanted, cell string) { w.person.Phone = &cell }),
	text("externalId", func(w *wanted, cell string) { w.person.ExternalID = &cell }),
	text("language", func(w *wanted, cell string) { w.person.Language = &cell }),
	text("timezone", func(w *wanted, cell string) { w.person.Timezone = &cell }),
	oneOf("ageBand", func(w *wanted, b person.AgeBand) { w.person.AgeBand = b }, person.AgeBands()),
	{portalID, maxID, func(w *wanted, cell string) (wrong string) {
		var err error
		if w.place.Portal, err = id.ParsePortal(cell); err != nil {
			return "is no id of a portal"
		}
		return ""
	}},
	{unitID, maxID, func(w *wanted, cell string) (wrong string) {
		var err error
		if w.place.Unit, err = id.ParseUnit(cell); err != nil {
			return "is no id of a unit"
		}
		return ""
	}},
	{unitCode, maxCode, func(w *wanted, cell string) string { w.unitCode = cell; return "" }},
	oneOf("role", func(w *wanted, r person.Role) { w.place.Role = r }, person.Roles()),
	moment("startsAt", func(w *wanted, at time.Time) { w.place.StartsAt = &at }),
	moment("endsAt", func(w *wanted, at time.Time) { w.place.EndsAt = &at }),
	{placeExternalID, person.Longest["externalId"], func(w *wanted, cell string) string { w.place.ExternalID = &cell; return "" }},
}

const (
	portalID        = "portalId"
	unitID          = "unitId"
	unitCode        = "unitCode"
	placeExternalID = "membership.externalId"

	personMetadata = "metadata."
	placeMetadata  = "membership.metadata."
)

const (
	maxID   = 80
	maxCode = 60
	maxTime = 40
)

// required are the columns that every line fills.
var required = []string{"name", portalID, "role"}

// text is a column of the person's whose rules are package person's.
func text(name string, set func(*wanted, string)) column {
	return column{name, person.Longest[name], func(w *wanted, cell string) string { set(w, cell); return "" }}
}

// oneOf is a column of one of some values.
func oneOf[T ~string](name string, set func(*wanted, T), values []T) column {
	return column{name, maxCode, func(w *wanted, cell string) string {
		if !slices.Contains(values, T(cell)) {
			return fmt.Sprintf("must be one of %s", listed(values))
		}
		set(w, T(cell))
		return ""
	}}
}

func listed[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// moment is a column of a time, or of a day, which begins at midnight UTC.
func moment(name string, set func(*wanted, time.Time)) column {
	return column{name, maxTime, func(w *wanted, cell string) string {
		at, err := time.Parse(time.RFC3339, cell)
		if err != nil {
			at, err = time.Parse(time.DateOnly, cell)
		}
		if err != nil {
			return "is no time, such as 2026-09-01 or 2026-09-01T08:00:00+02:00"
		}
		if year := at.UTC().Year(); year < 1 || year > 9999 {
			return "must lie in the years 0001 to 9999 (UTC)"
		}
		set(w, at)
		return ""
	}}
}

// entry is a column of metadata.
func entry(name, key string, of func(*wanted) *map[string]string) column {
	return column{name, metadata.MaxValueLength, func(w *wanted, cell string) string {
		m := of(w)
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[key] = cell
		return ""
	}}
}

// columnsOf reads a header. The error is a SheetError.
func columnsOf(header line) ([]column, error) {
	refuse := func(format string, args ...any) ([]column, error) {
		return nil, &SheetError{header.Number, fmt.Sprintf(format, args...)}
	}
	if len(header.Cells) > maxColumns {
		return refuse("The header names more than %d columns.", maxColumns)
	}
	var columns []column
	names := map[string]int{}
	for i, cell := range header.Cells {
		c, ok := columnNamed(strings.TrimSpace(cell))
		if !ok {
			return refuse("Column %d of the header is not known. There are %s, %s…, %s… and no others.",
				i+1, listed(knownNames()), personMetadata, placeMetadata)
		}
		if names[c.name]++; names[c.name] > 1 && c.name != "" {
			return refuse("The header names %s twice.", c.name)
		}
		columns = append(columns, c)
	}
	for _, name := range required {
		if names[name] == 0 {
			return refuse("The header must name the column %s.", name)
		}
	}
	if names[unitID] > 0 && names[unitCode] > 0 {
		return refuse("The header names %s and %s; a unit is named by one of them.", unitID, unitCode)
	}
	return columns, nil
}

func knownNames() []string {
	names := make([]string, len(known))
	for i, c := range known {
		names[i] = c.name
	}
	return names
}

// columnNamed finds the column of a header's cell, in whatever case. One without a
// name, or of the problems that a line had, takes nothing.
func columnNamed(name string) (column, bool) {
	if name == "" {
		return column{take: func(*wanted, string) string { return "must be empty: the header does not name its column" }, longest: maxLine}, true
	}
	if strings.EqualFold(name, problemColumn) {
		return column{name: problemColumn, take: func(*wanted, string) string { return "" }, longest: maxLine}, true
	}
	for _, c := range known {
		if strings.EqualFold(c.name, name) {
			return c, true
		}
	}
	if key, of := strings.CutPrefix(name, personMetadata); of && metadata.Fits(key, "") {
		return entry(name, key, func(w *wanted) *map[string]string { return &w.person.Metadata }), true
	}
	if key, of := strings.CutPrefix(name, placeMetadata); of && metadata.Fits(key, "") {
		return entry(name, key, func(w *wanted) *map[string]string { return &w.place.Metadata }), true
	}
	return column{}, false
}

// want reads what a line asks for; refused is what is wrong with it, and nil where
// nothing is.
func (s *sheet) want(l line) (w wanted, refused *refusal) {
	given := map[string]bool{}
	for i, cell := range l.Cells {
		cell = plain(strings.TrimSpace(cell))
		if cell == "" {
			continue
		}
		if i >= len(s.columns) {
			return w, refuse("", "The line has more cells than the header has columns.")
		}
		c := s.columns[i]
		given[c.name] = true
		if wrong := c.check(cell); wrong != "" {
			return w, refuse(c.name, "%s %s.", c.name, wrong)
		}
		if wrong := c.take(&w, cell); wrong != "" {
			return w, refuse(c.name, "%s %s.", c.name, wrong)
		}
	}
	for _, name := range required {
		if !given[name] {
			return w, refuse(name, "%s is missing.", name)
		}
	}
	for name, m := range map[string]map[string]string{personMetadata: w.person.Metadata, placeMetadata: w.place.Metadata} {
		if metadata.TooMany(m) {
			return w, refuse(strings.TrimSuffix(name, "."), "metadata holds at most %d keys.", metadata.MaxKeys)
		}
	}
	return w, nil
}

// check holds a cell against what every one must be.
func (c column) check(cell string) (wrong string) {
	if utf8.RuneCountInString(cell) > c.longest {
		return fmt.Sprintf("is longer than %d characters", c.longest)
	}
	if strings.ContainsRune(cell, 0) {
		return "must not contain NUL characters"
	}
	return ""
}
