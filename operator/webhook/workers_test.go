package webhook_test

import "context"

// workers are the workers that there would be, with their shards.
type workers map[string]string

func (w workers) Apply(_ context.Context, shard, holder string) error {
	w[holder] = shard
	return nil
}

func (w workers) Delete(_ context.Context, holder string) error {
	delete(w, holder)
	return nil
}
