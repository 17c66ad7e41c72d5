package database

import (
	"bytes"
	"io/fs"
	"regexp"
)

// firstConcurrent is the first migration that came when tables could be large already.
const firstConcurrent = "00019"

// createIndex finds the statements that make an index, with its name.
var createIndex = regexp.MustCompile(`(?m)^CREATE (UNIQUE )?INDEX IF NOT EXISTS (\w+)([^;]*);`)

// concurrently are migrations as PostgreSQL runs them: an index is built while the table is
// written to, as CockroachDB always does. One that a migration which died left unfinished is
// never used and is not replaced by itself, so it is dropped before. It waits for
// transactions, but nobody waits for it.
type concurrently struct{ fs.FS }

// Open implements fs.FS.
func (c concurrently) Open(name string) (fs.File, error) {
	if name < firstConcurrent {
		return c.FS.Open(name)
	}
	text, err := fs.ReadFile(c.FS, name)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(c.FS, name)
	if err != nil {
		return nil, err
	}
	text = createIndex.ReplaceAll(text, []byte(`SET lock_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS $2;
CREATE ${1}INDEX CONCURRENTLY IF NOT EXISTS $2$3;
RESET lock_timeout;`))
	return migration{bytes.NewReader(text), info}, nil
}

// ReadDir implements fs.ReadDirFS.
func (c concurrently) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(c.FS, name) }

// migration is a file in memory.
type migration struct {
	*bytes.Reader
	info fs.FileInfo
}

// Stat implements fs.File.
func (m migration) Stat() (fs.FileInfo, error) { return m.info, nil }

// Close implements fs.File.
func (migration) Close() error { return nil }
