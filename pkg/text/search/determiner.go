package search

import "sync"

// determiners are the articles and possessives of a language: whether somebody asks for "my
// coat", "the coat" or "coats" is the same to a phrase.
var determiners = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for language, words := range map[string]string{
		"en": "a an the my your our his her its their this these some any",
		"de": "der die das den dem des ein eine einen einem einer eines mein meine meinen meinem meiner dein deine deinen deinem deiner sein seine seinen seinem seiner unser unsere unseren unserem unserer euer eure euren eurem eurer ihr ihre ihren ihrem ihrer",
		"fr": "le la les l un une des du mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs",
		"es": "el la los las un una unos unas mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras",
		"it": "il lo la i gli le l un uno una mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra vostri vostre",
		"pt": "o a os as um uma uns umas meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas",
		"nl": "de het een mijn m'n jouw je uw zijn haar ons onze jullie hun",
		"pl": "mój moja moje mojego mojej mojemu moim moją moich swój swoja swoje swojego swojej swoją twój twoja twoje wasz wasza wasze",
		"tr": "bir benim senin sizin bizim onun",
	} {
		out[language] = map[string]bool{}
		for _, t := range Terms(language, words) {
			out[language][t.Text] = true
		}
	}
	return out
})

// undetermined is a phrase without its determiners, where more than one word is left.
func undetermined(language string, phrase []string) []string {
	var rest []string
	for _, term := range phrase {
		if !determiners()[language][term] {
			rest = append(rest, term)
		}
	}
	if len(rest) < 2 {
		return phrase
	}
	return rest
}

// spans is how many terms a phrase takes where they begin with it, whatever determiners stand
// between its words; 0 where they do not.
func (v *wording) spans(phrase []string, terms []Term) int {
	at := 0
	for i, text := range phrase {
		for i > 0 && at < len(terms) && terms[at].Text != text && determiners()[v.language][terms[at].Text] {
			at++
		}
		if at == len(terms) || terms[at].Text != text {
			return 0
		}
		at++
	}
	return at
}
