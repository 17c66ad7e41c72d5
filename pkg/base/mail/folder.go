package mail

import (
	"context"
	"net/mail"
	"os"
	"path/filepath"
)

// folder keeps messages as files that mail programs open, for who tries things out.
type folder struct {
	path string
	from *mail.Address
}

// Send implements Sender. A message that is sent again takes the place of the first.
func (f *folder) Send(_ context.Context, m Message) error {
	made, err := m.write(f.from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return err
	}
	at := filepath.Join(f.path, filepath.Base(m.ID)+".eml")
	out, err := os.OpenFile(at+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it holds a link that lets somebody in
	if err != nil {
		return err
	}
	if _, err := made.WriteTo(out); err != nil {
		_ = out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(at+".new", at) // whoever looks sees whole messages
}
