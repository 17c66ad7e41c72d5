package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"syscall"
)

// identity is the operating system user that PostgreSQL runs as. PostgreSQL
// refuses to run as root, so root has to find it another.
type identity struct {
	description string
	uid, gid    int // the owner of the cluster's files, as this process sees it
	attr        syscall.SysProcAttr
}

// chooseIdentity returns the caller unless it is root. For root it returns the
// first identity that can run the program and reach the directory, and begins
// with the one that owns the cluster, if there is one.
func chooseIdentity(ctx context.Context, dir *directory, cluster, program string) (identity, error) {
	if os.Geteuid() != 0 {
		return identity{description: "this user", uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	candidates, err := candidatesOfRoot(dir.path, cluster)
	if err != nil {
		return identity{}, err
	}
	var refusals []error
	for _, id := range candidates {
		err := dir.admit(id.gid)
		if err == nil {
			err = id.probe(ctx, program, dir.path)
		}
		if err == nil {
			return id, nil
		}
		if ctx.Err() != nil {
			return identity{}, ctx.Err()
		}
		refusals = append(refusals, fmt.Errorf("%s: %w", id.description, err))
	}
	return identity{}, fmt.Errorf("PostgreSQL does not run as root, and no other way works here: "+
		"start this program as another user, or choose a directory that every user can reach, "+
		"such as one below /var/lib:\n%w", errors.Join(refusals...))
}

// candidatesOfRoot are the server's own account, and that account in a user
// namespace, for directories that only root can reach. Before them comes the
// owner of the cluster, or of the directory when there is no cluster yet.
func candidatesOfRoot(dir, cluster string) ([]identity, error) {
	server, err := serverAccount()
	if err != nil {
		return nil, err
	}
	candidates := []identity{credentialIdentity(server)}
	namespace, supported := namespaceIdentity(server)
	if supported {
		candidates = append(candidates, namespace)
	}

	uid, _, err := ownerOf(cluster)
	empty := errors.Is(err, fs.ErrNotExist)
	if empty {
		uid, _, err = ownerOf(dir)
	}
	if err != nil {
		return nil, err
	}
	if uid != 0 {
		// PostgreSQL does not run as a user without a name.
		if owner, err := lookup(user.LookupId(strconv.Itoa(uid))); err == nil {
			candidates = slices.Insert(candidates, 0, credentialIdentity(owner))
		}
	} else if !empty && supported {
		candidates = slices.Insert(candidates, 0, namespace)
	}
	return candidates, nil
}

// account is a user of the operating system.
type account struct {
	name     string
	uid, gid int
}

// serverAccount is the account that PostgreSQL's packages make, else the one
// that every system has.
func serverAccount() (account, error) {
	a, err := lookup(user.Lookup("postgres"))
	if err != nil {
		a, err = lookup(user.Lookup("nobody"))
	}
	if err != nil {
		return account{}, fmt.Errorf("PostgreSQL does not run as root, and there is no user to run it as: %w", err)
	}
	return a, nil
}

func lookup(u *user.User, err error) (account, error) {
	if err != nil {
		return account{}, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return account{}, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return account{}, err
	}
	return account{name: u.Username, uid: uid, gid: gid}, nil
}

// credentialIdentity is the account itself.
func credentialIdentity(a account) identity {
	return identity{
		description: "as user " + a.name,
		uid:         a.uid,
		gid:         a.gid,
		attr: syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)},
		},
	}
}

// probe lets the kernel say whether the identity can be taken, reach the
// directory and run the program: it knows of every parent's mode, of access
// lists, and of what a container forbids.
func (id identity) probe(ctx context.Context, program, dir string) error {
	cmd := exec.Command(program, "--version")
	cmd.Env = serverEnvironment()
	id.apply(cmd)
	cmd.Dir = dir
	return runProcess(ctx, cmd)
}

// apply makes the command run as the identity, in a directory that everybody
// can enter.
func (id identity) apply(cmd *exec.Cmd) {
	attr := id.attr
	cmd.SysProcAttr = &attr
	cmd.Dir = "/"
}

// own gives a cluster to the identity, unless it has it already. The top
// directory, which tells whose the cluster is, comes last, so that an
// interrupted change is done again.
func (id identity) own(cluster string) error {
	uid, gid, err := ownerOf(cluster)
	if err != nil || uid == id.uid {
		return err
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("%s belongs to user %d, only that user or root can open it", cluster, uid)
	}
	// Names are resolved below the root only: a link that the former owner
	// placed must not lead root elsewhere.
	root, err := os.OpenRoot(cluster)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		return root.Lchown(path, id.uid, id.gid)
	})
	if err != nil {
		return fmt.Errorf("change the owner of %s from %d:%d to %d:%d: %w", cluster, uid, gid, id.uid, id.gid, err)
	}
	return root.Lchown(".", id.uid, id.gid)
}
