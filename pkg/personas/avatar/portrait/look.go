package portrait

// Look holds every parameter of a drawn face. Shape parameters are deviations
// from an average face: 0 is average, -1 and 1 are the ends of the range that
// still looks natural. The zero Look is therefore an average face without
// colour; looks compare with ==.
type Look struct {
	Seed     uint64  // varies the small irregularities, such as single hairs
	Years    int     // age, which brings lines, folds and softer skin
	Build    float64 // slight (-1) to sturdy (1): neck, shoulders, brow, jaw
	Skin     Skin
	Head     Head
	Eyes     Eyes
	Brows    Brows
	Nose     Nose
	Mouth    Mouth
	Hair     Hair
	Beard    Beard
	Glasses  Glasses
	Earrings Earrings
	Clothing Clothing
	Backdrop Backdrop
}

// Skin is the complexion.
type Skin struct {
	Tone     Colour
	Blush    float64 // deviation of the cheeks' redness
	Freckles float64 // 0 none … 1 many
}

// Head is the outline of the face.
type Head struct {
	Width, Length       float64
	Forehead, Jaw, Chin float64 // deviations in width
	Cheeks              float64 // hollow (-1) to full (1)
	Hairline            float64 // low (-1) to high (1)
	EarSize             float64
}

// Eyes are the eyes with their lids.
type Eyes struct {
	Iris    Colour
	Size    float64
	Open    float64 // narrow (-1) to wide (1)
	Tilt    float64 // outer corners down (-1) to up (1)
	Spacing float64 // close (-1) to wide apart (1)
	Crease  float64 // how far the lid fold lies above the lashes
	Fold    float64 // 0 none … 1 the lid covers its fold and the inner corner
	Lashes  float64 // 0 short … 1 long
	Shadow  Colour  // eye make-up; 0 none
}

// Brows are the eyebrows.
type Brows struct {
	Colour    Colour
	Thickness float64
	Arch      float64 // straight (-1) to arched (1)
	Tilt      float64 // inner ends up (-1) to down (1)
	Height    float64
}

// Nose is the nose seen from the front.
type Nose struct {
	Width, Length float64
	Bridge        float64 // flat (-1) to prominent (1)
	Tip           float64 // narrow (-1) to round (1)
}

// Mouth is the closed mouth.
type Mouth struct {
	Width        float64
	Upper, Lower float64 // fullness of each lip
	Smile        float64 // 0 neutral … 1 a clear smile
	Lipstick     Colour  // 0 none
}

// Hair is the hair on the head.
type Hair struct {
	Style   HairStyle
	Colour  Colour
	Grey    float64 // share of grey strands, 0 … 1
	Volume  float64
	Parting float64 // left (-1) to right (1)
}

// Beard is the facial hair.
type Beard struct {
	Style  BeardStyle
	Colour Colour  // 0: that of the hair
	Grey   float64 // share of grey hairs, 0 … 1
}

// Glasses sit on the nose.
type Glasses struct {
	Style GlassesStyle
	Frame Colour
}

// Earrings hang from both ear lobes.
type Earrings struct {
	Style EarringStyle
	Metal Colour
}

// Clothing covers neck and shoulders.
type Clothing struct {
	Style ClothingStyle
	Main  Colour // the garment seen most of
	Under Colour // what shows beneath it: shirt, blouse, lining
}

// Backdrop is the plain wall behind the person.
type Backdrop struct {
	Inner, Outer Colour // behind the head, and in the corners
}
