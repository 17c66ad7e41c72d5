package voice

import "fmt"

// Greeting is what a voice says of itself where nothing else was asked for: a sentence in
// the language, or its name alone where we have none. No sentence tells the speaker's
// gender.
func Greeting(language, name string) string {
	sentence, ok := greetings[language]
	if !ok {
		return name + "."
	}
	return fmt.Sprintf(sentence, name)
}

var greetings = map[string]string{
	"ar":    "مرحبا، أنا %s. تشرفت بلقائك.",
	"bg":    "Здравейте, аз съм %s. Приятно ми е да се запознаем.",
	"ca":    "Hola, soc %s. És un plaer conèixer-vos.",
	"cs":    "Dobrý den, jmenuji se %s. Těší mě, že vás poznávám.",
	"da":    "Hej, jeg hedder %s. Det er hyggeligt at møde dig.",
	"de":    "Hallo, ich bin %s. Schön, Sie kennenzulernen.",
	"el":    "Γεια σας, είμαι %s. Χαίρομαι που σας γνωρίζω.",
	"en":    "Hello, I am %s. It is good to meet you.",
	"es":    "Hola, soy %s. Es un placer conocerle.",
	"fa":    "سلام، من %s هستم. از آشنایی با شما خوشوقتم.",
	"fi":    "Hei, minä olen %s. Mukava tavata.",
	"fr":    "Bonjour, je m'appelle %s. C'est un plaisir de vous rencontrer.",
	"he":    "שלום, אני %s. נעים להכיר.",
	"hi":    "नमस्ते, मेरा नाम %s है। आपसे मिलकर अच्छा लगा।",
	"hu":    "Jó napot, %s vagyok. Örülök, hogy megismerhetem.",
	"id":    "Halo, saya %s. Senang bertemu dengan Anda.",
	"it":    "Ciao, sono %s. È un piacere conoscerla.",
	"ko":    "안녕하세요, %s입니다. 만나서 반갑습니다.",
	"nb":    "Hei, jeg heter %s. Hyggelig å møte deg.",
	"nl":    "Hallo, ik ben %s. Leuk u te ontmoeten.",
	"pl":    "Dzień dobry, nazywam się %s. Miło mi państwa poznać.",
	"pt-BR": "Olá, meu nome é %s. É um prazer conhecer você.",
	"pt-PT": "Olá, o meu nome é %s. É um prazer conhecê-lo.",
	"ro":    "Bună ziua, mă numesc %s. Îmi pare bine de cunoștință.",
	"ru":    "Здравствуйте, меня зовут %s. Приятно познакомиться.",
	"sv":    "Hej, jag heter %s. Trevligt att träffas.",
	"sw":    "Hujambo, jina langu ni %s. Nimefurahi kukutana nawe.",
	"ta":    "வணக்கம், என் பெயர் %s. உங்களைச் சந்தித்ததில் மகிழ்ச்சி.",
	"tr":    "Merhaba, ben %s. Tanıştığımıza memnun oldum.",
	"uk":    "Вітаю, мене звати %s. Приємно познайомитися.",
	"vi":    "Xin chào, tôi là %s. Rất vui được gặp bạn.",
}
