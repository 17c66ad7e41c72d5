package portrait

var thaiFaces = []Face{
	{
		Key: "malee", Name: "Malee", Gender: "female", AgeBand: "20s", Heritage: "thai",
		Look: Look{
			Seed: 71, Years: 26, Build: -0.6, Backdrop: clay,
			Skin:     Skin{Tone: 0xD3A178, Blush: 0.4},
			Head:     Head{Width: 0.1, Jaw: -0.3, Chin: -0.3, Cheeks: 0.3},
			Eyes:     Eyes{Iris: 0x35221A, Size: 0.4, Open: 0.2, Fold: 0.3, Tilt: 0.3, Lashes: 0.8},
			Brows:    Brows{Colour: 0x2A1E1A, Thickness: -0.1, Arch: 0.2},
			Nose:     Nose{Width: 0.3, Bridge: -0.4, Tip: 0.3},
			Mouth:    Mouth{Width: 0.1, Upper: 0.4, Lower: 0.5, Smile: 1, Lipstick: 0xB85250},
			Hair:     Hair{Style: Ponytail, Colour: 0x231A18, Volume: 0.3, Parting: -0.4},
			Earrings: Earrings{Style: Hoops, Metal: 0xD9AE55},
			Clothing: Clothing{Style: Blouse, Main: 0xE9DCC6, Under: 0xF2F2F0},
		},
	},
	{
		Key: "somchai", Name: "Somchai", Gender: "male", AgeBand: "40s", Heritage: "thai",
		Look: Look{
			Seed: 72, Years: 45, Build: 0.5, Backdrop: sage,
			Skin:     Skin{Tone: 0xBB8761},
			Head:     Head{Width: 0.5, Jaw: 0.3, Cheeks: 0.3, Chin: 0.2},
			Eyes:     Eyes{Iris: 0x2C1C13, Size: 0.0, Fold: 0.5},
			Brows:    Brows{Colour: 0x1C1513, Thickness: 0.5, Arch: -0.1},
			Nose:     Nose{Width: 0.6, Bridge: -0.2, Tip: 0.5},
			Mouth:    Mouth{Width: 0.2, Upper: 0.1, Lower: 0.3, Smile: 0.9},
			Hair:     Hair{Style: Buzz, Colour: 0x1E1917, Grey: 0.1},
			Beard:    Beard{Style: Moustache},
			Clothing: Clothing{Style: Shirt, Main: 0xE8E6E1, Under: 0xF2F2F0},
		},
	},
	{
		Key: "ploy", Name: "Ploy", Gender: "female", AgeBand: "40s", Heritage: "thai",
		Look: Look{
			Seed: 73, Years: 42, Build: -0.4, Backdrop: slate,
			Skin:     Skin{Tone: 0xD8A981, Blush: 0.3},
			Head:     Head{Width: 0.0, Jaw: -0.2, Chin: -0.1, Length: 0.2},
			Eyes:     Eyes{Iris: 0x35231A, Size: 0.2, Fold: 0.4, Tilt: 0.2, Lashes: 0.7},
			Brows:    Brows{Colour: 0x2E231F, Thickness: -0.2, Arch: 0.3},
			Nose:     Nose{Width: 0.2, Bridge: -0.2},
			Mouth:    Mouth{Upper: 0.2, Lower: 0.3, Smile: 0.7, Lipstick: 0x9E3B46},
			Hair:     Hair{Style: Bob, Colour: 0x201816, Volume: 0.4, Parting: 0.9},
			Glasses:  Glasses{Style: ThinMetal, Frame: 0xB08A4E},
			Clothing: Clothing{Style: Blazer, Main: 0x7A2E3A, Under: 0xF0E8DC},
		},
	},
}
