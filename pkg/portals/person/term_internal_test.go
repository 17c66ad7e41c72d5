package person

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTerms(t *testing.T) {
	for name, test := range map[string]struct {
		of   Person
		want string
	}{
		"a name":                 {Person{Name: "Kim Lö"}, "k ki kim l lo"},
		"of digits and letters":  {Person{Name: "", ExternalID: new("S26-7")}, "2 26 7 s"},
		"an address":             {Person{Name: "", Email: new("k.l@ex.io")}, "e ex i io k l"},
		"what is there twice":    {Person{Name: "Kim", GivenName: new("KIM"), FamilyName: new("kim")}, "k ki kim"},
		"without spaces":         {Person{Name: "山田太郎"}, "太 太郎 山 山田 山田太 山田太郎 田 田太 田太郎 郎"},
		"a long word":            {Person{Name: "aaaaaaaaaaaaaaaaaaaaaaaa"}, "a aa aaa aaaa aaaaa aaaaaa aaaaaaa aaaaaaaa aaaaaaaaa aaaaaaaaaa aaaaaaaaaaa aaaaaaaaaaaa aaaaaaaaaaaaa aaaaaaaaaaaaaa aaaaaaaaaaaaaaa aaaaaaaaaaaaaaaa"},
		"nobody any more":        {Person{Name: "Kim", State: Erased}, ""},
		"no letters":             {Person{Name: " -- "}, ""},
		"marks that are letters": {Person{Name: "が"}, "が"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, strings.Fields(test.want), test.of.terms()) })
	}
}
