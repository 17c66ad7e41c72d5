package spoken

// lexicon is how a language says what stands for words.
type lexicon struct {
	at, dot, dash, slash string
	percent, and, degree string
	// percentFirst says that the word for % comes before the number.
	percentFirst bool
	oClock       string // between an hour and its minutes; empty to read them one after the other
	whole        string // after an hour without minutes
	// money are a currency's units, for one and for more, by its sign.
	money map[string][2]string
	// cents is what joins the hundredths to the units; the engine reads the number.
	join string
	// units are of measures, by their signs.
	units map[string]string
	// short are abbreviations as they are written, with their full stops.
	short map[string]string
	// until is between the ends of a range, and plus before the code of a country.
	until, plus string
	// date is how a {day}, a {month} and a {year} are said, and months are from January on, as they stand there; numeric
	// is how dates are written in figures.
	date, months string
	// ordinal is how the day of a date is said, and year its year; nil for as a number.
	ordinal func(day int) string
	year    func(year string) string
	numeric order
}

// order is how a language writes dates in figures.
type order int

const (
	dots     order = iota + 1 // 26.11.2026
	slashes                   // 26/11/2026
	american                  // 11/26/2026
	dashes                    // 26-11-2026
)

var lexicons = map[string]lexicon{
	"en": {
		at: "at", dot: "dot", dash: "dash", slash: "slash", percent: "percent", and: "and", degree: "degrees",
		whole: "o'clock", join: "and",
		money: map[string][2]string{"$": {"dollar", "dollars"}, "€": {"euro", "euros"}, "£": {"pound", "pounds"}, "¥": {"yen", "yen"}},
		units: map[string]string{
			"km": "kilometers", "m": "meters", "cm": "centimeters", "mm": "millimeters", "kg": "kilograms", "g": "grams", "mg": "milligrams",
			"l": "liters", "ml": "milliliters", "km/h": "kilometers per hour", "mph": "miles per hour", "GB": "gigabytes", "MB": "megabytes",
			"kWh": "kilowatt hours", "m²": "square meters", "min": "minutes", "h": "hours", "°C": "degrees Celsius", "°F": "degrees Fahrenheit", "°": "degrees",
		},
		short: map[string]string{
			"e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "approx.": "approximately", "vs.": "versus", "incl.": "including",
			"Dr.": "Doctor", "Mr.": "Mister", "Mrs.": "Missis", "Ms.": "Miz", "Prof.": "Professor", "a.m.": "AM", "p.m.": "PM",
		},
		until: "to", plus: "plus", date: "{month} {day}, {year}", numeric: american, ordinal: english,
		months: "January February March April May June July August September October November December",
	},
	"de": {
		at: "ät", dot: "Punkt", dash: "Bindestrich", slash: "Schrägstrich", percent: "Prozent", and: "und", degree: "Grad",
		oClock: "Uhr", whole: "Uhr", join: "",
		money: map[string][2]string{"$": {"Dollar", "Dollar"}, "€": {"Euro", "Euro"}, "£": {"Pfund", "Pfund"}, "¥": {"Yen", "Yen"}},
		units: map[string]string{
			"km": "Kilometer", "m": "Meter", "cm": "Zentimeter", "mm": "Millimeter", "kg": "Kilogramm", "g": "Gramm", "mg": "Milligramm",
			"l": "Liter", "ml": "Milliliter", "km/h": "Kilometer pro Stunde", "GB": "Gigabyte", "MB": "Megabyte", "kWh": "Kilowattstunden",
			"m²": "Quadratmeter", "Min.": "Minuten", "Std.": "Stunden", "°C": "Grad Celsius", "°": "Grad",
		},
		short: map[string]string{
			"z. B.": "zum Beispiel", "z.B.": "zum Beispiel", "d. h.": "das heißt", "d.h.": "das heißt", "u. a.": "unter anderem", "u.a.": "unter anderem",
			"usw.": "und so weiter", "bzw.": "beziehungsweise", "ca.": "circa", "inkl.": "inklusive", "Dr.": "Doktor", "Prof.": "Professor",
			"Nr.": "Nummer", "Str.": "Straße", "Tel.": "Telefon", "evtl.": "eventuell", "ggf.": "gegebenenfalls", "zzgl.": "zuzüglich", "max.": "maximal", "min.": "minimal",
		},
		until: "bis", plus: "plus", date: "{day} {month} {year}", numeric: dots, ordinal: german,
		months: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
	},
	"fr": {
		at: "arobase", dot: "point", dash: "tiret", slash: "barre oblique", percent: "pour cent", and: "et", degree: "degrés",
		oClock: "heures", whole: "heures", join: "",
		money: map[string][2]string{"$": {"dollar", "dollars"}, "€": {"euro", "euros"}, "£": {"livre", "livres"}},
		units: map[string]string{"km": "kilomètres", "m": "mètres", "cm": "centimètres", "kg": "kilogrammes", "g": "grammes", "l": "litres", "km/h": "kilomètres à l'heure", "m²": "mètres carrés", "°C": "degrés Celsius", "°": "degrés"},
		short: map[string]string{"M.": "Monsieur", "Mme": "Madame", "Mlle": "Mademoiselle", "p. ex.": "par exemple", "etc.": "et cetera", "env.": "environ", "n°": "numéro", "Dr": "Docteur"}, //nolint:misspell // French
		until: "à", plus: "plus", date: "{day} {month} {year}", numeric: slashes, ordinal: french,
		months: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
	},
	"es": {
		at: "arroba", dot: "punto", dash: "guion", slash: "barra", percent: "por ciento", and: "y", degree: "grados",
		join:  "con",
		money: map[string][2]string{"$": {"dólar", "dólares"}, "€": {"euro", "euros"}, "£": {"libra", "libras"}},
		units: map[string]string{"km": "kilómetros", "m": "metros", "cm": "centímetros", "kg": "kilogramos", "g": "gramos", "l": "litros", "km/h": "kilómetros por hora", "m²": "metros cuadrados", "°C": "grados Celsius", "°": "grados"},
		short: map[string]string{"p. ej.": "por ejemplo", "etc.": "etcétera", "Sr.": "señor", "Sra.": "señora", "Dr.": "doctor", "Dra.": "doctora", "Ud.": "usted", "Uds.": "ustedes", "n.º": "número"},
		until: "a", plus: "más", date: "{day} de {month} de {year}", numeric: slashes,
		months: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	},
	"it": {
		at: "chiocciola", dot: "punto", dash: "trattino", slash: "barra", percent: "per cento", and: "e", degree: "gradi",
		oClock: "e", join: "e",
		money: map[string][2]string{"$": {"dollaro", "dollari"}, "€": {"euro", "euro"}, "£": {"sterlina", "sterline"}},
		units: map[string]string{"km": "chilometri", "m": "metri", "cm": "centimetri", "kg": "chili", "g": "grammi", "l": "litri", "km/h": "chilometri orari", "m²": "metri quadrati", "°C": "gradi", "°": "gradi"},
		short: map[string]string{"ad es.": "ad esempio", "p. es.": "per esempio", "ecc.": "eccetera", "Sig.": "signor", "Sig.ra": "signora", "Dott.": "dottor", "n.": "numero"},
		until: "a", plus: "più", date: "{day} {month} {year}", numeric: slashes,
		months: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
	},
	"pt": {
		at: "arroba", dot: "ponto", dash: "hífen", slash: "barra", percent: "por cento", and: "e", degree: "graus",
		oClock: "e", whole: "horas", join: "e",
		money: map[string][2]string{"R$": {"real", "reais"}, "$": {"dólar", "dólares"}, "€": {"euro", "euros"}, "£": {"libra", "libras"}},
		units: map[string]string{"km": "quilômetros", "m": "metros", "cm": "centímetros", "kg": "quilos", "g": "gramas", "l": "litros", "km/h": "quilômetros por hora", "m²": "metros quadrados", "min": "minutos", "h": "horas", "°C": "graus Celsius", "°": "graus"},
		short: map[string]string{"p. ex.": "por exemplo", "etc.": "et cétera", "Sr.": "senhor", "Sra.": "senhora", "Dr.": "doutor", "Dra.": "doutora", "n.º": "número", "tel.": "telefone"},
		until: "a", plus: "mais", date: "{day} de {month} de {year}", numeric: slashes,
		months: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
	},
	"nl": {
		at: "apenstaartje", dot: "punt", dash: "streepje", slash: "schuine streep", percent: "procent", and: "en", degree: "graden",
		oClock: "uur", whole: "uur", join: "",
		money: map[string][2]string{"$": {"dollar", "dollar"}, "€": {"euro", "euro"}, "£": {"pond", "pond"}},
		units: map[string]string{"km": "kilometer", "m": "meter", "cm": "centimeter", "kg": "kilo", "g": "gram", "l": "liter", "km/u": "kilometer per uur", "m²": "vierkante meter", "min": "minuten", "°C": "graden Celsius", "°": "graden"},
		short: map[string]string{"bijv.": "bijvoorbeeld", "d.w.z.": "dat wil zeggen", "enz.": "enzovoort", "incl.": "inclusief", "excl.": "exclusief", "ca.": "circa", "dhr.": "de heer", "mevr.": "mevrouw", "nr.": "nummer", "tel.": "telefoon"},
		until: "tot", plus: "plus", date: "{day} {month} {year}", numeric: dashes,
		months: "januari februari maart april mei juni juli augustus september oktober november december",
	},
	"pl": {
		at: "małpa", dot: "kropka", dash: "myślnik", slash: "ukośnik", percent: "procent", and: "i", degree: "stopni",
		money: map[string][2]string{"zł": {"złoty", "złotych"}, "$": {"dolar", "dolarów"}, "€": {"euro", "euro"}, "£": {"funt", "funtów"}},
		units: map[string]string{"km": "kilometrów", "m": "metrów", "cm": "centymetrów", "kg": "kilogramów", "g": "gramów", "l": "litrów", "km/h": "kilometrów na godzinę", "m²": "metrów kwadratowych", "min": "minut", "°C": "stopni Celsjusza", "°": "stopni"},
		short: map[string]string{"np.": "na przykład", "tzn.": "to znaczy", "itd.": "i tak dalej", "ul.": "ulica", "godz.": "godzina", "tel.": "telefon", "ok.": "około", "nr": "numer"},
		until: "do", plus: "plus", date: "{day} {month} {year}", numeric: dots,
		months: "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
	},
	"tr": {
		at: "et", dot: "nokta", dash: "tire", slash: "eğik çizgi", percent: "yüzde", percentFirst: true, and: "ve", degree: "derece",
		money: map[string][2]string{"₺": {"lira", "lira"}, "TL": {"lira", "lira"}, "$": {"dolar", "dolar"}, "€": {"avro", "avro"}, "£": {"sterlin", "sterlin"}},
		units: map[string]string{"km": "kilometre", "m": "metre", "cm": "santimetre", "kg": "kilogram", "g": "gram", "l": "litre", "km/sa": "kilometre saat", "m²": "metrekare", "dk": "dakika", "°C": "derece", "°": "derece"},
		short: map[string]string{"vb.": "ve benzeri", "vs.": "vesaire", "örn.": "örneğin", "Dr.": "doktor", "Prof.": "profesör", "tel.": "telefon"},
		until: "ile", plus: "artı", date: "{day} {month} {year}", numeric: dots,
		months: "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
	},
	"sv": {
		at: "snabel-a", dot: "punkt", dash: "bindestreck", slash: "snedstreck", percent: "procent", and: "och", degree: "grader",
		money: map[string][2]string{"kr": {"krona", "kronor"}, "$": {"dollar", "dollar"}, "€": {"euro", "euro"}, "£": {"pund", "pund"}},
		units: map[string]string{"km": "kilometer", "m": "meter", "cm": "centimeter", "kg": "kilo", "g": "gram", "l": "liter", "km/h": "kilometer i timmen", "m²": "kvadratmeter", "min": "minuter", "°C": "grader", "°": "grader"},
		short: map[string]string{"t.ex.": "till exempel", "d.v.s.": "det vill säga", "osv.": "och så vidare", "ca": "cirka", "bl.a.": "bland annat", "tel.": "telefon", "kl.": "klockan"},
		until: "till", plus: "plus", date: "{day} {month} {year}", numeric: dots,
		months: "januari februari mars april maj juni juli augusti september oktober november december",
	},
	"da": {
		at: "snabel-a", dot: "punktum", dash: "bindestreg", slash: "skråstreg", percent: "procent", and: "og", degree: "grader",
		money: map[string][2]string{"kr.": {"krone", "kroner"}, "kr": {"krone", "kroner"}, "$": {"dollar", "dollar"}, "€": {"euro", "euro"}, "£": {"pund", "pund"}},
		units: map[string]string{"km": "kilometer", "m": "meter", "cm": "centimeter", "kg": "kilo", "g": "gram", "l": "liter", "km/t": "kilometer i timen", "m²": "kvadratmeter", "min.": "minutter", "°C": "grader", "°": "grader"},
		short: map[string]string{"f.eks.": "for eksempel", "dvs.": "det vil sige", "osv.": "og så videre", "ca.": "cirka", "bl.a.": "blandt andet", "tlf.": "telefon", "kl.": "klokken"},
		until: "til", plus: "plus", date: "{day}. {month} {year}", numeric: dots,
		months: "januar februar marts april maj juni juli august september oktober november december",
	},
	"nb": {
		at: "krøllalfa", dot: "punktum", dash: "bindestrek", slash: "skråstrek", percent: "prosent", and: "og", degree: "grader",
		money: map[string][2]string{"kr": {"krone", "kroner"}, "$": {"dollar", "dollar"}, "€": {"euro", "euro"}, "£": {"pund", "pund"}},
		units: map[string]string{"km": "kilometer", "m": "meter", "cm": "centimeter", "kg": "kilo", "g": "gram", "l": "liter", "km/t": "kilometer i timen", "m²": "kvadratmeter", "min": "minutter", "°C": "grader", "°": "grader"},
		short: map[string]string{"f.eks.": "for eksempel", "dvs.": "det vil si", "osv.": "og så videre", "ca.": "cirka", "bl.a.": "blant annet", "tlf.": "telefon", "kl.": "klokken"},
		until: "til", plus: "pluss", date: "{day}. {month} {year}", numeric: dots,
		months: "januar februar mars april mai juni juli august september oktober november desember",
	},
	"cs": {
		at: "zavináč", dot: "tečka", dash: "pomlčka", slash: "lomítko", percent: "procent", and: "a", degree: "stupňů",
		money: map[string][2]string{"Kč": {"koruna", "korun"}, "$": {"dolar", "dolarů"}, "€": {"euro", "eur"}, "£": {"libra", "liber"}},
		units: map[string]string{"km": "kilometrů", "m": "metrů", "cm": "centimetrů", "kg": "kilogramů", "g": "gramů", "l": "litrů", "km/h": "kilometrů za hodinu", "m²": "metrů čtverečních", "min": "minut", "°C": "stupňů Celsia", "°": "stupňů"},
		short: map[string]string{"např.": "například", "tj.": "to jest", "atd.": "a tak dále", "tzn.": "to znamená", "cca": "cirka", "tel.": "telefon", "č.": "číslo"},
		until: "až", plus: "plus", date: "{day}. {month} {year}", numeric: dots,
		months: "ledna února března dubna května června července srpna září října listopadu prosince",
	},
	"ru": {
		at: "собака", dot: "точка", dash: "дефис", slash: "слэш", percent: "процентов", and: "и", degree: "градусов",
		money: map[string][2]string{"₽": {"рубль", "рублей"}, "$": {"доллар", "долларов"}, "€": {"евро", "евро"}, "£": {"фунт", "фунтов"}},
		units: map[string]string{"км": "километров", "м": "метров", "см": "сантиметров", "кг": "килограммов", "г": "граммов", "л": "литров", "км/ч": "километров в час", "м²": "квадратных метров", "мин": "минут", "°C": "градусов", "°": "градусов"},
		short: map[string]string{"т. е.": "то есть", "т.е.": "то есть", "и т. д.": "и так далее", "и т.д.": "и так далее", "напр.": "например", "ул.": "улица", "тел.": "телефон"},
		until: "до", plus: "плюс", date: "{day} {month} {year} года", numeric: dots,
		months: "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
	},
	"uk": {
		at: "равлик", dot: "крапка", dash: "дефіс", slash: "слеш", percent: "відсотків", and: "і", degree: "градусів",
		money: map[string][2]string{"₴": {"гривня", "гривень"}, "$": {"долар", "доларів"}, "€": {"євро", "євро"}, "£": {"фунт", "фунтів"}},
		units: map[string]string{"км": "кілометрів", "м": "метрів", "см": "сантиметрів", "кг": "кілограмів", "г": "грамів", "л": "літрів", "км/год": "кілометрів на годину", "м²": "квадратних метрів", "хв": "хвилин", "°C": "градусів", "°": "градусів"},
		short: map[string]string{"напр.": "наприклад", "і т. д.": "і так далі", "вул.": "вулиця", "тел.": "телефон"},
		until: "до", plus: "плюс", date: "{day} {month} {year} року", numeric: dots,
		months: "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
	},
	"zh": {
		at: "艾特", dot: "点", dash: "横杠", slash: "斜杠", percent: "百分之", percentFirst: true, and: "和", degree: "度",
		oClock: "点", whole: "点", join: "",
		money: map[string][2]string{"¥": {"元", "元"}, "￥": {"元", "元"}, "$": {"美元", "美元"}, "€": {"欧元", "欧元"}, "£": {"英镑", "英镑"}},
		units: map[string]string{"km": "公里", "m": "米", "cm": "厘米", "kg": "公斤", "g": "克", "l": "升", "km/h": "公里每小时", "m²": "平方米", "°C": "摄氏度", "°": "度"},
		until: "到", plus: "加", date: "{year}年{month}月{day}日", year: chinese, months: "1 2 3 4 5 6 7 8 9 10 11 12",
	},
}
