package move

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
)

// parse makes of a key that a writer noted the key that the table has, as its columns'
// texts.
func (t table) parse(pk string) ([]string, error) {
	parts, err := t.KeyParts(pk)
	if err != nil {
		return nil, err
	}
	for i, c := range t.keyColumns() {
		if parts[i], err = textOf(c.Type, parts[i]); err != nil {
			return nil, fmt.Errorf("key %q of %s: %s: %w", pk, t.Name, c.Name, err)
		}
	}
	return parts, nil
}

// textOf is how the database writes a value of a type that keys have.
func textOf(kind, noted string) (string, error) {
	switch kind {
	case "text":
		return noted, nil
	case "uuid":
		u, err := id.UUIDOf(noted)
		return u.String(), err
	case "bigint":
		_, err := strconv.ParseInt(noted, 10, 64)
		return noted, err
	case "date":
		_, err := time.Parse(time.DateOnly, noted)
		return noted, err
	case "bytea":
		noted = strings.TrimPrefix(noted, `\x`)
		_, err := hex.DecodeString(noted)
		return `\x` + noted, err
	case "timestamp with time zone":
		at, err := time.Parse(time.RFC3339, noted)
		if err != nil {
			at, err = time.Parse(stamp, noted) // a row's own
		}
		return at.UTC().Format(stamp), err
	}
	return "", fmt.Errorf("keys of type %s are not known", kind)
}

// stamp is how a database writes moments in UTC.
const stamp = "2006-01-02 15:04:05.999999-07"
