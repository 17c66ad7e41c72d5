package portrait

var hispanicFaces = []Face{
	{
		Key: "sofia", Name: "Sofia", Gender: "female", AgeBand: "30s", Heritage: "hispanic",
		Look: Look{
			Seed: 81, Years: 32, Build: -0.5, Backdrop: amber,
			Skin:     Skin{Tone: 0xDDAA84, Blush: 0.5},
			Head:     Head{Width: 0.1, Jaw: -0.2, Chin: -0.2, Cheeks: 0.2},
			Eyes:     Eyes{Iris: 0x5A3A1E, Size: 0.6, Open: 0.3, Tilt: 0.2, Crease: 0.5, Lashes: 1},
			Brows:    Brows{Colour: 0x2C1D17, Thickness: 0.2, Arch: 0.6},
			Nose:     Nose{Width: 0.0, Bridge: 0.2},
			Mouth:    Mouth{Width: 0.2, Upper: 0.4, Lower: 0.5, Smile: 0.9, Lipstick: 0xB83B44},
			Hair:     Hair{Style: Curly, Colour: 0x3A241A, Volume: 0.3, Parting: 0.6},
			Earrings: Earrings{Style: Hoops, Metal: 0xD9AE55},
			Clothing: Clothing{Style: Blazer, Main: 0x2D6A5F, Under: 0xF3EEE4},
		},
	},
	{
		Key: "diego", Name: "Diego", Gender: "male", AgeBand: "20s", Heritage: "hispanic",
		Look: Look{
			Seed: 82, Years: 27, Build: 0.4, Backdrop: mist,
			Skin:     Skin{Tone: 0xCB976D, Blush: 0.1},
			Head:     Head{Width: -0.1, Jaw: 0.3, Chin: 0.2},
			Eyes:     Eyes{Iris: 0x4A2F18, Size: 0.3, Crease: 0.3},
			Brows:    Brows{Colour: 0x21160F, Thickness: 0.7, Arch: 0.1},
			Nose:     Nose{Width: 0.2, Bridge: 0.3, Length: 0.1},
			Mouth:    Mouth{Width: 0.1, Upper: 0.1, Lower: 0.4, Smile: 0.9},
			Hair:     Hair{Style: CurlyTop, Colour: 0x2A1C15, Volume: 0.0},
			Beard:    Beard{Style: Stubble},
			Clothing: Clothing{Style: Tee, Main: 0xB5563F, Under: 0xF2F2F0},
		},
	},
	{
		Key: "carmen", Name: "Carmen", Gender: "female", AgeBand: "50s", Heritage: "hispanic",
		Look: Look{
			Seed: 83, Years: 57, Build: -0.2, Backdrop: rose,
			Skin:     Skin{Tone: 0xD3A07A, Blush: 0.4},
			Head:     Head{Width: 0.3, Cheeks: 0.3, Jaw: 0.1},
			Eyes:     Eyes{Iris: 0x4B3320, Size: 0.2, Crease: 0.4, Lashes: 0.7},
			Brows:    Brows{Colour: 0x3E2C24, Thickness: -0.2, Arch: 0.5},
			Nose:     Nose{Width: 0.2, Length: 0.2, Bridge: 0.3},
			Mouth:    Mouth{Width: 0.2, Upper: 0.1, Lower: 0.2, Smile: 0.9, Lipstick: 0xA63A45},
			Hair:     Hair{Style: Shoulder, Colour: 0x5B4032, Grey: 0.30, Volume: 0.8, Parting: -0.8},
			Earrings: Earrings{Style: Drops, Metal: 0xC9CDD2},
			Clothing: Clothing{Style: Scoop, Main: 0x3E4A6E, Under: 0xF2F2F0},
		},
	},
	{
		Key: "rafael", Name: "Rafael", Gender: "male", AgeBand: "50s", Heritage: "hispanic",
		Look: Look{
			Seed: 84, Years: 53, Build: 0.8, Backdrop: teal,
			Skin:     Skin{Tone: 0xC28D66, Blush: 0.2},
			Head:     Head{Width: 0.3, Jaw: 0.4, Chin: 0.4, Cheeks: 0.1},
			Eyes:     Eyes{Iris: 0x3D2715, Size: 0.0, Crease: 0.2},
			Brows:    Brows{Colour: 0x2F2722, Thickness: 0.7, Arch: 0.0},
			Nose:     Nose{Width: 0.4, Length: 0.4, Bridge: 0.5, Tip: 0.3},
			Mouth:    Mouth{Width: 0.3, Upper: -0.2, Lower: 0.2, Smile: 0.8},
			Hair:     Hair{Style: SidePart, Colour: 0x3B332F, Grey: 0.45, Volume: 0.3, Parting: 1},
			Beard:    Beard{Style: Moustache, Grey: 0.25},
			Clothing: Clothing{Style: Suit, Main: 0x28344A, Under: 0x2F6C73},
		},
	},
}
