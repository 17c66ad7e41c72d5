// Package testcache tells `go test` what the result of a test depends on besides the code: it
// remembers results as long as the environment variables and the files of the module that tests
// look at stay the same. What is looked at before testing.M.Run, as in TestMain, does not count.
package testcache

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Depends has the results of this program of tests forgotten when a file of a folder of the
// module changes that other programs read for it. A test calls it.
func Depends(folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		_, err = os.Stat(path)
		return err
	})
}
