package avatars

// Point is a place in a picture: x and y as fractions of its width and height.
type Point [2]float64
