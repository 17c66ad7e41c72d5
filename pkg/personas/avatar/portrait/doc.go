// Package portrait draws the library faces: head-and-shoulders portraits of
// invented people, made from parameters alone.
//
// A [Look] holds every parameter of one face, [Library] lists the people the
// product offers, and [Draw] turns a look into a square picture. Nothing is
// loaded: each picture is built from antialiased paths, soft masks and
// gradients, so it is sharp at any size and the same look and size always give
// the same bytes. [Look.Landmarks] says where the features lie in that picture,
// for code that animates a face.
//
// All drawing happens in design units: the picture is 1000 units wide and high
// whatever its size in pixels, and the head is centred on x = 500. The light
// comes from the upper left. "Left" and "right" mean the picture's sides, not
// the person's.
package portrait
