package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// hostEnv names this machine's address for pods.
const hostEnv = "VISAVIS_CLUSTER_HOST"

// env prints what a shell needs to reach the cluster, for eval.
func (r run) env(ctx context.Context, out io.Writer) error {
	folder, err := r.builder.Folder(ctx, tools()...)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "export KUBECONFIG=%s\n", quote(r.cluster.Kubeconfig()))
	fmt.Fprintf(out, "export PATH=%s:\"$PATH\"\n", quote(folder))
	if host := r.cluster.Host(); host != "" {
		fmt.Fprintf(out, "export %s=%s\n", hostEnv, quote(host))
	}
	return nil
}

// quote makes a word of the shell of any text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
