package helm_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the image is built of is named by its content.
func TestBaseImagesAreHeldToTheirContent(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	arguments, stages := map[string]string{}, map[string]bool{"scratch": true}
	for _, a := range regexp.MustCompile(`(?m)^ARG (\w+)=(\S+)$`).FindAllStringSubmatch(string(text), -1) {
		arguments["${"+a[1]+"}"] = a[2]
	}
	bases := regexp.MustCompile(`(?m)^FROM (\S+)(?: AS (\S+))?$`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, bases, strings.Count("\n"+string(text), "\nFROM "))
	for _, base := range bases {
		name := base[1]
		if given, ok := arguments[name]; ok {
			name = given
		}
		if !stages[name] {
			require.Regexp(t, `^[^@]+:[^@]+@sha256:[0-9a-f]{64}$`, name)
		}
		stages[base[2]] = true
	}
}
