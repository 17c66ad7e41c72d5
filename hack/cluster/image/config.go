package image

import (
	"fmt"
	"runtime"
	"time"
)

// manifest is an entry of manifest.json in the layout of docker save.
type manifest struct {
	Config   string   `json:"Config"`
	RepoTags []string `json:"RepoTags"`
	Layers   []string `json:"Layers"`
}

// config is the OCI image specification's image configuration.
type config struct {
	Created      time.Time  `json:"created"`
	Architecture string     `json:"architecture"`
	OS           string     `json:"os"`
	Config       execution  `json:"config"`
	RootFS       rootFS     `json:"rootfs"`
	History      []creation `json:"history"`
}

type execution struct {
	User       string            `json:"User"`
	Env        []string          `json:"Env"`
	Entrypoint []string          `json:"Entrypoint"`
	WorkingDir string            `json:"WorkingDir"`
	Labels     map[string]string `json:"Labels,omitempty"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type creation struct {
	Created time.Time `json:"created"`
	Comment string    `json:"comment"`
}

func (i Image) config(layer string) config {
	return config{
		Created: epoch, Architecture: runtime.GOARCH, OS: "linux",
		Config: execution{
			User:       fmt.Sprintf("%d:%d", User, User),
			Env:        []string{"PATH=/"},
			Entrypoint: []string{"/" + i.Program},
			WorkingDir: "/",
			Labels:     i.Labels,
		},
		RootFS:  rootFS{Type: "layers", DiffIDs: []string{layer}},
		History: []creation{{Created: epoch, Comment: "/" + i.Program}},
	}
}
