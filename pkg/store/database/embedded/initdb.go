package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// unfinishedPrefix begins the names of the directories in which clusters are
// made. Each has its own: an initdb whose parent was killed may still be writing
// to the last.
const unfinishedPrefix = clusterName + ".init-"

// keepPassword returns the superuser's password, a new one for a new cluster.
func (p *postgres) keepPassword() (string, error) {
	password, err := p.dir.read("password")
	if err != nil || password != "" {
		return password, err
	}
	if hasCluster(p.dir) {
		return "", fmt.Errorf("%s, the password of the cluster beside it, is missing", p.dir.file("password"))
	}
	password = rand.Text()
	return password, p.dir.write("password", password)
}

// initialize makes the cluster when there is none. It gets its name when it is
// complete, so that one of that name always is.
func (p *postgres) initialize(ctx context.Context) error {
	p.removeUnfinished()
	if hasCluster(p.dir) {
		return p.identity.own(p.cluster)
	}
	work, err := os.MkdirTemp(p.dir.path, unfinishedPrefix+"*")
	if err != nil {
		return err
	}
	defer p.removeUnfinished()
	if err := p.initdb(ctx, work); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(work, clusterName), p.cluster); err != nil {
		return err
	}
	return p.syncDirectory()
}

func (p *postgres) initdb(ctx context.Context, work string) error {
	// initdb reads the password as the server's user, who cannot read the file
	// that is kept.
	passwordFile := filepath.Join(work, "password")
	err := os.WriteFile(passwordFile, []byte(p.password+"\n"), 0o600)
	if err != nil {
		return err
	}
	for _, path := range []string{passwordFile, work} {
		if err := os.Lchown(path, p.identity.uid, p.identity.gid); err != nil {
			return err
		}
	}
	cmd := exec.Command(p.installation.program("initdb"), p.initdbArguments(work, passwordFile)...)
	cmd.Env = serverEnvironment()
	cmd.Stdout, cmd.Stderr = p.output.File, p.output.File
	p.identity.apply(cmd)
	if err := p.output.mark(); err != nil {
		return err
	}
	if err := runProcess(ctx, cmd); err != nil {
		return fmt.Errorf("initdb, %s: %w, its output ends with:\n%s", p.identity.description, err, p.output.tail())
	}
	return nil
}

func (p *postgres) initdbArguments(work, passwordFile string) []string {
	arguments := []string{
		"--pgdata=" + filepath.Join(work, clusterName),
		"--username=" + superuser,
		"--pwfile=" + passwordFile,
		"--auth=scram-sha-256",
		"--encoding=UTF8",
		"--locale=C",
		"--no-instructions",
	}
	if !p.durable {
		arguments = append(arguments, "--no-sync")
	}
	return arguments
}

// removeUnfinished clears away clusters that were never completed. What cannot
// be removed is only in nobody's way.
func (p *postgres) removeUnfinished() {
	entries, _ := os.ReadDir(p.dir.path)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), unfinishedPrefix) {
			_ = os.RemoveAll(p.dir.file(entry.Name()))
		}
	}
}

// syncDirectory makes the cluster's name last.
func (p *postgres) syncDirectory() error {
	if !p.durable {
		return nil
	}
	d, err := os.Open(p.dir.path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
