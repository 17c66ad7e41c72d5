package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// operator is the actor of what the admin tool does.
const operator = "operator"

func (a *admin) keyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "API keys"}
	cmd.AddCommand(a.keyCreate(), a.keyList(), a.keyRevoke())
	return cmd
}

// shownKey is a key as the tool prints it; the secret only when it was just made.
type shownKey struct {
	apikey.Key
	Secret apikey.Secret `json:"secret,omitempty"`
}

func (a *admin) keyCreate() *cobra.Command {
	var (
		name, version string
		scopes        []string
		full, test    bool
		expiresIn     time.Duration
	)
	cmd := a.does(&cobra.Command{
		Use:   "create ORG",
		Short: "Make a key and print its secret, once",
		Long:  "Full access leaves out candidates:data, consents:read, consents:write and keys:manage; add those by name with --scope.",
		Args:  cobra.ExactArgs(1),
	}, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		o, err := a.organization(ctx, args[0])
		if err != nil {
			return err
		}
		v, ok := contract.Parse(version)
		if !ok {
			return fmt.Errorf("contract %q: want one of %v", version, contract.Versions())
		}
		k := apikey.Key{
			ID: id.NewKey(), Org: o.ID, Name: name, FullAccess: full, Contract: v, Environment: apikey.Live,
			CreatedBy: operator, CreatedAt: now(),
		}
		k.UpdatedAt = k.CreatedAt
		if test {
			k.Environment = apikey.Test
		}
		if expiresIn > 0 {
			at := k.CreatedAt.Add(expiresIn)
			k.ExpiresAt = &at
		}
		if k.Scopes, err = parseScopes(scopes, full); err != nil {
			return err
		}
		return a.makeKey(ctx, cmd, k)
	})
	f := cmd.Flags()
	f.StringVar(&name, "name", "Made by the operator", "name")
	f.StringSliceVar(&scopes, "scope", nil, "scope; repeatable")
	f.BoolVar(&full, "full-access", false, "every scope but those an owner adds by name")
	f.BoolVar(&test, "test", false, "a key for trying out")
	f.StringVar(&version, "contract", string(contract.Latest), "contract the key is pinned to")
	f.DurationVar(&expiresIn, "expires-in", 0, "how long the key works (for good unless given)")
	return cmd
}

func parseScopes(texts []string, full bool) ([]scope.Scope, error) {
	scopes := []scope.Scope{}
	for _, text := range texts {
		s := scope.Scope(strings.TrimSpace(text))
		if !scope.Known(s) {
			return nil, fmt.Errorf("there is no scope %q; the scopes are %v", text, scope.All())
		}
		scopes = append(scopes, s)
	}
	if len(scopes) == 0 && !full {
		return nil, fmt.Errorf("give --scope or --full-access")
	}
	return scopes, nil
}

func (a *admin) makeKey(ctx context.Context, cmd *cobra.Command, k apikey.Key) error {
	secret := apikey.NewSecret(k.Environment)
	k.Last4 = secret.Last4()
	hash := secret.Hash()
	change := apikey.Change{Insert: &apikey.Insertion{Key: k, Hash: hash[:]}}
	if err := a.changeKey(ctx, k.Org, change, map[string]any{"name": k.Name, "scopes": k.Scopes, "fullAccess": k.FullAccess}); err != nil {
		return err
	}
	return a.print(cmd, shownKey{k, secret}, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n%s\n", k.ID, secret)
	})
}

// changeKey records a change and makes it effective.
func (a *admin) changeKey(ctx context.Context, org id.Org, change apikey.Change, changes map[string]any) error {
	all := &apikey.Changes{Store: a.keys, Tenants: a.tenants}
	err := a.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		return all.Propose(ctx, tx, change, changes, actor())
	})
	if err != nil {
		return err
	}
	return all.Apply(ctx, org)
}

func (a *admin) keyList() *cobra.Command {
	return a.does(&cobra.Command{Use: "list ORG", Short: "List an organization's keys", Args: cobra.ExactArgs(1)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			o, err := a.organization(ctx, args[0])
			if err != nil {
				return err
			}
			keys, err := a.allKeys(ctx, o)
			if err != nil {
				return err
			}
			return a.print(cmd, keys, func(w io.Writer) {
				fmt.Fprintln(w, "ID\tNAME\tLAST4\tCONTRACT\tACCESS\tUSABLE\tCREATED")
				for _, k := range keys {
					access := fmt.Sprint(k.Scopes)
					if k.FullAccess {
						access = "full " + access
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%v\t%s\n", k.ID, k.Name, k.Last4, k.Contract, access,
						k.Usable(time.Now()), k.CreatedAt.Format(time.DateOnly))
				}
			})
		})
}

func (a *admin) allKeys(ctx context.Context, o directory.Organization) ([]apikey.Key, error) {
	const page = 200
	all := []apikey.Key{}
	var after *apikey.Position
	for {
		keys, err := a.keys.List(ctx, o.ID, after, page)
		if err != nil {
			return nil, err
		}
		all = append(all, keys...)
		if len(keys) < page {
			return all, nil
		}
		last := keys[len(keys)-1]
		after = &apikey.Position{CreatedAt: last.CreatedAt, ID: last.ID}
	}
}

func (a *admin) keyRevoke() *cobra.Command {
	return a.does(&cobra.Command{Use: "revoke ORG KEY", Short: "Revoke a key", Args: cobra.ExactArgs(2)},
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			o, err := a.organization(ctx, args[0])
			if err != nil {
				return err
			}
			key, err := id.ParseKey(args[1])
			if err != nil {
				return fmt.Errorf("%q is not a key's id", args[1])
			}
			if _, err := a.keys.Get(ctx, o.ID, key); err != nil {
				return err
			}
			change := apikey.Change{Revoke: &apikey.Revocation{Key: key, At: now()}}
			if err := a.changeKey(ctx, o.ID, change, nil); err != nil {
				return err
			}
			k, err := a.keys.Get(ctx, o.ID, key)
			if err != nil {
				return err
			}
			return a.print(cmd, k, func(w io.Writer) { fmt.Fprintf(w, "%s is revoked\n", k.ID) })
		})
}
