package worker

// Background is what the nouns declare.
var Background = background
