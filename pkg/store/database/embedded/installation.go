package embedded

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// oldestPostgres is the oldest major version that this project supports.
const oldestPostgres = 15

// installation is one version of PostgreSQL's programs.
type installation struct {
	bin   string
	major int
}

func (i installation) program(name string) string { return filepath.Join(i.bin, name) }

// findPostgres returns the installation to use: the one on the PATH, else the
// newest of the system's packages. A cluster can only be opened by the major
// version that made it; wanted is that, or 0 for a new cluster.
func findPostgres(ctx context.Context, wanted int) (installation, error) {
	found := installations(ctx, binDirectories())
	if ctx.Err() != nil {
		return installation{}, ctx.Err()
	}
	return selectInstallation(found, wanted)
}

// binDirectories are the places to look in, the preferred first.
func binDirectories() []string {
	// The pattern is constant, and an error would be about its syntax.
	packaged, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(packaged, func(a, b string) int { return packagedMajor(b) - packagedMajor(a) })
	path, err := exec.LookPath("postgres")
	if err != nil {
		return packaged
	}
	// The programs look for each other beside their real location.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return packaged
	}
	if path, err = filepath.Abs(path); err != nil {
		return packaged
	}
	return append([]string{filepath.Dir(path)}, packaged...)
}

// packagedMajor is the version in a path such as /usr/lib/postgresql/15/bin, 0
// when there is none.
func packagedMajor(bin string) int {
	major, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return major
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// installations are the complete ones among the directories.
func installations(ctx context.Context, directories []string) []installation {
	var found []installation
	for _, bin := range directories {
		i := installation{bin: bin}
		if _, err := exec.LookPath(i.program("initdb")); err != nil {
			continue
		}
		cmd := exec.CommandContext(ctx, i.program("postgres"), "--version")
		cmd.Env = serverEnvironment()
		output, err := cmd.Output()
		match := versionPattern.FindSubmatch(output)
		if err != nil || match == nil {
			continue
		}
		if i.major, err = strconv.Atoi(string(match[1])); err == nil {
			found = append(found, i)
		}
	}
	return found
}

func selectInstallation(found []installation, wanted int) (installation, error) {
	for _, i := range found {
		if i.major == wanted || wanted == 0 && i.major >= oldestPostgres {
			return i, nil
		}
	}
	switch {
	case wanted != 0:
		return installation{}, fmt.Errorf("the data was written by PostgreSQL %d, which is not installed: "+
			"install the package postgresql-%d, or use another directory", wanted, wanted)
	case len(found) > 0:
		return installation{}, fmt.Errorf("PostgreSQL %d in %s is too old: install version %d or newer "+
			"(on Debian and Ubuntu the package postgresql)", found[0].major, found[0].bin, oldestPostgres)
	}
	return installation{}, errors.New("no database server is installed: install CockroachDB, or PostgreSQL " +
		"(on Debian and Ubuntu the package postgresql)")
}
