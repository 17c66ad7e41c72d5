package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const cgroupRoot = "/sys/fs/cgroup"

// hierarchies are the roots below which pods are accounted: one with the second
// version of cgroups, one for each controller with the first.
func hierarchies(root string) []string {
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		return []string{root}
	}
	found, _ := filepath.Glob(filepath.Join(root, "*", "cgroup.procs"))
	for i, file := range found {
		found[i] = filepath.Dir(file)
	}
	return found
}

// makeCgroups makes the one that the kubelet puts pods below.
func makeCgroups(root string) error {
	for _, hierarchy := range hierarchies(root) {
		if err := os.Mkdir(filepath.Join(hierarchy, cgroup), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// removeCgroups removes those, which hold no process any more, from the leaves up.
func removeCgroups(root string) error {
	var all error
	for _, hierarchy := range hierarchies(root) {
		var folders []string
		err := filepath.WalkDir(filepath.Join(hierarchy, cgroup), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				folders = append(folders, path)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
		for _, folder := range slices.Backward(folders) {
			// A folder of a cgroup is removed with the files the kernel shows in it.
			all = errors.Join(all, os.Remove(folder))
		}
	}
	return all
}
