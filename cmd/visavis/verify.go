package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/learning/certificate/badge"
)

// longestRecord bounds a file that is verified, in bytes.
const longestRecord = 64 << 20

func verifyCommand() *cobra.Command {
	var issuer string
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a candidate's record, without any server",
		Long: "FILE is a saved answer of GET /candidates/{id}/compliance, or its record alone. Every entry must be what was hashed, and come after the one " +
			"before it, and the anchors that were signed day by day must hold it. Whose keys signed them says the organization's DID document, saved from " +
			"GET /issuers/{id}/did.json: give it with --issuer.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := verifyFile(args[0])
			if err != nil {
				return err
			}
			if issuer != "" {
				if err := verifyKeys(issuer, v); err != nil {
					return err
				}
			}
			return tellVerified(cmd.OutOrStdout(), v, issuer != "")
		},
	}
	cmd.Flags().StringVar(&issuer, "issuer", "", "a saved DID document of the organization, whose keys must have signed")
	return cmd
}

// tellVerified says what a record that holds shows, and what it does not.
func tellVerified(to io.Writer, v record.Verified, keys bool) error {
	head, err := v.Head.MarshalText()
	if err != nil {
		return err
	}
	fmt.Fprintf(to, "The record of %s holds: %d entries, the words of %d erased.\nHead: %s\n", v.Candidate, v.Entries, v.Erased, head)
	switch {
	case v.Anchors == 0:
		fmt.Fprintln(to, "No anchor holds it yet: compare the head with one that was noted before, to see that nothing was cut off.")
	case keys:
		fmt.Fprintf(to, "Signed by %s: %d anchors, the last of %s with %d of the entries.\n", v.Organization, v.Anchors, v.AnchoredAt.Format("2006-01-02 15:04 MST"), v.Anchored)
	default:
		fmt.Fprintf(to, "%d anchors, the last of %s with %d of the entries. Give --issuer to see whose keys signed them.\n", v.Anchors, v.AnchoredAt.Format("2006-01-02 15:04 MST"), v.Anchored)
	}
	return nil
}

// verifyKeys requires that the keys that signed stand in a DID document.
func verifyKeys(name string, v record.Verified) error {
	text, err := readFile(name)
	if err != nil {
		return err
	}
	known, err := badge.EmbeddedKeys(text)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(v.Signed) == 0 {
		return errors.New("nothing of the record is signed")
	}
	for _, k := range slices.Sorted(maps.Keys(v.Signed)) {
		if of, ok := known[k]; !ok || !of.Equal(badge.PublicKey(v.Signed[k])) {
			return fmt.Errorf("%w: the key %s is not one of %s", record.ErrBroken, k, name)
		}
	}
	return nil
}

func verifyFile(name string) (record.Verified, error) {
	text, err := readFile(name)
	if err != nil {
		return record.Verified{}, err
	}
	var answer struct {
		Data struct {
			Record json.RawMessage `json:"record"`
		} `json:"data"`
	}
	if json.Unmarshal(text, &answer) == nil && len(answer.Data.Record) > 0 {
		text = answer.Data.Record
	}
	return record.Verify(text)
}

// readFile reads a file of a length that a record has.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, longestRecord))
}
