package espeak

// mandarin is the voice that reads pinyin as such: the other one spells it in English.
const mandarin = "cmn-latn-pinyin"

// voices are the names that espeak has for the languages of the catalogue that it
// speaks well enough to be understood. Its Thai and Burmese spell letters, its
// Japanese knows no kanji; Galician, Filipino, Khmer, Lao, Mongolian and Zulu it has not.
var voices = map[string]string{
	"de": "de", "en": "en-us", "es": "es", "fr": "fr", "hi": "hi", "it": "it", "ko": "ko", "pt-BR": "pt-br",
	"ar": "ar", "cs": "cs", "da": "da", "el": "el", "fi": "fi", "hu": "hu", "id": "id", "nb": "nb", "nl": "nl",
	"pl": "pl", "pt-PT": "pt", "ro": "ro", "ru": "ru", "sv": "sv", "tr": "tr", "uk": "uk", "vi": "vi",
	"af": "af", "bg": "bg", "bn": "bn", "ca": "ca", "et": "et", "fa": "fa", "gu": "gu", "he": "he", "hr": "hr",
	"kn": "kn", "lt": "lt", "lv": "lv", "ml": "ml", "mr": "mr", "ms": "ms", "pa": "pa", "sk": "sk", "sl": "sl",
	"sr": "sr", "sw": "sw", "ta": "ta", "te": "te", "ur": "ur", "yue": "yue",
	"am": "am", "az": "az", "bs": "bs", "cy": "cy", "eu": "eu", "hy": "hy", "is": "is", "ka": "ka", "kk": "kk",
	"mk": "mk", "ne": "ne", "si": "si", "sq": "sq", "uz": "uz",
	"zh-Hans": mandarin, "zh-Hant": mandarin,
}

// Speaks implements speaker.Speaker.
func (p *Pool) Speaks(language string) bool { return voices[language] != "" }
