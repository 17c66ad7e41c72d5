package roster

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/unit"
)

// refusal is why a line was refused. It repeats nothing of the line: the job that
// shows it outlasts the file.
type refusal struct{ column, message string }

func refuse(column, format string, args ...any) *refusal {
	return &refusal{column, fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.message }

// explain says what an error of adding somebody is to whoever sent the line; it is
// nil for one that is not the line's fault.
func explain(err error) *refusal {
	var (
		field  *errdefs.Invalid
		itself *refusal
	)
	switch {
	case errors.As(err, &itself):
		return itself
	case errors.As(err, &field):
		return refuse(field.Field, "%s %s.", field.Field, field.Message)
	case errors.Is(err, person.ErrEmailTaken):
		return refuse("email", "Somebody else has this e-mail address.")
	case errors.Is(err, person.ErrExternalIDTaken):
		return refuse("externalId", "The externalId and the person do not belong together.")
	case errors.Is(err, person.ErrFull):
		return refuse("", "The plan allows no more people.")
	case errdefs.IsNotFound(err, portal.Noun):
		return refuse(portalID, "There is no such portal.")
	case errdefs.IsArchived(err, portal.Noun):
		return refuse(portalID, "The portal is archived.")
	case errdefs.IsNotFound(err, unit.OfPortal):
		return refuse(unitID, "The portal has no such unit.")
	case errors.Is(err, person.ErrDates):
		return refuse("endsAt", "endsAt must lie after startsAt.")
	}
	return nil
}

// formulas are what a cell begins with that a spreadsheet computes.
const formulas = "=+-@\t\r"

// guarded is a cell that a spreadsheet shows as it is and computes nothing of.
func guarded(cell string) string {
	if cell != "" && strings.Contains(formulas, cell[:1]) {
		return "'" + cell
	}
	return cell
}

// plain is the cell that was guarded, for a file of refused lines that comes back.
func plain(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && guarded(rest) != rest {
		return rest
	}
	return cell
}

// rejects is the file of the lines of a sheet that were refused, in order, with
// what is wrong with each.
func (s *sheet) rejects(refused []job.RefusedLine) ([]byte, error) {
	var file bytes.Buffer
	if s.marked {
		file.Write(byteOrderMark)
	}
	w := csv.NewWriter(&file)
	w.Comma = s.comma
	rows := [][]string{append(s.without(s.header), problemColumn)}
	for at := s.start; len(refused) > 0; {
		lines, next, err := s.read(at, batch)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if len(refused) > 0 && l.Number == refused[0].Line {
				rows = append(rows, append(s.without(l.Cells), fmt.Sprintf("Line %d: %s", l.Number, refused[0].Message)))
				refused = refused[1:]
			}
		}
		if at = next; len(lines) < batch {
			break
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = guarded(cell)
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return file.Bytes(), w.Error()
}

// without are the cells of a line, one for each column but that of an earlier
// problem.
func (s *sheet) without(cells []string) []string {
	row := make([]string, 0, len(s.columns)+1)
	for i, c := range s.columns {
		switch {
		case c.name == problemColumn:
		case i < len(cells):
			row = append(row, cells[i])
		default:
			row = append(row, "")
		}
	}
	return row
}
