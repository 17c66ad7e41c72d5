package portrait

var mixedFaces = []Face{
	{
		Key: "zoe", Name: "Zoe", Gender: "female", AgeBand: "30s", Heritage: "mixed",
		Look: Look{
			Seed: 101, Years: 30, Build: -0.5, Backdrop: sage,
			Skin:     Skin{Tone: 0xB98661, Blush: 0.3, Freckles: 0.7},
			Head:     Head{Width: 0.0, Jaw: -0.4, Chin: -0.3, Cheeks: 0.2},
			Eyes:     Eyes{Iris: 0x7A5A2C, Size: 0.5, Open: 0.3, Tilt: 0.3, Crease: 0.3, Lashes: 0.8},
			Brows:    Brows{Colour: 0x33231C, Thickness: 0.0, Arch: 0.4},
			Nose:     Nose{Width: 0.3, Bridge: -0.1, Tip: 0.3},
			Mouth:    Mouth{Width: 0.1, Upper: 0.6, Lower: 0.6, Smile: 0.9, Lipstick: 0xA84F4C},
			Hair:     Hair{Style: Braids, Colour: 0x33231C, Volume: 0.2, Parting: 0.5},
			Earrings: Earrings{Style: Hoops, Metal: 0xD9AE55},
			Clothing: Clothing{Style: Hoodie, Main: 0xC9A14A, Under: 0xF2F2F0},
		},
	},
	{
		Key: "noah", Name: "Noah", Gender: "male", AgeBand: "20s", Heritage: "mixed",
		Look: Look{
			Seed: 102, Years: 23, Build: 0.2, Backdrop: lilac,
			Skin:     Skin{Tone: 0xCB9C74, Blush: 0.2, Freckles: 0.5},
			Head:     Head{Width: -0.1, Jaw: 0.0, Chin: 0.0},
			Eyes:     Eyes{Iris: 0x5F7350, Size: 0.3, Open: 0.1, Fold: 0.2},
			Brows:    Brows{Colour: 0x2D1F17, Thickness: 0.2, Arch: 0.1},
			Nose:     Nose{Width: 0.3, Tip: 0.2},
			Mouth:    Mouth{Width: 0.0, Upper: 0.3, Lower: 0.5, Smile: 0.8},
			Hair:     Hair{Style: CurlyTop, Colour: 0x5A3A25, Volume: 0.7, Parting: 0.6},
			Clothing: Clothing{Style: Crew, Main: 0x4A5E8C, Under: 0xF2F2F0},
		},
	},
	{
		Key: "theo", Name: "Theo", Gender: "male", AgeBand: "40s", Heritage: "mixed",
		Look: Look{
			Seed: 103, Years: 46, Build: 0.6, Backdrop: clay,
			Skin:     Skin{Tone: 0x9E6E4C, Blush: 0.1},
			Head:     Head{Width: 0.2, Jaw: 0.3, Chin: 0.2, Length: 0.2},
			Eyes:     Eyes{Iris: 0x4D351C, Size: 0.0, Crease: 0.2},
			Brows:    Brows{Colour: 0x241A15, Thickness: 0.4, Arch: 0.0},
			Nose:     Nose{Width: 0.5, Length: 0.1, Bridge: 0.1, Tip: 0.4},
			Mouth:    Mouth{Width: 0.2, Upper: 0.2, Lower: 0.4, Smile: 0.8},
			Hair:     Hair{Style: Bald, Colour: 0x2A201B},
			Beard:    Beard{Style: ShortBeard, Grey: 0.2},
			Glasses:  Glasses{Style: Square, Frame: 0x22252B},
			Clothing: Clothing{Style: Shirt, Main: 0x3F5573, Under: 0xF2F2F0},
		},
	},
}
