package portrait

var japaneseFaces = []Face{
	{
		Key: "yuki", Name: "Yuki", Gender: "female", AgeBand: "30s", Heritage: "japanese",
		Look: Look{
			Seed: 61, Years: 35, Build: -0.6, Backdrop: sage,
			Skin:     Skin{Tone: 0xF0CBAE, Blush: 0.4},
			Head:     Head{Width: 0.0, Jaw: -0.4, Chin: -0.3, Length: 0.1},
			Eyes:     Eyes{Iris: 0x3B281C, Size: 0.1, Fold: 0.5, Tilt: 0.1, Lashes: 0.6},
			Brows:    Brows{Colour: 0x2E2320, Thickness: -0.3, Arch: -0.2},
			Nose:     Nose{Width: -0.2, Bridge: -0.2},
			Mouth:    Mouth{Width: -0.1, Upper: 0.0, Lower: 0.2, Smile: 0.8, Lipstick: 0xC0585C},
			Hair:     Hair{Style: BobFringe, Colour: 0x171516, Volume: 0.3},
			Earrings: Earrings{Style: Drops, Metal: 0xC9CDD2},
			Clothing: Clothing{Style: BlazerTee, Main: 0x30343C, Under: 0xF4F1EA},
		},
	},
	{
		Key: "haruto", Name: "Haruto", Gender: "male", AgeBand: "20s", Heritage: "japanese",
		Look: Look{
			Seed: 62, Years: 24, Build: 0.4, Backdrop: sand,
			Skin:     Skin{Tone: 0xE9C09B, Blush: 0.2},
			Head:     Head{Width: -0.2, Jaw: -0.1, Chin: -0.2},
			Eyes:     Eyes{Iris: 0x3A271B, Size: 0.2, Fold: 0.5, Tilt: 0.0},
			Brows:    Brows{Colour: 0x2A201C, Thickness: 0.5, Arch: -0.4},
			Nose:     Nose{Width: -0.2, Bridge: 0.0},
			Mouth:    Mouth{Width: -0.1, Upper: -0.3, Lower: 0.0, Smile: 0.8},
			Hair:     Hair{Style: SidePart, Colour: 0x2B211D, Volume: 0.8, Parting: -1},
			Clothing: Clothing{Style: Crew, Main: 0x2F4A4F, Under: 0xF2F2F0},
		},
	},
	{
		Key: "kenji", Name: "Kenji", Gender: "male", AgeBand: "60s", Heritage: "japanese",
		Look: Look{
			Seed: 63, Years: 62, Build: 0.4, Backdrop: mist,
			Skin:     Skin{Tone: 0xDDB18C},
			Head:     Head{Width: 0.0, Jaw: 0.1, Length: 0.4, Cheeks: -0.4, Hairline: 0.3, EarSize: 0.4},
			Eyes:     Eyes{Iris: 0x2E2018, Size: -0.2, Open: -0.1, Fold: 0.6},
			Brows:    Brows{Colour: 0x8B8680, Thickness: 0.5, Arch: 0.1},
			Nose:     Nose{Width: 0.1, Length: 0.4, Bridge: 0.3},
			Mouth:    Mouth{Upper: -0.5, Lower: -0.1, Smile: 0.7},
			Hair:     Hair{Style: SweptBack, Colour: 0xB5B1AC, Grey: 1, Volume: 0.6, Parting: -0.4},
			Beard:    Beard{Style: Goatee, Grey: 0.85},
			Clothing: Clothing{Style: BlazerTee, Main: 0x37414F, Under: 0xD7D2C8},
		},
	},
}
