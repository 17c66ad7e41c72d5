package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// crdsCommand does what Helm leaves out: it makes a chart's custom resource
// definitions, but never changes them.
func crdsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "crds FOLDER",
		Short: "Bring the cluster's custom resource definitions to those of a folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := readDefinitions(args[0])
			if err != nil {
				return err
			}
			// KUBECONFIG, or the pod's own account.
			cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
			if err != nil {
				return err
			}
			client, err := dynamic.NewForConfig(cfg)
			if err != nil {
				return err
			}
			for _, d := range wanted {
				done, err := putDefinition(cmd.Context(), client.Resource(definitions), d)
				if err != nil {
					return fmt.Errorf("%s: %w", d.GetName(), err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s is %s\n", d.GetName(), done)
			}
			return nil
		},
	}
}

// readDefinitions reads the definitions of a folder, one a file.
func readDefinitions(folder string) ([]*unstructured.Unstructured, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no *.yaml in %s", folder)
	}
	found := make([]*unstructured.Unstructured, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found[i] = &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &found[i].Object); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if kind := found[i].GroupVersionKind(); kind.GroupKind() != (schema.GroupKind{Group: definitions.Group, Kind: "CustomResourceDefinition"}) {
			return nil, fmt.Errorf("%s: %s is no CustomResourceDefinition", path, kind)
		}
	}
	return found, nil
}

// putDefinition makes a definition or replaces what it says. Applying it would leave
// what an older one said and this one no longer does: that is another's, Helm's.
func putDefinition(ctx context.Context, in dynamic.ResourceInterface, want *unstructured.Unstructured) (done string, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		have, err := in.Get(ctx, want.GetName(), metav1.GetOptions{})
		if errors.IsNotFound(err) {
			done = "created"
			_, err = in.Create(ctx, want, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		next := want.DeepCopy()
		next.SetResourceVersion(have.GetResourceVersion())
		answer, err := in.Update(ctx, next, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		done = "unchanged"
		if answer.GetGeneration() != have.GetGeneration() {
			done = "updated"
		}
		return nil
	})
	return done, err
}
