package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// directory is the place of one server: its data and the small files that this
// package keeps beside it.
type directory struct {
	path string // absolute, without symbolic links

	// created tells that this process made the directory, so that its mode is
	// this package's to choose.
	created bool
}

func openDirectory(path string) (*directory, error) {
	if path == "" {
		return nil, errors.New("no data directory given")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	err = os.Mkdir(path, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	created := err == nil
	// A server is recognised by the path in its arguments, so one directory
	// has to have one path.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	return &directory{path: path, created: created}, nil
}

func (d *directory) file(name string) string { return filepath.Join(d.path, name) }

// read returns a small file's text, empty when the file does not exist.
func (d *directory) read(name string) (string, error) {
	text, err := os.ReadFile(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// write replaces a small file, readable by the directory's owner only, so that
// a crash leaves either the old text or the new.
func (d *directory) write(name, text string) (err error) {
	f, err := os.CreateTemp(d.path, name+".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, d.giveToOwner(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), d.file(name))
}

// open opens a small file for reading and writing, with the further flag, and
// makes it when it does not exist. It follows no link: the directory can belong
// to somebody else than root.
func (d *directory) open(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(d.file(name), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|flag, 0o600)
	if err != nil {
		return nil, err
	}
	if err := d.giveToOwner(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// giveToOwner lets a user whose directory root has used in between still read
// its files.
func (d *directory) giveToOwner(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := ownerOf(d.path)
	if err != nil {
		return err
	}
	return f.Chown(uid, gid)
}

// admit lets one group pass through a directory that this process made, and
// nobody else: a server with a user of its own has to reach its data, while the
// names and files beside them stay closed to it. The group of root is not
// admitted anywhere.
func (d *directory) admit(gid int) error {
	if !d.created {
		return nil
	}
	mode := fs.FileMode(0o710)
	if gid == 0 {
		mode = 0o700
	}
	return errors.Join(os.Chown(d.path, -1, gid), os.Chmod(d.path, mode))
}

func ownerOf(path string) (uid, gid int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("%s: the owner is unknown on this system", path)
	}
	return int(stat.Uid), int(stat.Gid), nil
}
