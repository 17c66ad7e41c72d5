// Faces writes the library's faces as browsers move them into a folder, and the page
// that shows them on a sheet (sheet.js): every face at rest, in the middle of a vowel,
// with closed lips, smiling and listening.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/web/client"
)

// side is of the faces' layers, in pixels.
const side = 512

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "faces:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	library := avatar.NewLibrary()
	var names []string
	for i, f := range library.Faces() {
		living, err := library.Living(f.ID, side)
		if err != nil {
			return err
		}
		names = append(names, f.Name)
		for ending, data := range map[string][]byte{"json": living.Rig, "png": living.Layers} {
			if err := write(folder, fmt.Sprintf("%d.%s", i, ending), data); err != nil {
				return err
			}
		}
	}
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}
	if err := write(folder, "faces.json", list); err != nil {
		return err
	}
	return fs.WalkDir(client.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(client.Files, name)
		if err != nil {
			return err
		}
		return write(folder, name, text)
	})
}

func write(folder, name string, data []byte) error {
	return os.WriteFile(filepath.Join(folder, name), data, 0o644)
}
