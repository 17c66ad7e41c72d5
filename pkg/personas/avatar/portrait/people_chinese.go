package portrait

var chineseFaces = []Face{
	{
		Key: "mei", Name: "Mei", Gender: "female", AgeBand: "30s", Heritage: "chinese",
		Look: Look{
			Seed: 41, Years: 33, Build: -0.6, Backdrop: mist,
			Skin:     Skin{Tone: 0xEDC7A6, Blush: 0.4},
			Head:     Head{Width: 0.1, Jaw: -0.3, Chin: -0.4, Cheeks: 0.2},
			Eyes:     Eyes{Iris: 0x3A2518, Size: 0.2, Open: 0.0, Tilt: 0.3, Fold: 0.6, Lashes: 0.6},
			Brows:    Brows{Colour: 0x33261F, Thickness: -0.2, Arch: -0.1},
			Nose:     Nose{Width: 0.0, Bridge: -0.5, Length: -0.2},
			Mouth:    Mouth{Upper: 0.1, Lower: 0.3, Smile: 0.8, Lipstick: 0xB84B50},
			Hair:     Hair{Style: Shoulder, Colour: 0x1F1918, Volume: 0.3, Parting: 0.6},
			Clothing: Clothing{Style: Blazer, Main: 0xD9CDBB, Under: 0x8C3B44},
		},
	},
	{
		Key: "wei", Name: "Wei", Gender: "male", AgeBand: "20s", Heritage: "chinese",
		Look: Look{
			Seed: 42, Years: 26, Build: 0.2, Backdrop: teal,
			Skin:     Skin{Tone: 0xE0B48C, Blush: 0.1},
			Head:     Head{Width: 0.1, Jaw: 0.1, Chin: 0.0},
			Eyes:     Eyes{Iris: 0x2E1D13, Size: 0.0, Open: -0.1, Fold: 0.8, Tilt: 0.2},
			Brows:    Brows{Colour: 0x1E1715, Thickness: 0.4, Arch: -0.3},
			Nose:     Nose{Width: 0.2, Bridge: -0.3},
			Mouth:    Mouth{Upper: 0.0, Lower: 0.2, Smile: 0.7},
			Hair:     Hair{Style: Crop, Colour: 0x1A1615, Volume: 0.4, Parting: 0.5},
			Glasses:  Glasses{Style: Round, Frame: 0x23211F},
			Clothing: Clothing{Style: Hoodie, Main: 0x6C7F8C, Under: 0xF2F2F0},
		},
	},
	{
		Key: "lihua", Name: "Lihua", Gender: "female", AgeBand: "50s", Heritage: "chinese",
		Look: Look{
			Seed: 43, Years: 56, Build: -0.3, Backdrop: rose,
			Skin:     Skin{Tone: 0xE7BF9D, Blush: 0.3},
			Head:     Head{Width: 0.4, Cheeks: 0.4, Chin: 0.0},
			Eyes:     Eyes{Iris: 0x35231A, Size: -0.1, Fold: 0.8, Tilt: 0.0, Lashes: 0.4},
			Brows:    Brows{Colour: 0x4A3B34, Thickness: -0.5, Arch: 0.2},
			Nose:     Nose{Width: 0.3, Bridge: -0.5, Tip: 0.4},
			Mouth:    Mouth{Width: 0.1, Upper: -0.2, Lower: 0.1, Smile: 0.9, Lipstick: 0xA94A4C},
			Hair:     Hair{Style: Pixie, Colour: 0x2B2423, Grey: 0.35, Volume: 0.9, Parting: 0.8},
			Earrings: Earrings{Style: Studs, Metal: 0xF2EDE4},
			Clothing: Clothing{Style: Turtleneck, Main: 0x8F4A55, Under: 0xEFE6DA},
		},
	},
	{
		Key: "guowei", Name: "Guowei", Gender: "male", AgeBand: "60s", Heritage: "chinese",
		Look: Look{
			Seed: 44, Years: 65, Build: 0.4, Backdrop: stone,
			Skin:     Skin{Tone: 0xDBAF88, Blush: 0.2},
			Head:     Head{Width: 0.4, Jaw: 0.2, Cheeks: 0.1, Hairline: 0.6, EarSize: 0.5},
			Eyes:     Eyes{Iris: 0x2F2018, Size: -0.3, Open: -0.2, Fold: 0.7},
			Brows:    Brows{Colour: 0x77706A, Thickness: 0.2, Arch: -0.2},
			Nose:     Nose{Width: 0.4, Bridge: -0.2, Tip: 0.5},
			Mouth:    Mouth{Width: 0.2, Upper: -0.4, Smile: 0.8},
			Hair:     Hair{Style: Receding, Colour: 0x6E6864, Grey: 0.85, Volume: 0.0, Parting: 0.5},
			Glasses:  Glasses{Style: Square, Frame: 0x3B2F2A},
			Clothing: Clothing{Style: VNeck, Main: 0x4C5B52, Under: 0xE9E6DF},
		},
	},
}
