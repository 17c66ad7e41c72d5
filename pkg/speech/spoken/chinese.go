package spoken

import (
	"regexp"
	"strings"
)

// readings are words with a character that has several readings, of which the engine takes the wrong one, in the
// pinyin that it reads.
var readings = map[string]string{
	"银行": "yin2hang2", "銀行": "yin2hang2", "行业": "hang2ye4", "行業": "hang2ye4", "音乐": "yin1yue4", "音樂": "yin1yue4", "乐器": "yue4qi4",
	"樂器": "yue4qi4", "长大": "zhang3da4", "長大": "zhang3da4", "校长": "xiao4zhang3", "校長": "xiao4zhang3", "院长": "yuan4zhang3",
	"院長": "yuan4zhang3", "馆长": "guan3zhang3", "館長": "guan3zhang3", "家长": "jia1zhang3", "家長": "jia1zhang3", "成长": "cheng2zhang3",
	"成長": "cheng2zhang3", "重新": "chong2xin1", "重复": "chong2fu4", "重複": "chong2fu4", "睡觉": "shui4jiao4", "睡覺": "shui4jiao4",
	"得到": "de2dao4", "便宜": "pian2yi5", "假期": "jia4qi1", "放假": "fang4jia4", "休假": "xiu1jia4", "目的": "mu4di4", "的确": "di2que4",
	"的確": "di2que4", "地方": "di4fang5", "着急": "zhao2ji2", "著急": "zhao2ji2", "了解": "liao3jie3", "瞭解": "liao3jie3", "认为": "ren4wei2",
	"認為": "ren4wei2", "会计": "kuai4ji4", "會計": "kuai4ji4", "出差": "chu1chai1", "角色": "jue2se4", "厦门": "xia4men2", "廈門": "xia4men2",
	"重庆": "chong2qing4", "重慶": "chong2qing4", "调整": "tiao2zheng3", "調整": "tiao2zheng3", "空调": "kong1tiao2", "空調": "kong1tiao2",
	"几乎": "ji1hu1", "幾乎": "ji1hu1", "种植": "zhong4zhi2", "種植": "zhong4zhi2", "处理": "chu3li3", "處理": "chu3li3", "行李": "xing2li5",
	"大夫": "dai4fu5", "西藏": "xi1zang4", "宝藏": "bao3zang4", "寶藏": "bao3zang4", "模样": "mu2yang4", "模樣": "mu2yang4", "自传": "zi4zhuan4",
	"自傳": "zi4zhuan4",
}

// mandarin are the rules of Chinese.
var mandarin = []rule{
	{match: regexp.MustCompile(strings.Join(longestFirst(readings), "|")), say: func(g []string) string { return readings[g[0]] }},
	{match: regexp.MustCompile(`(\d{4})年`), say: func(g []string) string { return chinese(g[1]) + "年" }},
}

// chinese are the digits of a year, which is not read as a number.
func chinese(year string) string {
	return strings.NewReplacer("0", "零", "1", "一", "2", "二", "3", "三", "4", "四", "5", "五", "6", "六", "7", "七", "8", "八", "9", "九").Replace(year)
}
