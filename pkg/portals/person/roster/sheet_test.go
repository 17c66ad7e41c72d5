package roster_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/portals/person/roster"
)

const header = "name,portalId,role\n"

func TestCheck(t *testing.T) {
	kims := func(n int) string { return strings.Repeat("Kim,p,learner\n", n) }
	for name, test := range map[string]struct {
		file string
		// people are those in it, or wrong a part of why it is refused.
		people int64
		wrong  string
	}{
		"one":                         {header + kims(1), 1, ""},
		"with a mark":                 {"\xEF\xBB\xBF" + header + kims(2), 2, ""},
		"with semicolons":             {"name;portalId;role\r\n\"Lee; Kim\";p;learner\r\n", 1, ""},
		"with tabs":                   {"name\tportalId\trole\nKim\tp\tlearner", 1, ""},
		"with lines in quotes":        {header + "\"Kim\nLee\",p,learner\n" + kims(1), 2, ""},
		"with columns of any case":    {"NAME, portalid ,Role\n" + kims(1), 1, ""},
		"with every column":           {strings.Join(allColumns, ",") + "\nKim", 1, ""},
		"with what was refused once":  {"name,portalId,role,problem\n" + kims(1), 1, ""},
		"with lines of nothing":       {header + "\n,,\n" + kims(1) + ";;;\n\n,\n"[4:], 1, ""},
		"as many as there may be":     {header + kims(roster.MaxLines), roster.MaxLines, ""},
		"empty":                       {"", 0, "empty"},
		"a mark alone":                {"\xEF\xBB\xBF\n", 0, "empty"},
		"a header alone":              {header, 0, "Nobody is in the file"},
		"more than there may be":      {header + kims(roster.MaxLines+1), 0, "at most 50000 people"},
		"too large":                   {header + strings.Repeat("x", roster.MaxBytes), 0, "bytes"},
		"of Windows":                  {header + "J\xF6rg,p,learner\n", 0, "CSV UTF-8"},
		"of UTF-16":                   {"\xFF\xFEn\x00a\x00m\x00e\x00", 0, "CSV UTF-8"},
		"no table":                    {"%PDF-1.7\n", 0, "Column 1 of the header is not known"},
		"a column nobody knows":       {"name,portalId,role,shoe\n" + kims(1), 0, "Line 1: Column 4"},
		"a column twice":              {"name,portalId,role,Name\n" + kims(1), 0, "name twice"},
		"a column too few":            {"name,portalId\nKim,p\n", 0, "column role"},
		"units by both names":         {"name,portalId,role,unitId,unitCode\n" + kims(1), 0, "one of them"},
		"metadata without a key":      {"name,portalId,role,metadata.\n" + kims(1), 0, "Column 4"},
		"very many columns":           {header[:len(header)-1] + strings.Repeat(",", 100) + "\n" + kims(1), 0, "more than 60 columns"},
		"a quote that is not closed":  {header + kims(3) + "\"Kim,p,learner\n" + kims(2), 0, "Line 5: A text in quotes does not end"},
		"a quote in the middle":       {header + "Kim \"Lee\",p,learner\n", 0, "Line 2: A quote stands"},
		"a line too long":             {header + kims(1) + strings.Repeat("x", 70_000) + ",p,learner\n", 0, "Line 3: The line is too long"},
		"a line of nothing but cells": {header + kims(1) + "\n\r\n" + strings.Repeat(",", 5_000_000), 0, "Line 5: The line is too long"},
		"a quote never closed":        {header + kims(1) + "\"" + strings.Repeat("x,y\n", 500_000), 0, "Line 3: The line is too long"},
		"quotes in a long line":       {header + "\"" + strings.Repeat(`""`, 60_000) + "\",p,learner\n", 1, ""},
		"a line too long in its text": {header + "\"" + strings.Repeat("x\n", 70_000) + "\",p,learner\n", 0, "Line 2: The line is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			people, err := roster.Check([]byte(test.file))
			if test.wrong == "" {
				require.NoError(t, err)
				require.Equal(t, test.people, people)
				return
			}
			require.ErrorContains(t, err, test.wrong)
			require.ErrorAs(t, err, new(*roster.SheetError))
			require.NotContains(t, err.Error(), "Kim", "what is in the file is not repeated")
		})
	}
}

// A line that is too long is refused before it is in memory, however it is made.
func TestALongLineTakesNoMemory(t *testing.T) {
	for name, file := range map[string]string{
		"cells":  header + strings.Repeat(",", 9<<20),
		"a text": header + strings.Repeat("x", 9<<20),
		"quotes": header + "\"" + strings.Repeat("x\n", 4<<20),
		"header": strings.Repeat("name,", 1<<20),
	} {
		data := []byte(file)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := roster.Check(data)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "too long", name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), name)
	}
}

// allColumns are the columns that a file can have together.
var allColumns = []string{
	"name", "givenName", "familyName", "email", "phone", "externalId", "language", "timezone", "ageBand", "portalId", "unitId", "role", "startsAt",
	"endsAt", "membership.externalId", "metadata.source", "membership.metadata.Source",
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{header + "Kim,p,learner", "name;portalId;role\r\n\"a\nb\";;x", "\xEF\xBB\xBFname\tportalId\trole\n\"", header + "'=1,p,@x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		people, err := roster.Check(data)
		if err != nil {
			require.ErrorAs(t, err, new(*roster.SheetError))
			return
		}
		rejects, lines, err := roster.RefuseAll(data)
		require.NoError(t, err)
		require.Equal(t, people, int64(lines))
		again, err := roster.Check(rejects)
		require.NoError(t, err, "what was refused can be sent again\n%s", rejects)
		require.Equal(t, people, again)
		for _, cell := range roster.Cells(t, rejects) {
			require.False(t, cell != "" && strings.Contains("=+-@\t\r", cell[:1]), "%q is a formula", cell)
		}
	})
}
