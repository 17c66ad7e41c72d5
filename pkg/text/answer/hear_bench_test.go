package answer

import "testing"

func BenchmarkHear(b *testing.B) {
	Load()
	for name, text := range map[string]string{
		"question": "What does a family ticket cost on Sundays, and is the parking free for visitors?", "long": "Hello, I wrote to you last week about the course for beginners and nobody answered yet, so I would like to know whether there is still room for two of us in the group on Thursday evening, and what we have to bring.",
		"short": "opening hours", "chinese": "请问星期天家庭票多少钱，停车免费吗？", "emergency": "my son is choking",
	} {
		b.Run(name, func(b *testing.B) {
			Hear("en", text) // reads what every first question reads
			for b.Loop() {
				Hear("en", text)
			}
		})
	}
}
