// What the check says. Every language has the same keys (words_test.js).

import ar from './ar.js'
import de from './de.js'
import en from './en.js'
import es from './es.js'
import fr from './fr.js'

export const words = { ar, de, en, es, fr }
