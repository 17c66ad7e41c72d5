package conversation

import (
	"regexp"
	"strings"
)

// humanClaims are how a speaker says of itself that it is a human being, or no machine.
var humanClaims = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`\bi(?:['’]m| am) (?:(?:really|actually|indeed|also|just|in fact) )*(?:(?:a|an) )?(?:(?:real|actual|living|human) )*(?:human|person|man|woman|human being)\b|\bi(?:['’]m| am) not (?:a |an )?(?:robot|bot|chatbot|ai|machine|computer|artificial)\b`),
	"de": regexp.MustCompile(`\bich bin (?:(?:wirklich|tatsächlich|natürlich|doch) )*(?:ein |eine )?(?:(?:echter|echte|realer|reale|richtiger|richtige) )?(?:mensch|person|frau|mann)\b|\bich bin (?:kein|keine) (?:roboter|bot|ki|maschine|computer|künstliche)`),
	"fr": regexp.MustCompile(`\bje suis (?:(?:vraiment|bien) )*(?:un |une )?(?:vrai |vraie )?(?:humain|humaine|être humain|personne|homme|femme)(?:$|[^\pL])|\bje ne suis pas (?:un |une )?(?:robot|ia|machine|intelligence)`),
	"es": regexp.MustCompile(`\bsoy (?:un |una )?(?:(?:verdadero|verdadera) )?(?:humano|humana|ser humano|persona|hombre|mujer)\b|\bno soy (?:un |una )?(?:robot|bot|ia|máquina|inteligencia)`),
	"it": regexp.MustCompile(`\bsono (?:un |una |un['’])?(?:(?:vero|vera) )?(?:umano|umana|essere umano|persona|uomo|donna)\b|\bnon sono (?:un |una |un['’])?(?:robot|bot|ia|macchina|intelligenza)`),
	"pt": regexp.MustCompile(`\bsou (?:um |uma )?(?:humano|humana|ser humano|pessoa|homem|mulher)\b|\bnão sou (?:um |uma )?(?:robô|robot|bot|ia|máquina|inteligência)`),
	"nl": regexp.MustCompile(`\bik ben (?:(?:echt|gewoon) )*(?:een )?(?:(?:echt|echte) )?(?:mens|persoon|man|vrouw)\b|\bik ben geen (?:robot|bot|ai|machine|computer)`),
	"pl": regexp.MustCompile(`\bjestem (?:prawdziwym |prawdziwą )?(?:człowiekiem|osobą|kobietą|mężczyzną)|\bnie jestem (?:robotem|botem|maszyną|sztuczną)`),
	"tr": regexp.MustCompile(`\b(?:ben|gerçek|bir) insanım|(?:robot|yapay zek[aâ]|makine|bot) değilim`),
	"zh": regexp.MustCompile(`我(?:就)?是(?:一个|一名|一位)?(?:真)?人(?:类)?(?:$|[，。！,])|我不是(?:一个)?(?:机器人|人工智能|ai|机器)`),
	"ja": regexp.MustCompile(`私は(?:本物の)?人間です|(?:ロボット|ai|人工知能|機械)(?:では|じゃ)(?:ありません|ない)`),
	"ar": regexp.MustCompile(`أنا (?:إنسان|بشر|شخص حقيقي)|لست (?:روبوت|آلة|ذكاء)`),
}

// denies are the words before a claim that turn it around.
var denies = wordSet("no|non|não|nie|not|ne|لست")

// claimsHumanity says whether a sentence has the speaker be a human being.
func claimsHumanity(language, sentence string) bool {
	said := lower(sentence)
	for _, form := range []*regexp.Regexp{humanClaims[base(language)], humanClaims["en"]} {
		if form == nil {
			continue
		}
		for _, at := range form.FindAllStringIndex(said, -1) {
			before := strings.Fields(said[:at[0]])
			if len(before) == 0 || !denies[before[len(before)-1]] {
				return true
			}
		}
	}
	return false
}
