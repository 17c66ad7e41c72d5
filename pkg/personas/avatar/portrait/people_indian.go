package portrait

var indianFaces = []Face{
	{
		Key: "priya", Name: "Priya", Gender: "female", AgeBand: "20s", Heritage: "indian",
		Look: Look{
			Seed: 31, Years: 28, Build: -0.6, Backdrop: rose,
			Skin:     Skin{Tone: 0xBE875E, Blush: 0.3},
			Head:     Head{Width: -0.1, Jaw: -0.4, Chin: -0.4},
			Eyes:     Eyes{Iris: 0x3A2414, Size: 0.8, Open: 0.4, Crease: 0.5, Lashes: 1},
			Brows:    Brows{Colour: 0x1D1411, Thickness: 0.2, Arch: 0.5},
			Nose:     Nose{Width: 0.0, Length: 0.2, Bridge: 0.4},
			Mouth:    Mouth{Upper: 0.4, Lower: 0.5, Smile: 0.8, Lipstick: 0xA8434A},
			Hair:     Hair{Style: Long, Colour: 0x241816, Volume: 0.4},
			Earrings: Earrings{Style: Drops, Metal: 0xD9AE55},
			Clothing: Clothing{Style: Blouse, Main: 0xA33B57, Under: 0xE6C067},
		},
	},
	{
		Key: "arjun", Name: "Arjun", Gender: "male", AgeBand: "30s", Heritage: "indian",
		Look: Look{
			Seed: 32, Years: 33, Build: 0.5, Backdrop: sage,
			Skin:     Skin{Tone: 0xA9734C},
			Head:     Head{Width: -0.1, Jaw: 0.2, Chin: 0.1, Length: 0.2},
			Eyes:     Eyes{Iris: 0x2F1D10, Size: 0.3, Crease: 0.4},
			Brows:    Brows{Colour: 0x17100E, Thickness: 0.9, Arch: -0.1},
			Nose:     Nose{Width: 0.2, Length: 0.4, Bridge: 0.5},
			Mouth:    Mouth{Upper: 0.0, Lower: 0.3, Smile: 0.8},
			Hair:     Hair{Style: SidePart, Colour: 0x1C1412, Volume: 0.7, Parting: 1},
			Beard:    Beard{Style: Stubble},
			Clothing: Clothing{Style: Shirt, Main: 0x7FA3B5, Under: 0xF2F2F0},
		},
	},
	{
		Key: "lakshmi", Name: "Lakshmi", Gender: "female", AgeBand: "60s", Heritage: "indian",
		Look: Look{
			Seed: 33, Years: 64, Build: -0.2, Backdrop: clay,
			Skin:     Skin{Tone: 0xB27D57, Blush: 0.1},
			Head:     Head{Width: 0.3, Cheeks: 0.5, Chin: 0.0, Jaw: 0.1},
			Eyes:     Eyes{Iris: 0x2E1C10, Size: 0.3, Crease: 0.5, Lashes: 0.5},
			Brows:    Brows{Colour: 0x4E433D, Thickness: -0.2, Arch: 0.2},
			Nose:     Nose{Width: 0.4, Length: 0.3, Bridge: 0.2, Tip: 0.4},
			Mouth:    Mouth{Upper: 0.0, Lower: 0.2, Smile: 0.9, Lipstick: 0x9C4A48},
			Hair:     Hair{Style: Chignon, Colour: 0x4A4341, Grey: 0.75, Volume: 0.1},
			Earrings: Earrings{Style: Studs, Metal: 0xE0B24E},
			Clothing: Clothing{Style: Kurta, Main: 0x2F6B66, Under: 0xD9B45B},
		},
	},
	{
		Key: "harpreet", Name: "Harpreet", Gender: "male", AgeBand: "40s", Heritage: "indian",
		Look: Look{
			Seed: 34, Years: 44, Build: 0.7, Backdrop: sand,
			Skin:     Skin{Tone: 0xB07A53},
			Head:     Head{Width: 0.2, Length: 0.3},
			Eyes:     Eyes{Iris: 0x38220F, Size: 0.1, Crease: 0.3},
			Brows:    Brows{Colour: 0x1D1512, Thickness: 0.7, Arch: 0.1},
			Nose:     Nose{Width: 0.3, Length: 0.5, Bridge: 0.6},
			Mouth:    Mouth{Upper: -0.1, Lower: 0.3, Smile: 0.8},
			Hair:     Hair{Style: Turban, Colour: 0x2C4A86},
			Beard:    Beard{Style: FullBeard, Colour: 0x211815, Grey: 0.12},
			Clothing: Clothing{Style: Blazer, Main: 0x50545E, Under: 0xF1EEE8},
		},
	},
}
