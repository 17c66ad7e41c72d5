package conversation

import (
	"strings"
	"sync"

	"visavis.dev/pkg/text/search"
)

// courtesies are the words of sentences that keep a conversation going and state nothing
// of anything else: "I am sorry to hear that", "let me see". They are compared as the
// search compares words; those without a meaning of their own are missing.
var courtesies = map[string]string{
	"en": "sorry hear glad happy pleased pleasure help understand understood see thank thanks welcome question ask asking tell know wish hope great good nice fine lovely wonderful unfortunately afraid moment please else anything something assist answer repeat again mean meant feel wonder luck apologize apologies talk meet chat let back conversation way",
	"de": "leid tut entschuldigung entschuldigen freut freue freuen froh hilfe helfen verstehe verstehen verstanden danke dank willkommen frage fragen sagen wissen weiß wünsche wünschen hoffe gut schön toll wunderbar schade leider moment bitte sonst etwas weiter antworten antwort wiederholen nochmals meinen gefühl glück sprechen gespräch kennenzulernen hören höre",
	"fr": "désolé désolée navré regrette entendre heureux heureuse ravi plaisir aider aide comprends comprendre compris merci bienvenue question demander dire savoir sais souhaite espère bon bonne super malheureusement moment plaît autre quelque chose répondre répéter chance parler conversation",
	"es": "siento lamento oír alegra alegro feliz gusto ayudar ayuda ayudarle entiendo entender comprendo encantado gracias bienvenido pregunta preguntar decir decirme saber sé deseo espero genial desgraciadamente lamentablemente momento favor algo más responder repetir suerte hablar conversación",
	"it": "dispiace spiace sentire felice lieto piacere aiutare aiutarla aiuto capisco capire capito grazie benvenuto domanda chiedere chieda dire dica sapere so auguro spero buono buona ottimo purtroppo momento favore altro qualcosa rispondere ripetere fortuna parlare conversazione",
	"pt": "sinto lamento desculpe ouvir feliz contente prazer ajudar ajudá-lo ajuda entendo entender compreendo obrigado obrigada bem-vindo pergunta perguntar dizer diga saber sei desejo espero bom boa ótimo infelizmente momento favor algo mais responder repetir sorte falar conversa",
	"nl": "spijt sorry helaas horen blij fijn genoegen helpen hulp begrijp begrijpen snap dank bedankt welkom vraag vragen zeggen vertellen weten weet wens hoop goed mooi leuk jammer moment alstublieft anders iets antwoorden herhalen succes praten gesprek",
	"pl": "przykro przepraszam słyszeć cieszę miło szczęśliwy przyjemność pomóc pomoc rozumiem rozumieć dziękuję dzięki witam pytanie pytać zapytać powiedzieć wiedzieć wiem życzę mam nadzieję dobrze dobry świetnie niestety chwila chwilę proszę coś jeszcze odpowiedzieć powtórzyć rozmawiać rozmowa",
	"tr": "üzgünüm üzüldüm özür dilerim duymak duydum memnun mutlu sevindim yardım yardımcı anlıyorum anladım anlamak teşekkür teşekkürler hoş geldiniz soru sormak sorun söylemek bilmek biliyorum dilerim umarım iyi güzel harika maalesef lütfen başka bir şey cevap tekrar konuşmak",
	"zh": "抱歉 对不起 遗憾 高兴 乐意 很高兴 帮助 帮忙 帮您 明白 理解 了解 谢谢 感谢 欢迎 问题 请问 告诉 知道 希望 祝您 很好 可惜 稍等 请稍等 其他 什么 回答 重复 愉快 您好",
	"ja": "申し訳 ありません 残念 嬉しい うれしい 喜んで お手伝い 手伝い 助け わかりました 承知 ありがとう ございます いらっしゃいませ 質問 ご質問 教えて 知って 願って 良い よい 素晴らしい 少々 お待ち ください 他に ほか 何か 答え 繰り返し こんにちは どういたしまして",
	"ar": "آسف آسفة عذرا يؤسفني سماع سعيد يسعدني سرور مساعدة مساعدتك أساعدك أفهم فهمت شكرا أهلا مرحبا سؤال أسأل تسأل أخبرك أعرف أتمنى آمل جيد رائع للأسف لحظة فضلك آخر شيء أجيب أكرر نتحدث محادثة",
}

// assents are words that a courtesy may have beside its own, but that are an answer where
// they stand alone: "yes, of course".
var assents = map[string]string{
	"en": "yes no okay alright right course certainly gladly sure day evening care",
	"de": "ja nein okay richtig sicher natürlich selbstverständlich gern gerne klar tag abend",
	"fr": "oui non accord sûr certainement volontiers bien journée soirée",
	"es": "sí no claro seguro cierto bueno bien día tarde",
	"it": "sì no certo certamente volentieri bene giornata serata",
	"pt": "sim não claro certo certamente bem dia noite",
	"nl": "ja nee oké juist zeker natuurlijk graag dag avond",
	"pl": "tak nie jasne pewnie oczywiście chętnie dzień wieczór",
	"tr": "evet hayır tamam elbette tabii tabi memnuniyetle gün akşam",
	"zh": "是的 不是 可以 没问题 当然 好的",
	"ja": "はい いいえ 大丈夫 もちろん",
	"ar": "نعم لا بالتأكيد طبعا بالطبع حسنا يوم مساء",
}

var (
	courtesyWords = sync.OnceValue(func() map[string]map[string]bool { return wordsByLanguage(courtesies) })
	assentWords   = sync.OnceValue(func() map[string]map[string]bool { return wordsByLanguage(assents) })
)

func wordsByLanguage(texts map[string]string) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for language, text := range texts {
		all[language] = map[string]bool{}
		for word := range strings.FieldsSeq(text) {
			for _, t := range search.Terms(language, word) {
				all[language][t.Text] = true
			}
			all[language][lower(word)] = true
		}
	}
	return all
}

// isCourtesy says whether a sentence states nothing but that somebody listens.
func isCourtesy(language, sentence string) bool {
	courteous, assenting := courtesyWords()[base(language)], assentWords()[base(language)]
	is := false
	for _, w := range contentWords(language, sentence) {
		typed := lower(sentence[w.from:w.to])
		switch {
		case courteous[w.text], courteous[typed]:
			is = true
		case !assenting[w.text] && !assenting[typed]:
			return false
		}
	}
	return is
}

// asksBack says whether a sentence is a question.
func asksBack(sentence string) bool {
	return strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？") || strings.HasSuffix(sentence, "؟")
}
