package node

import (
	"embed"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed files
var files embed.FS

var templates = template.Must(template.ParseFS(files, "files/*"))

// writeFiles writes what the node's programs read.
func writeFiles(state string) error {
	values := map[string]string{
		"State": state, "Cgroup": cgroup, "DNS": dnsAddress, "Node": Name,
		"PauseImage": pauseImage, "Pods": podNetwork,
	}
	for name, place := range map[string]string{
		"cni.conflist":    "cni/10-visavis.conflist",
		"containerd.toml": "containerd.toml",
		"kubelet.yaml":    "kubelet.yaml",
		"proxy.yaml":      "proxy.yaml",
		"Corefile":        "Corefile",
	} {
		path := filepath.Join(state, place)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := writeFile(path, name, values); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path, name string, values map[string]string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := templates.ExecuteTemplate(file, name, values); err != nil {
		return err
	}
	return file.Sync()
}
