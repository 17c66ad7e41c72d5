// Package file keeps organizations' files in a bucket (a folder, S3, GCS or
// Azure, by URL). A row on the organization's shard says of each whether it is
// being written, kept, or to be deleted, so that no crash leaves a file that
// nobody knows of: what stays unfinished is swept.
package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Store keeps files.
type Store struct {
	bucket  *blob.Bucket
	tenants *tenant.Tenants
	clock   clock.PassiveClock
}

// New keeps files in a bucket.
func New(b *blob.Bucket, t *tenant.Tenants, c clock.PassiveClock) *Store { return &Store{b, t, c} }

// Put is PutFrom of what is in memory.
func (s *Store) Put(ctx context.Context, org id.Org, contentType string, data []byte) (id.File, error) {
	return s.PutFrom(ctx, org, Content{Type: contentType, Size: int64(len(data)), SHA256: sha256.Sum256(data), Data: bytes.NewReader(data)})
}

// Content is a file to be written, whose size and hash are known beforehand.
type Content struct {
	Type   string
	Size   int64
	SHA256 [sha256.Size]byte
	Data   io.Reader
}

// PutFrom writes a file that nothing refers to yet. Keep, in the transaction that
// makes something refer to it, makes it stay; otherwise it is swept.
func (s *Store) PutFrom(ctx context.Context, org id.Org, c Content) (id.File, error) {
	f := id.NewFile()
	err := s.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("file", f)
		_, err := tx.Exec(ctx, `
			INSERT INTO file (org_id, id, state, content_type, bytes, sha256, changed_at)
			VALUES ($1, $2, 'pending', $3, $4, $5, $6)
			ON CONFLICT (org_id, id) DO NOTHING`,
			org, f, c.Type, c.Size, c.SHA256[:], s.clock.Now())
		return err
	}, tenant.Idempotent(true))
	if err != nil {
		return f, err
	}
	if err := s.write(ctx, path(org, f), c); err != nil {
		return f, fmt.Errorf("write file: %w", err)
	}
	return f, nil
}

// partBytes bounds what an upload to a bucket keeps in memory, where it is sent in parts.
const partBytes = 5 << 20

func (s *Store) write(ctx context.Context, path string, c Content) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // which discards what was not written to its end
	w, err := s.bucket.NewWriter(ctx, path, &blob.WriterOptions{ContentType: c.Type, BufferSize: partBytes, MaxConcurrency: 1})
	if err != nil {
		return err
	}
	n, err := io.Copy(w, c.Data)
	if err == nil && n != c.Size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		cancel()
		_ = w.Close() // it answers that it was cancelled
		return err
	}
	return w.Close()
}

// Keep makes a file stay, in the caller's transaction. It fails for a file
// that was swept meanwhile.
func (s *Store) Keep(ctx context.Context, tx *tenant.Tx, files ...id.File) error {
	return s.change(ctx, tx, "pending", "stored", files)
}

// Discard marks files for deletion, in the caller's transaction.
func (s *Store) Discard(ctx context.Context, tx *tenant.Tx, files ...id.File) error {
	return s.change(ctx, tx, "stored", "deleting", files)
}

func (s *Store) change(ctx context.Context, tx *tenant.Tx, from, to string, files []id.File) error {
	for _, f := range files {
		tx.Touch("file", f)
	}
	tag, err := tx.Exec(ctx, `
		UPDATE file SET state = $4, changed_at = $5 WHERE org_id = $1 AND id = ANY($2) AND state = $3`,
		tx.Org, files, from, to, s.clock.Now())
	if err == nil && int(tag.RowsAffected()) != len(files) {
		return fmt.Errorf("of %d files only %d are %s", len(files), tag.RowsAffected(), from)
	}
	return err
}

// Drop is Discard of files that may be unfinished, for whoever has no store: what is
// written is deleted by the store's task.
func Drop(ctx context.Context, tx *tenant.Tx, files ...id.File) error {
	if len(files) == 0 {
		return nil
	}
	for _, f := range files {
		tx.Touch("file", f)
	}
	_, err := tx.Exec(ctx, `UPDATE file SET state = 'deleting' WHERE org_id = $1 AND id = ANY($2)`, tx.Org, files)
	return err
}

// Read reads a file.
func (s *Store) Read(ctx context.Context, org id.Org, f id.File) ([]byte, error) {
	b, err := s.bucket.ReadAll(ctx, path(org, f))
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	return b, nil
}

// Open opens a file, to read it bit by bit, from wherever one seeks; size is in bytes.
func (s *Store) Open(ctx context.Context, org id.Org, f id.File) (content io.ReadSeekCloser, size int64, err error) {
	r, err := s.bucket.NewReader(ctx, path(org, f), nil)
	if err != nil {
		return nil, 0, fmt.Errorf("open file: %w", err)
	}
	return r, r.Size(), nil
}

// path is by organization, never by shard, so a move leaves files alone.
func path(org id.Org, f id.File) string { return org.String() + "/" + f.String() }

// RemoveAll deletes at most limit files of an organization that is shut, whose rows
// are gone, and answers how many there were.
func (s *Store) RemoveAll(ctx context.Context, org id.Org, limit int) (removed int, err error) {
	list := s.bucket.List(&blob.ListOptions{Prefix: org.String() + "/"})
	for removed < limit {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return removed, nil
		}
		if err != nil {
			return removed, fmt.Errorf("list files: %w", err)
		}
		if err := s.bucket.Delete(ctx, object.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return removed, fmt.Errorf("delete file: %w", err)
		}
		removed++
	}
	return removed, nil
}

// unfinishedFor is how long a file may stay unfinished before it is swept: far
// longer than any request takes.
const unfinishedFor = time.Hour

const (
	// sweepBatch is how many files a sweep deletes at most, and atOnce how many side by side: a
	// recorded session leaves some hundred pieces.
	sweepBatch = 500
	atOnce     = 8
)

// Sweep deletes files of a shard that were never kept, once that is certain, and those
// that are to be deleted. One that cannot be deleted holds no other up.
func (s *Store) Sweep(ctx context.Context, shard string) (int, error) {
	db, err := s.tenants.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, `
		SELECT f.org_id, f.id FROM file f JOIN org_fence o ON o.org_id = f.org_id AND o.state = 'open'
		WHERE f.state <> 'stored' AND (f.state = 'deleting' OR f.changed_at < $1) LIMIT $2`, s.clock.Now().Add(-unfinishedFor), sweepBatch)
	if err != nil {
		return 0, err
	}
	type entry struct {
		org  id.Org
		file id.File
	}
	var entries []entry
	for rows.Next() {
		var e entry
		if err := rows.Scan(&e.org, &e.file); err != nil {
			return 0, err
		}
		entries = append(entries, e)
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	var (
		group  errgroup.Group
		failed = make([]error, len(entries))
		swept  = len(entries)
	)
	group.SetLimit(atOnce)
	for i, e := range entries {
		group.Go(func() error {
			failed[i] = s.remove(ctx, e.org, e.file)
			return nil
		})
	}
	_ = group.Wait() // what failed is joined below
	for _, err := range failed {
		if err != nil {
			swept--
		}
	}
	return swept, errors.Join(failed...)
}

// remove claims the row first, so that a file is never deleted under a
// transaction that just kept it.
func (s *Store) remove(ctx context.Context, org id.Org, f id.File) error {
	var claimed bool
	err := s.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("file", f)
		tag, err := tx.Exec(ctx, `
			UPDATE file SET state = 'deleting' WHERE org_id = $1 AND id = $2 AND state <> 'stored'`, org, f)
		claimed = tag.RowsAffected() == 1
		return err
	}, tenant.Idempotent(true))
	if err != nil || !claimed {
		return err
	}
	if err := s.bucket.Delete(ctx, path(org, f)); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("delete file: %w", err)
	}
	return s.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("file", f)
		_, err := tx.Exec(ctx, `DELETE FROM file WHERE org_id = $1 AND id = $2 AND state = 'deleting'`, org, f)
		return err
	}, tenant.Idempotent(true))
}
