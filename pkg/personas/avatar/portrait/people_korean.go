package portrait

var koreanFaces = []Face{
	{
		Key: "jisoo", Name: "Jisoo", Gender: "female", AgeBand: "20s", Heritage: "korean",
		Look: Look{
			Seed: 51, Years: 25, Build: -0.7, Backdrop: lilac,
			Skin:     Skin{Tone: 0xF3D0B5, Blush: 0.5},
			Head:     Head{Width: -0.1, Jaw: -0.6, Chin: -0.6},
			Eyes:     Eyes{Iris: 0x4A3020, Size: 0.4, Open: 0.3, Fold: 0.3, Lashes: 0.7},
			Brows:    Brows{Colour: 0x4A382F, Thickness: -0.1, Arch: -0.5},
			Nose:     Nose{Width: -0.3, Bridge: -0.2, Length: -0.2, Tip: -0.2},
			Mouth:    Mouth{Width: -0.2, Upper: 0.2, Lower: 0.4, Smile: 0.7, Lipstick: 0xD0646A},
			Hair:     Hair{Style: LongFringe, Colour: 0x3A2722, Volume: 0.2},
			Clothing: Clothing{Style: Crew, Main: 0xB7A6CC, Under: 0xF2F2F0},
		},
	},
	{
		Key: "minho", Name: "Minho", Gender: "male", AgeBand: "30s", Heritage: "korean",
		Look: Look{
			Seed: 52, Years: 31, Build: 0.3, Backdrop: slate,
			Skin:     Skin{Tone: 0xE6BD99, Blush: 0.1},
			Head:     Head{Width: 0.0, Jaw: 0.2, Chin: -0.1, Length: 0.2},
			Eyes:     Eyes{Iris: 0x33221A, Size: 0.0, Fold: 0.6, Tilt: 0.3},
			Brows:    Brows{Colour: 0x1F1816, Thickness: 0.5, Arch: -0.5},
			Nose:     Nose{Width: 0.0, Bridge: 0.1, Length: 0.2},
			Mouth:    Mouth{Upper: 0.0, Lower: 0.3, Smile: 0.6},
			Hair:     Hair{Style: Curtains, Colour: 0x1D1817, Volume: 0.7, Parting: 0.5},
			Clothing: Clothing{Style: BlazerRoll, Main: 0x57524E, Under: 0x26282D},
		},
	},
	{
		Key: "sunhee", Name: "Sunhee", Gender: "female", AgeBand: "50s", Heritage: "korean",
		Look: Look{
			Seed: 53, Years: 52, Build: -0.3, Backdrop: teal,
			Skin:     Skin{Tone: 0xECC6A8, Blush: 0.3},
			Head:     Head{Width: 0.3, Cheeks: 0.4, Jaw: 0.0, Chin: -0.1},
			Eyes:     Eyes{Iris: 0x38261C, Size: 0.0, Fold: 0.7, Lashes: 0.5},
			Brows:    Brows{Colour: 0x4A3C36, Thickness: -0.3, Arch: -0.1},
			Nose:     Nose{Width: 0.2, Bridge: -0.4, Tip: 0.2},
			Mouth:    Mouth{Upper: 0.0, Lower: 0.2, Smile: 1, Lipstick: 0xBB5558},
			Hair:     Hair{Style: Curly, Colour: 0x3B2A24, Grey: 0.10, Volume: -0.8, Parting: -0.6},
			Earrings: Earrings{Style: Studs, Metal: 0xF2EDE4},
			Clothing: Clothing{Style: Cardigan, Main: 0x3F6C74, Under: 0xF3E9E0},
		},
	},
}
