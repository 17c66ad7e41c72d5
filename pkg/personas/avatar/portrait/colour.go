package portrait

import "math"

// Colour is an opaque sRGB colour, 0xRRGGBB.
type Colour uint32

// rgb is a colour while painting: sRGB channels from 0 to 1.
type rgb struct{ r, g, b float32 }

func (c Colour) rgb() rgb {
	return rgb{float32(c>>16&0xff) / 255, float32(c>>8&0xff) / 255, float32(c&0xff) / 255}
}

// mix is the colour a share t of the way to d.
func (c rgb) mix(d rgb, t float32) rgb {
	return rgb{c.r + (d.r-c.r)*t, c.g + (d.g-c.g)*t, c.b + (d.b-c.b)*t}
}

// toned is the colour with its lightness multiplied by light and its chroma by
// chroma. It works in the OKLab space, where such a change keeps the hue the
// eye sees: darkened skin stays warm instead of turning grey.
func (c rgb) toned(light, chroma float64) rgb {
	l, a, b := c.lab()
	return fromLab(l*light, a*chroma, b*chroma)
}

// lightness is how light the colour looks, from 0 to 1.
func (c rgb) lightness() float64 {
	l, _, _ := c.lab()
	return l
}

func (c rgb) lab() (l, a, b float64) {
	red, green, blue := linear(c.r), linear(c.g), linear(c.b)
	x := math.Cbrt(0.4122214708*red + 0.5363325363*green + 0.0514459929*blue)
	y := math.Cbrt(0.2119034982*red + 0.6806995451*green + 0.1073969566*blue)
	z := math.Cbrt(0.0883024619*red + 0.2817188376*green + 0.6299787005*blue)
	return 0.2104542553*x + 0.7936177850*y - 0.0040720468*z,
		1.9779984951*x - 2.4285922050*y + 0.4505937099*z,
		0.0259040371*x + 0.7827717662*y - 0.8086757660*z
}

func fromLab(l, a, b float64) rgb {
	x := cube(l + 0.3963377774*a + 0.2158037573*b)
	y := cube(l - 0.1055613458*a - 0.0638541728*b)
	z := cube(l - 0.0894841775*a - 1.2914855480*b)
	return rgb{
		display(4.0767416621*x - 3.3077115913*y + 0.2309699292*z),
		display(-1.2684380046*x + 2.6097574011*y - 0.3413193965*z),
		display(-0.0041960863*x - 0.7034186147*y + 1.7076147010*z),
	}
}

func cube(v float64) float64 { return v * v * v }

// linear undoes the sRGB transfer curve, display applies it.
func linear(v float32) float64 {
	if v <= 0.04045 {
		return float64(v) / 12.92
	}
	return math.Pow((float64(v)+0.055)/1.055, 2.4)
}

func display(v float64) float32 {
	v = math.Min(math.Max(v, 0), 1)
	if v <= 0.0031308 {
		return float32(v * 12.92)
	}
	return float32(1.055*math.Pow(v, 1/2.4) - 0.055)
}
