package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

func definition(name, scope string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"scope": scope},
	}}
}

func TestPutDefinition(t *testing.T) {
	old := definition("shards.visavis.dev", "Namespaced")
	old.Object["spec"].(map[string]any)["preserveUnknownFields"] = true
	client := fake.NewSimpleDynamicClient(runtime.NewScheme(), old)
	busy := true
	client.PrependReactor("update", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		defer func() { busy = false }()
		return busy, nil, errors.NewConflict(definitions.GroupResource(), "shards.visavis.dev", nil)
	})
	in := client.Resource(definitions)

	for _, name := range []string{"shards.visavis.dev", "portals.visavis.dev"} {
		_, err := putDefinition(t.Context(), in, definition(name, "Cluster"))
		require.NoError(t, err)
		have, err := in.Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, map[string]any{"scope": "Cluster"}, have.Object["spec"], "nothing stays of the old one")
	}
}

func TestReadDefinitions(t *testing.T) {
	found, err := readDefinitions("../../charts/visavis/crds")
	require.NoError(t, err)
	var names []string
	for _, d := range found {
		names = append(names, d.GetName())
	}
	require.Equal(t, []string{"organisations.visavis.dev", "portals.visavis.dev", "shards.visavis.dev", "webhooks.visavis.dev"}, names)

	_, err = readDefinitions(t.TempDir())
	require.ErrorContains(t, err, "no *.yaml")
	_, err = readDefinitions("../../charts/visavis")
	require.ErrorContains(t, err, "Chart.yaml: /v2")
}
