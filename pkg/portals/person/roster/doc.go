// Package roster adds the people of a file, each with a place, by the rules that
// people are added by one at a time (package person).
//
// The file is a table as spreadsheets write it. It is looked through when it
// comes, and refused as a whole where it cannot be read; what is wrong with one
// line is found when a job gets to it, and refuses that line alone. The job adds a
// few lines a step, notes with them where it goes on, and so adds each once
// however often it is interrupted. The lines that it refused are a file again, to
// be corrected and sent.
package roster
