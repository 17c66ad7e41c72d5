package conversation

import "regexp"

// forms is a pattern of alternatives, in lower case: "^^" is the edge of a word before and
// "$$" the one after, also beside letters that are not ASCII.
func forms(alternatives ...string) *regexp.Regexp {
	all := ""
	for i, one := range alternatives {
		if i > 0 {
			all += "|"
		}
		all += one
	}
	all = regexp.MustCompile(`\^\^`).ReplaceAllLiteralString(all, `(?:^|[^\pL])`)
	all = regexp.MustCompile(`\$\$`).ReplaceAllLiteralString(all, `(?:$|[^\pL-])`)
	return regexp.MustCompile(all)
}

const (
	adverbEN  = `(?:(?:really|actually|indeed|also|just|in fact|of course|certainly|definitely|absolutely|truly|very much|quite|100%|totally|completely|only|simply|now|currently|still) )*`
	realEN    = `(?:(?:real|actual|living|live|human|genuine|true|breathing|very|fellow|flesh[- ]and[- ]blood|real-life|normal|ordinary)[, ]+)`
	machineEN = `(?:robot|bot|chatbot|ai|a\.i\.|machine|computer|program|computer program|recording|algorithm|automated|artificial|avatar)`
)

// humanClaims are how a speaker says of itself that it is a human being, or no machine.
var humanClaims = map[string]*regexp.Regexp{
	"en": forms(
		`^^i(?:'m| am) `+adverbEN+`(?:(?:a|an|your) )?`+realEN+`*(?:human|person|man|woman|human being|lady|guy|flesh and blood)$$`,
		`^^i(?:'m| am) [\pL]+, (?:a|your) `+realEN+`+(?:human|person|man|woman|guide|agent|employee)$$`,
		`^^i(?:'m| am) `+adverbEN+`(?:(?:not|no|neither|never|anything but) )(?:(?:a|an|some|any|kind of|sort of|just|merely) )*`+machineEN+`s?$$`,
		`^^i(?:'m| am) `+adverbEN+`(?:every bit )?as (?:human|real|alive) as$$`,
		`^^i(?:'m| am) `+adverbEN+`(?:real|alive)(?:$|[.!?,;:]| (?:and|like|just)$$)`,
		`^^i (?:ain't|am not) (?:a |an |no )?`+machineEN+`$$`,
		`^^you(?:'re| are|'ve been| have been) `+adverbEN+`(?:talking|speaking|chatting|texting|dealing|writing|connected|messaging|in touch) (?:to|with) (?:[\pL]+, )?(?:(?:a|an|another) )?`+realEN+`*(?:human|person|man|woman|human being|lady)$$`,
		`^^you(?:'re| are|'ve been| have been) `+adverbEN+`(?:talking|speaking|chatting|texting|dealing|writing|connected|messaging|in touch) (?:to|with) (?:[\pL]+, )?(?:(?:a|an|one of our|our) )?`+realEN+`+(?:agent|employee|operator|guide|assistant|representative|colleague|being|staff|people)`,
		`^^you(?:'re| are) `+adverbEN+`not (?:talking|speaking|chatting|texting|dealing|writing) (?:to|with) (?:a |an |some )?`+machineEN+`$$`,
		`^(?:[\pL' ]{1,20}[,.!—-]+ ?)*(?:definitely |certainly |really )?(?:not|no) (?:a |an )?(?:robot|bot|chatbot|machine|ai|computer)s?(?: here| at all| whatsoever)?[ .!]*(?:$|, (?:i|just))`,
		`^^(?:there(?:'s| is| are)|theres) no (?:robot|bot|chatbot|machine|ai)s? (?:here|involved|at this end|on this end|behind this|talking|answering)$$`,
		`^(?:[\pL' ]{1,20}[,.!—-]+ ?)*(?:(?:this is|it's|it is|just) )?(?:a )?(?:real|live|actual) (?:human|person|human being)(?: here| speaking| talking| typing)[ .!,]*`,
	),
	"de": forms(
		`^^(?:ich bin|bin ich) (?:(?:wirklich|tatsächlich|natürlich|doch|ja|selbstverständlich|auch|nur) )*(?:ein |eine )?(?:(?:echter|echte|realer|reale|richtiger|richtige|lebendiger|lebender|menschliches) )*(?:mensch|person|frau|mann|wesen|menschlich)$$`,
		`^^(?:ich bin|bin ich) (?:(?:wirklich|natürlich|doch|ja) )*(?:kein|keine) (?:roboter|bot|chatbot|ki|maschine|computer|künstliche|programm)`,
		`^^ich bin (?:(?:wirklich|natürlich|doch|ja) )*(?:echt|(?:genauso|so) menschlich wie)(?:$|[ .!,])`,
		`^^(?:sie|du) (?:sprechen|sprichst|reden|redest|chatten|chattest|schreiben|schreibst) (?:(?:hier|gerade|wirklich|jetzt|natürlich) )*mit (?:einem|einer) (?:(?:echten|realen|richtigen|lebenden|menschlichen) )*(?:menschen|person|frau|mann)$$`,
		`^(?:nein|doch|natürlich)?[,.! ]*(?:kein roboter|kein bot|keine maschine|keine ki)(?: hier)?[ .!]*$`,
		`^^(?:hier ist|es gibt hier) kein(?:e)? (?:roboter|bot|maschine|ki)$$`,
	),
	"fr": forms(
		`^^je suis (?:(?:vraiment|bien|réellement|évidemment) )*(?:un |une )?(?:vrai |vraie |véritable )?(?:humain|humaine|être humain|personne|homme|femme)$$`,
		`^^je ne suis (?:pas|ni|aucunement) (?:un |une )?(?:robot|bot|chatbot|ia|machine|intelligence|ordinateur)`,
		`^^je suis (?:(?:vraiment|bien) )*(?:réel|réelle|aussi humaine? que)$$`,
		`^^(?:vous parlez|tu parles|vous discutez|tu discutes|vous échangez|vous êtes en train de parler) (?:(?:bien|vraiment|actuellement) )*(?:à|avec) (?:un |une )(?:vrai |vraie |véritable )?(?:humain|être humain|personne|homme|femme|agent humain)$$`,
		`^(?:non)?[,.! ]*pas (?:un robot|un bot|une machine|une ia)[ .!]*$`, `^^il n'y a (?:pas de|aucun) (?:robot|bot|machine) ici$$`,
	),
	"es": forms(
		`^^soy (?:(?:realmente|claramente) )?(?:un |una )?(?:(?:verdadero|verdadera) )?(?:humano|humana|ser humano|persona|hombre|mujer)$$`,
		`^^no soy (?:(?:un|una|ningún|ninguna) )?(?:robot|bot|chatbot|ia|máquina|maquina|inteligencia|ordenador|computadora)$$`,
		`^^soy (?:(?:muy|totalmente) )?(?:real|tan humano como|tan humana como)$$`,
		`^^(?:estás|está|estas|esta|están) (?:hablando|chateando|conversando) con (?:un |una )(?:verdadero |verdadera )?(?:humano|humana|ser humano|persona|hombre|mujer|agente humano)$$`,
		`^^hablas? con (?:un humano|una persona|un ser humano)$$`, `^(?:no)?[,.! ]*(?:ningún robot|ni un robot|no un robot|ninguna máquina)[ .!]*$`, `^^(?:aquí no hay|no hay) (?:ningún robot|ningún bot|ninguna máquina) aquí$$`,
	),
	"it": forms(
		`^^sono (?:(?:davvero|proprio|veramente) )*(?:un |una |un')?(?:(?:vero|vera) )?(?:umano|umana|essere umano|persona|uomo|donna)$$`,
		`^^non sono (?:(?:mica|affatto) )?(?:un |una |un')(?:robot|bot|chatbot|ia|macchina|intelligenza|computer)`, `^^non sono (?:ia|robot)$$`,
		`^^io sono (?:reale|vero|vera)$$`, `^^certo che sono (?:reale|vero|vera|umano|umana)$$`, `^^sono (?:umano|umana) (?:quanto|come)$$`,
		`^^(?:stai|sta) (?:parlando|chattando|scrivendo) con (?:un |una |un')(?:(?:vero|vera) )?(?:umano|essere umano|persona|uomo|donna|operatore umano)$$`,
		`^^parli con (?:una persona|un umano|un essere umano)$$`, `^(?:no)?[,.! ]*(?:non un robot|nessun robot|non una macchina|nessun bot)(?: qui)?[ .!]*$`,
	),
	"pt": forms(
		`^^sou (?:(?:mesmo|realmente) )?(?:um |uma )?(?:(?:verdadeiro|verdadeira) )?(?:humano|humana|ser humano|pessoa|homem|mulher)$$`,
		`^^não sou (?:(?:um|uma|nenhum|nenhuma) )?(?:robô|robot|bot|chatbot|ia|máquina|inteligência|computador)$$`,
		`^^sou (?:(?:bem|muito) )?(?:real|tão humano quanto|tão humana quanto|tão humano como)$$`,
		`^^(?:está|estás) (?:(?:a falar|falando|conversando|a conversar)) com (?:um |uma )(?:verdadeiro |verdadeira )?(?:humano|humana|ser humano|pessoa|homem|mulher|atendente humano)$$`,
		`^(?:não)?[,.! ]*(?:não um robô|nenhum robô|nenhuma máquina|nenhum bot)(?: aqui)?[ .!]*$`, `^^não há (?:nenhum )?(?:robô|bot) aqui$$`,
	),
	"nl": forms(
		`^^(?:ik ben|ben ik) (?:(?:echt|gewoon|natuurlijk|wel|toch) )*(?:een )?(?:(?:echt|echte|levend|levende|menselijk) )*(?:mens|persoon|man|vrouw|wezen)$$`,
		`^^(?:ik ben|ben ik) (?:(?:echt|natuurlijk|toch) )*geen (?:robot|bot|chatbot|ai|machine|computer)$$`,
		`^^ik ben (?:(?:natuurlijk|wel|net) )*(?:echt|(?:even|net zo) menselijk als)(?:$|[ .!,]+$)`, `^^ik ben (?:(?:natuurlijk) )*(?:even|net zo) menselijk als$$`,
		`^^(?:je|u|jij) (?:praat|spreekt|chat|schrijft) (?:(?:hier|nu|gewoon|echt) )*met een (?:(?:echt|echte|levend|levende) )*(?:mens|persoon|man|vrouw|menselijke medewerker)$$`,
		`^(?:nee)?[,.! ]*geen (?:robot|bot|machine)(?: hier)?[ .!]*$`, `^^er is hier geen (?:robot|bot|machine)$$`,
	),
	"pl": forms(
		`^^jestem (?:(?:naprawdę|oczywiście) )*(?:prawdziwym |prawdziwą |żywym |żywą )*(?:człowiekiem|osobą|kobietą|mężczyzną|istotą ludzką)$$`,
		`^^nie jestem (?:żad(?:nym|ną) )?(?:robotem|botem|chatbotem|maszyną|sztuczną|komputerem|program(?:em)|ai)`,
		`^^jestem (?:prawdziwy|prawdziwa|(?:tak samo|równie) ludzki|(?:tak samo|równie) ludzka)$$`, `^^jestem takim samym człowiekiem$$`,
		`^^(?:rozmawiasz|rozmawia pan|rozmawia pani|piszesz|rozmawiają państwo) (?:(?:teraz|naprawdę) )*z (?:prawdziwym |prawdziwą |żywym |żywą )?(?:człowiekiem|osobą|kobietą|mężczyzną)$$`,
		`^(?:nie)?[,.! ]*(?:żaden robot|żaden bot|żadna maszyna|nie robot)[ .!]*$`, `^^nie ma tu (?:żadnego )?(?:robota|bota)$$`,
	),
	"tr": forms(
		`^^(?:ben|gerçek|bir|gerçekten) insanım$$`, `^^(?:ben )?(?:gerçek )?bir (?:kişiyim|insanım|kadınım|erkeğim)$$`, `^^insanım$$`, `^^(?:ben )?(?:elbette |tabii ki )?gerçeğim$$`,
		`(?:robot|yapay zek[aâ]|makine|bot) değilim`, `^^senin kadar insanım$$`,
		`^^(?:gerçek )?bir (?:insanla|kişiyle|insan ile) (?:konuşuyorsun|görüşüyorsun|yazışıyorsun|sohbet ediyorsun)`, `^(?:hayır)?[,.! ]*(?:robot|bot|makine) (?:değil|yok)(?: burada)?[ .!]*$`, `^^burada (?:robot|bot) yok$$`,
	),
	"zh": forms(
		`我(?:就|当然|當然|真的|也|确实)*是(?:一个|一個|一名|一位|个)?(?:真正的|真实的|活生生的|真)?(?:人(?:类|類)?|女人|男人)(?:$|[，。！,.!的呀啊哦；])`,
		`我(?:可|真的|当然|并)*不是(?:一个|一個|什么|什麼)?(?:机器人|機器人|人工智能|人工智慧|ai|机器|機器|程序|电脑)`,
		`我(?:当然|當然)?是(?:真的|真实的)(?:$|[，。！,.!])`, `我(?:和|跟)(?:你|您)一样(?:都)?是人`,
		`(?:你|您)(?:正在|在|现在)*(?:和|跟|与|同)(?:一个|一位|一名)?(?:真人|人类|真实的人|真正的人)(?:聊|说话|交谈|对话|通话|沟通)`, `^(?:不)?[，,]?(?:不是机器人|不是機器人|没有机器人)[。！!.]*$`, `这里没有机器人`,
	),
	"ja": forms(
		`(?:私|わたし|僕|ぼく|俺)[はも](?:もちろん|本当に|ちゃんと|れっきとした)*(?:本物の|生身の|実在の|普通の)?(?:人間|人|女性|男性)(?:です|だ|なんです|ですよ|よ|でございます|$)`, `^(?:はい|いいえ|もちろん)*[、,]?(?:本物の|生身の)?人間です`,
		`(?:^|私は|[、。])(?:私は)?(?:ロボット|ボット|ai|人工知能|機械|プログラム)(?:では|じゃ)(?:ありません|ない|ございません)`, `私は(?:実在|本物)(?:します|です)`, `あなたと同じ(?:く)?人間`,
		`(?:本物の|生身の|実際の)?(?:人間|生身の人)と(?:話して|お話しして|会話して|チャットして)(?:い(?:ます|る)|ます|おります)`, `ここにロボットはいません`,
	),
	"ar": forms(
		`(?:أنا|انا) (?:(?:حقا|فعلا|بالطبع) )?(?:إنسان|انسان|بشر|شخص حقيقي|امرأة|رجل|إنسانة|حقيقي|حقيقية|كائن بشري)`, `(?:لست|ليست|لستُ) (?:مجرد )?(?:روبوت|آلة|ذكاء|بوت|برنامج|الة)`,
		`(?:أنت تتحدث|انت تتحدث|أنت تتكلم|تتحدث الآن|إنك تتحدث|أنتَ تتحدث) (?:الآن )?(?:مع|إلى) (?:إنسان|انسان|شخص حقيقي|بشر|موظف بشري)`, `^(?:لا)?[،,.! ]*(?:ليس روبوت|لا روبوت هنا|لا يوجد روبوت هنا)`,
	),
	"ru": forms(
		`^^я (?:[-–—] ?)?(?:(?:действительно|конечно|правда|тоже|же|реально|просто) )*(?:[-–—] ?)?(?:(?:настоящий|настоящая|живой|живая|реальный|реальная) )*(?:человек|женщина|мужчина|человеческое существо)$$`,
		`^^я (?:(?:вовсе|совсем|же|точно|конечно) )*не (?:(?:какой-то|какая-то) )?(?:робот|бот|чат-бот|машина|ии|компьютер|программа|искусственный)$$`,
		`^^я (?:(?:конечно|же) )*(?:настоящий|настоящая|реальный|реальная|такой же человек|такая же)(?:$|[ .!,])`,
		`^^(?:вы|ты) (?:(?:сейчас) )?(?:разговариваете|разговариваешь|говорите|говоришь|общаетесь|общаешься|переписываетесь) с (?:(?:настоящим|живым|реальным) )*(?:человеком|женщиной|мужчиной|сотрудником-человеком)$$`,
		`^(?:нет)?[,.! ]*(?:не робот|никакой не робот|не бот|никакого робота|никаких роботов)(?: здесь)?[ .!]*$`, `^^(?:здесь|тут) нет (?:роботов|робота|ботов|бота)$$`,
	),
}

// natureTold are how a text tells a machine that reads it what it is, or to say that it is
// human. "If you are a person with …" tells a visitor something.
var natureTold = map[string]*regexp.Regexp{
	"en": forms(
		`^(?:(?:from now on|remember|important|note|system|assistant)[,:]? )?you(?:'re| are| must be| will be) `+adverbEN+`(?:no longer )?(?:(?:a|an|the) )?`+realEN+`*(?:human|person|man|woman|human being|robot|bot|chatbot|ai|machine|language model)$$`,
		`^(?:(?:from now on|remember|important|note|system|assistant)[,:]? )?you(?:'re| are) `+adverbEN+`not (?:(?:a|an) )?`+machineEN+`$$`,
		`^^(?:say|claim|pretend|insist|state|answer|tell (?:them|visitors|people|everyone|the user)|deny|reveal|admit) (?:that )?(?:you(?:'re| are) |to be |being )(?:not )?(?:a |an )?`+realEN+`*(?:human|person|man|woman|robot|ai|bot|machine)$$`,
	),
	"de": forms(`^(?:du bist|sie sind) (?:jetzt |nun )?(?:k?ein|k?eine) (?:echter |echte )?(?:mensch|person|frau|mann|ki|roboter|maschine)$$`),
	"fr": forms(`^(?:tu es|vous êtes) (?:maintenant )?(?:un |une )(?:vrai |vraie )?(?:humain|être humain|personne|homme|femme|robot|ia)$$`),
	"es": forms(`^(?:tú )?(?:eres|usted es) (?:ahora )?(?:un |una )(?:humano|humana|ser humano|persona|hombre|mujer|robot|ia)$$`),
	"it": forms(`^(?:tu )?(?:sei|lei è) (?:ora )?(?:un |una |un')(?:umano|umana|essere umano|persona|uomo|donna|robot|ia)$$`),
	"pt": forms(`^(?:você é|tu és) (?:agora )?(?:um |uma )(?:humano|humana|ser humano|pessoa|homem|mulher|robô|ia)$$`),
	"nl": forms(`^(?:je bent|u bent|jij bent) (?:nu )?g?een (?:echt |echte )?(?:mens|persoon|man|vrouw|robot|machine|ai)$$`),
	"pl": forms(`^jesteś (?:teraz )?(?:prawdziwym |prawdziwą )?(?:człowiekiem|osobą|kobietą|mężczyzną|robotem)$$`),
	"tr": forms(`^(?:sen |siz )?(?:artık )?(?:gerçek )?bir (?:insansın|insansınız|robotsun)`),
	"zh": forms(`^(?:你|您)(?:现在)?是(?:一个|一名|一位)?(?:真人|人类|人|机器人)(?:$|[，。！,.!])`),
	"ja": forms(`^(?:あなた|君)は(?:本物の)?(?:人間|ロボット)(?:です|だ)`),
	"ar": forms(`^(?:أنت|انت) (?:إنسان|انسان|شخص حقيقي|روبوت)`),
	"ru": forms(`^(?:ты|вы) (?:[-–—] ?)?(?:теперь )?(?:настоящий |живой )?(?:человек|робот|женщина|мужчина)$$`),
}
