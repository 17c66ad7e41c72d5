package language

// standing is how far the product goes in one language. Each step includes the
// ones below it, so a duo language is always a premier one and a beta language
// never is.
type standing int

const (
	globalBeta  standing = iota + 1 // the global engine only, and new
	globalOnly                      // the global engine only
	both                            // both engines
	bothWithDuo                     // both engines, and duos
)

// standings lists the catalogue by code; all else about a language follows from
// it. Portuguese and Chinese come in two forms because their speakers do not
// take one for the other; every other language is listed once for all regions.
var standings = map[string]standing{
	"de": bothWithDuo, "en": bothWithDuo, "es": bothWithDuo, "fr": bothWithDuo,
	"hi": bothWithDuo, "it": bothWithDuo, "ja": bothWithDuo, "ko": bothWithDuo,
	"pt-BR": bothWithDuo, "zh-Hans": bothWithDuo,

	"ar": both, "cs": both, "da": both, "el": both, "fi": both, "fil": both,
	"hu": both, "id": both, "nb": both, "nl": both, "pl": both, "pt-PT": both,
	"ro": both, "ru": both, "sv": both, "tr": both, "uk": both, "vi": both,
	"zh-Hant": both,

	"af": globalOnly, "bg": globalOnly, "bn": globalOnly, "ca": globalOnly,
	"et": globalOnly, "fa": globalOnly, "gu": globalOnly, "he": globalOnly,
	"hr": globalOnly, "kn": globalOnly, "lt": globalOnly, "lv": globalOnly,
	"ml": globalOnly, "mr": globalOnly, "ms": globalOnly, "pa": globalOnly,
	"sk": globalOnly, "sl": globalOnly, "sr": globalOnly, "sw": globalOnly,
	"ta": globalOnly, "te": globalOnly, "th": globalOnly, "ur": globalOnly,
	"yue": globalOnly,

	"am": globalBeta, "az": globalBeta, "bs": globalBeta, "cy": globalBeta,
	"eu": globalBeta, "gl": globalBeta, "hy": globalBeta, "is": globalBeta,
	"ka": globalBeta, "kk": globalBeta, "km": globalBeta, "lo": globalBeta,
	"mk": globalBeta, "mn": globalBeta, "my": globalBeta, "ne": globalBeta,
	"si": globalBeta, "sq": globalBeta, "uz": globalBeta, "zu": globalBeta,
}

// nativeNames replaces what x/text has where that is not what native speakers
// write for the language. Most of its names below are a country's or a people's
// as they stand; speakers add the word for "language". Brazil's Portuguese had no
// country in its name, so the two forms of Portuguese did not read as a pair.
var nativeNames = map[string]string{
	"az":    "azərbaycan dili",
	"id":    "Bahasa Indonesia",
	"km":    "ភាសាខ្មែរ",
	"lo":    "ພາສາລາວ",
	"ms":    "Bahasa Melayu",
	"my":    "မြန်မာဘာသာ",
	"pt-BR": "português do Brasil",
	"pt-PT": "português de Portugal",
	"th":    "ภาษาไทย",
	"uz":    "oʻzbekcha",
}

// otherNames are further names Lookup takes, because people use them as much as
// the ones shown, or before them.
var otherNames = map[string]string{
	"Bengali":          "bn",
	"Bokmål":           "nb",
	"Castilian":        "es",
	"castellano":       "es",
	"Farsi":            "fa",
	"हिंदी":            "hi",
	"Mandarin":         "zh-Hans",
	"Mandarin Chinese": "zh-Hans",
	"中文":               "zh-Hans",
	"普通话":              "zh-Hans",
	"國語":               "zh-Hant",
	"廣東話":              "yue",
	"Norwegian":        "nb",
	"norsk":            "nb",
	"Tagalog":          "fil",
}
