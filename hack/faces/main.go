// Faces writes the library's faces as browsers move them into a folder, and the modules
// that move them: in layers, or with -portraits their pictures as if they were an
// organization's own, by the landmarks that are found in them. Further arguments are
// pictures to be written beside those.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	_ "image/jpeg" // as are pictures
	_ "image/png"
	"io/fs"
	"os"
	"path/filepath"

	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/web/client"
)

// side is of the faces' layers, in pixels.
const side = 512

func main() {
	portraits := flag.Bool("portraits", false, "write pictures with their landmarks")
	flag.Parse()
	write := layers
	if *portraits {
		write = pictures
	}
	if err := run(flag.Arg(0), write, flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faces:", err)
		os.Exit(1)
	}
}

// shown is a face of a name.
type shown struct {
	name         string
	rig, picture []byte
}

// layers are the library's faces as they are moved.
func layers(library *avatar.Library, _ []string) (all []shown, err error) {
	for _, f := range library.Faces() {
		living, err := library.Living(f.ID, side)
		if err != nil {
			return nil, err
		}
		all = append(all, shown{f.Name, living.Rig, living.Layers})
	}
	return all, nil
}

// pictures are the library's pictures, and those of files.
func pictures(library *avatar.Library, files []string) (all []shown, err error) {
	add := func(name string, data []byte) error {
		img, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return err
		}
		marks, _, ok := landmark.Find(img)
		if !ok {
			return fmt.Errorf("no face is found in the picture of %s", name)
		}
		rig, err := face.MeshRig(img.Bounds().Dx(), img.Bounds().Dy(), marks)
		all = append(all, shown{name, rig, data})
		return err
	}
	for _, f := range library.Faces() {
		data, err := library.Picture(f.ID, avatar.PortraitSide)
		if err == nil {
			err = add(f.Name, data)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err == nil {
			err = add(name, data)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func run(folder string, faces func(*avatar.Library, []string) ([]shown, error), files []string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	all, err := faces(avatar.NewLibrary(), files)
	if err != nil {
		return err
	}
	var names []string
	for i, f := range all {
		names = append(names, f.name)
		for ending, data := range map[string][]byte{"json": f.rig, "png": f.picture} {
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
