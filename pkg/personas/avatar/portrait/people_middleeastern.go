package portrait

var middleEasternFaces = []Face{
	{
		Key: "layla", Name: "Layla", Gender: "female", AgeBand: "30s", Heritage: "middleeastern",
		Look: Look{
			Seed: 91, Years: 31, Build: -0.5, Backdrop: sand,
			Skin:     Skin{Tone: 0xE0B38D, Blush: 0.4},
			Head:     Head{Width: 0.0, Jaw: -0.3, Chin: -0.3},
			Eyes:     Eyes{Iris: 0x5E4327, Size: 0.7, Open: 0.3, Crease: 0.5, Lashes: 1},
			Brows:    Brows{Colour: 0x2A1D17, Thickness: 0.3, Arch: 0.5},
			Nose:     Nose{Width: -0.1, Length: 0.3, Bridge: 0.5},
			Mouth:    Mouth{Upper: 0.3, Lower: 0.4, Smile: 0.7, Lipstick: 0xB3545A},
			Hair:     Hair{Style: Hijab, Colour: 0x5E8C8A},
			Clothing: Clothing{Style: Crew, Main: 0x2F4550, Under: 0xF2F2F0},
		},
	},
	{
		Key: "omar", Name: "Omar", Gender: "male", AgeBand: "40s", Heritage: "middleeastern",
		Look: Look{
			Seed: 92, Years: 43, Build: 0.8, Backdrop: stone,
			Skin:     Skin{Tone: 0xCD9C74},
			Head:     Head{Width: 0.1, Jaw: 0.4, Chin: 0.3, Length: 0.3, Hairline: 0.2},
			Eyes:     Eyes{Iris: 0x3F2916, Size: 0.1, Crease: 0.3},
			Brows:    Brows{Colour: 0x1C1411, Thickness: 1, Arch: -0.1},
			Nose:     Nose{Width: 0.2, Length: 0.6, Bridge: 0.8},
			Mouth:    Mouth{Upper: -0.1, Lower: 0.3, Smile: 0.7},
			Hair:     Hair{Style: SweptBack, Colour: 0x1F1715, Volume: 0.9, Parting: 0.4},
			Beard:    Beard{Style: FullBeard, Grey: 0.15},
			Clothing: Clothing{Style: BlazerTee, Main: 0x5A4636, Under: 0xE9E2D6},
		},
	},
	{
		Key: "yasmin", Name: "Yasmin", Gender: "female", AgeBand: "20s", Heritage: "middleeastern",
		Look: Look{
			Seed: 93, Years: 25, Build: -0.6, Backdrop: teal,
			Skin:     Skin{Tone: 0xE6BC98, Blush: 0.4},
			Head:     Head{Width: -0.2, Jaw: -0.4, Chin: -0.4, Length: 0.1},
			Eyes:     Eyes{Iris: 0x6B5A33, Size: 0.6, Open: 0.2, Tilt: 0.3, Crease: 0.6, Lashes: 0.9},
			Brows:    Brows{Colour: 0x30211A, Thickness: 0.5, Arch: 0.4},
			Nose:     Nose{Width: -0.2, Length: 0.2, Bridge: 0.4},
			Mouth:    Mouth{Upper: 0.4, Lower: 0.5, Smile: 0.8, Lipstick: 0xBE5B5E},
			Hair:     Hair{Style: Bun, Colour: 0x33221B, Volume: 0.4},
			Earrings: Earrings{Style: Drops, Metal: 0xE3C27A},
			Clothing: Clothing{Style: Turtleneck, Main: 0xE6DCCB, Under: 0xF2F2F0},
		},
	},
	{
		Key: "farid", Name: "Farid", Gender: "male", AgeBand: "60s", Heritage: "middleeastern",
		Look: Look{
			Seed: 94, Years: 66, Build: 0.6, Backdrop: slate,
			Skin:     Skin{Tone: 0xCB9D78, Blush: 0.2},
			Head:     Head{Width: 0.2, Jaw: 0.2, Length: 0.4, Hairline: 0.8, EarSize: 0.4},
			Eyes:     Eyes{Iris: 0x4A331F, Size: -0.1, Crease: 0.2},
			Brows:    Brows{Colour: 0x8A847E, Thickness: 0.9, Arch: 0.1},
			Nose:     Nose{Width: 0.3, Length: 0.7, Bridge: 0.8, Tip: 0.2},
			Mouth:    Mouth{Upper: -0.3, Lower: 0.1, Smile: 0.8},
			Hair:     Hair{Style: Receding, Colour: 0xBDBAB6, Grey: 1, Volume: 0.3},
			Beard:    Beard{Style: ShortBeard, Grey: 1},
			Clothing: Clothing{Style: Cardigan, Main: 0x5E4A3E, Under: 0xE6E8EA},
		},
	},
}
