package webhook_test

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// workers are the workers that there would be, with their shards.
type workers map[string]string

func (w workers) Apply(_ context.Context, _ client.Object, shard, holder string) error {
	w[holder] = shard
	return nil
}

func (w workers) Delete(_ context.Context, _ client.Object, holder string) error {
	delete(w, holder)
	return nil
}
