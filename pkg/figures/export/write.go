package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"visavis.dev/pkg/figures/sheet"
)

// write writes rows in a format. The first part of a table has the names of the columns.
func write(f Format, columns []string, rows [][]any, first bool) ([]byte, error) {
	if f == JSONL {
		return writeLines(columns, rows)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if first {
		if err := w.Write(columns); err != nil {
			return nil, err
		}
	}
	for _, row := range rows {
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = cell(v)
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// cell writes a value into a table. What is a text, and nobody's number, is made safe.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return sheet.Cell(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	default:
		return sheet.Cell(fmt.Sprint(v))
	}
}

// writeLines writes an object a line, its fields in the order of the columns.
func writeLines(columns []string, rows [][]any) ([]byte, error) {
	var b bytes.Buffer
	for _, row := range rows {
		for i, v := range row {
			b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			value, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "%q:%s", columns[i], value)
		}
		b.WriteString("}\n")
	}
	return b.Bytes(), nil
}
