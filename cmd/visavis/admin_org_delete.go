package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"gocloud.dev/blob"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/operations/removal"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
)

// deleteBatches is how much of an organization is deleted between two lines that say how
// far it is.
const deleteBatches = 20

func (a *admin) orgDelete() *cobra.Command {
	var sure bool
	cmd := a.does(&cobra.Command{
		Use:   "delete ORG",
		Short: "Delete an organization with everything that it owns, at once and for good",
		Long: "Its keys open nothing from then on, its conversations end, and its rows and files are deleted.\n" +
			"One that was interrupted goes on where it ended. What a resource declares is deleted with the resource.",
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		o, err := a.organization(ctx, args[0])
		if err != nil {
			return err
		}
		if err := o.ManagedBy.Check(managed.API, "organization", o.ID.String()); err != nil {
			return fmt.Errorf("%s (%s) is managed by %s: delete that", o.ID, o.Name, o.ManagedBy)
		}
		if !sure {
			return fmt.Errorf("%s (%s, on %s) and everything that it owns would be deleted at once and for good: say --yes if that is meant",
				o.ID, o.Name, o.Shard)
		}
		return a.deleteOrg(ctx, cmd, o)
	})
	cmd.Flags().BoolVar(&sure, "yes", false, "it is meant")
	a.bucket(cmd.Flags())
	return cmd
}

func (a *admin) deleteOrg(ctx context.Context, cmd *cobra.Command, o directory.Organization) (err error) {
	bucket, err := a.openFiles(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	clock := clock.RealClock{}
	remover := removal.Remover{Directory: a.directory, Tenants: a.tenants, Files: file.New(bucket, a.tenants, clock), Clock: clock}
	for {
		left, err := remover.Delete(ctx, o.ID, managed.API, deleteBatches)
		if err != nil {
			return err
		}
		if left == "" {
			break
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "deleting %s\n", left)
	}
	return a.print(cmd, map[string]any{"id": o.ID, "deleted": true}, func(w io.Writer) {
		fmt.Fprintf(w, "%s (%s) is deleted\n", o.ID, o.Name)
	})
}

// openFiles opens the bucket for files. One that is not there holds no files of anybody:
// to make it, as a server does, would leave those of the organization where they are.
func (a *admin) openFiles(ctx context.Context) (*blob.Bucket, error) {
	url := a.files
	if url == "" {
		if _, err := os.Stat(defaultFiles); err != nil {
			return nil, fmt.Errorf("files: want the URL of the bucket that its files are in, --files or %s", envName("files"))
		}
		var err error
		if url, err = folderURL(defaultFiles); err != nil {
			return nil, err
		}
	}
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	return bucket, nil
}
