package paper_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/learning/certificate/paper"
	"visavis.dev/pkg/text/extract/pdf"
)

func content(name, code string) paper.Content {
	until := time.Date(2027, 11, 23, 12, 0, 0, 0, time.UTC)
	return paper.Content{
		Recipient: name, Title: "Safe work at heights", Organization: "Harbour Academy", Number: "7K3M-9QX2-4B6D-8FHJ-0RST",
		VerifyURL: "https://learn.example.com/verify/7K3M-9QX2-4B6D-8FHJ-0RST", Language: code,
		IssuedAt: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), ExpiresAt: &until,
	}
}

// papers are certificates of every script of the catalogue, and of names that are hard to fit.
var papers = map[string]paper.Content{
	"latin": content("Zoë Åström-Nguyễn", "en"), "german": content("Jürgen Weiß", "de"), "arabic": content("محمد عبد الرحمن الهاشمي", "ar"),
	"japanese": content("山田 花子", "ja"), "chinese": content("欧阳修文", "zh-Hans"), "korean": content("김하늘", "ko"), "greek": content("Ελένη Παπαδοπούλου", "el"),
	"cyrillic": content("Олександра Ковальчук", "uk"), "hebrew": content("יעל כהן", "he"), "hindi": content("श्रीमती प्रिया शर्मा", "hi"),
	"bengali": content("রবীন্দ্রনাথ ঠাকুর", "bn"), "gujarati": content("કૃષ્ણા પટેલ", "gu"), "gurmukhi": content("ਹਰਪ੍ਰੀਤ ਸਿੰਘ", "pa"), "kannada": content("ಲಕ್ಷ್ಮೀ ರಾವ್", "kn"),
	"malayalam": content("കൃഷ്ണൻ നായർ", "ml"), "tamil": content("லட்சுமி சுப்ரமணியம்", "ta"), "telugu": content("శ్రీనివాస్ రెడ్డి", "te"), "sinhala": content("චමරි අතපත්තු", "si"),
	"thai": content("สมชาย ใจดี", "th"), "lao": content("ສົມສັກ ພົມວິຫານ", "lo"), "khmer": content("សុខ ចាន់ធី", "km"), "myanmar": content("အောင်ဆန်း စုကြည်", "my"),
	"georgian": content("ნინო ბერიძე", "ka"), "armenian": content("Անահիտ Սարգսյան", "hy"), "ethiopic": content("አበበ ቢቂላ", "am"), "urdu": content("فاطمہ جناح", "ur"),
	"long":    content(strings.TrimSpace(strings.Repeat("Wolfeschlegelsteinhausenbergerdorff Maximiliane ", 4))[:190], "en"),
	"endless": content(strings.Repeat("x", 200), "en"), "japanese long": content(strings.Repeat("寿限無", 66), "ja"),
}

func TestPrint(t *testing.T) {
	folder := os.Getenv("PAPERS") // to look at them
	for name, c := range papers {
		t.Run(name, func(t *testing.T) {
			c.Plain = name == "german"
			printed, err := paper.Print(t.Context(), c)
			require.NoError(t, err)
			require.Less(t, len(printed), 300_000)
			again, err := paper.Print(t.Context(), c)
			require.NoError(t, err)
			require.True(t, bytes.Equal(printed, again), "the same content makes the same bytes")
			require.Contains(t, string(printed), "/FontFile2")
			require.NotContains(t, string(printed), "/Encoding/WinAnsiEncoding")
			if folder != "" {
				require.NoError(t, os.WriteFile(filepath.Join(folder, name+".pdf"), printed, 0o600))
			}
		})
	}
}

// What is printed can be read again, word for word, by what reads other programs' PDFs.
func TestTextCanBeCopied(t *testing.T) {
	for name, c := range papers {
		printed, err := paper.Print(t.Context(), c)
		require.NoError(t, err)
		file, err := pdf.Read(t.Context(), printed, 1<<20)
		require.NoError(t, err)
		require.Len(t, file.Pages, 1, name)
		var text strings.Builder
		for _, line := range file.Pages[0] {
			text.WriteString(line.Text)
		}
		for word := range strings.FieldsSeq(c.Recipient) { // readers differ in the order of words from right to left
			require.Contains(t, unspaced(text.String()), unspaced(word), name)
		}
	}
}

// unspaced is a text without spaces and what cannot be seen.
func unspaced(text string) string { return spaces.ReplaceAllString(text, "") }

var spaces = regexp.MustCompile(`[\s\p{Cf}]+`)

func TestPrintEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := paper.Print(ctx, papers["latin"])
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkPrint(b *testing.B) {
	for b.Loop() {
		if _, err := paper.Print(b.Context(), papers["japanese"]); err != nil {
			b.Fatal(err)
		}
	}
}
