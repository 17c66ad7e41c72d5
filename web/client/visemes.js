// What the mouth does for each viseme, and how neighboring ones run into each other.

/**
 * @typedef {object} Mouth how a mouth stands, all from 0 (at rest) to 1 unless said
 * @property {number} jaw how far the jaw hangs
 * @property {number} gap how far the lips are apart
 * @property {number} wide from -1 (narrow, round) to 1 (spread)
 * @property {number} pucker how far the lips stand out
 * @property {number} press how hard closed lips are pressed
 * @property {number} tuck how far the lower lip is drawn under the upper teeth
 * @property {number} tongue how high the tongue's tip is
 */

/**
 * @typedef {object} Viseme
 * @property {number} t when it begins, in milliseconds from the first sample of its turn
 * @property {string} v one of the Oculus-15
 * @property {number} [w] its weight from 0 to 1; 1 unless given
 */

/** @type {Mouth} */
export const rest = Object.freeze({ jaw: 0, gap: 0, wide: 0, pucker: 0, press: 0, tuck: 0, tongue: 0 })
const parts = Object.keys(rest)

/** @param {Partial<Mouth>} own */
const mouth = (own) => Object.freeze({ ...rest, ...own })

/** The Oculus-15. @type {Record<string, Mouth>} */
export const shapes = Object.freeze({
  sil: rest,
  PP: mouth({ press: 1 }),
  FF: mouth({ jaw: 0.08, gap: 0.2, tuck: 1, wide: 0.1 }),
  TH: mouth({ jaw: 0.2, gap: 0.32, tongue: 1 }),
  DD: mouth({ jaw: 0.2, gap: 0.34, tongue: 0.8, wide: 0.1 }),
  kk: mouth({ jaw: 0.28, gap: 0.4, tongue: 0.2 }),
  CH: mouth({ jaw: 0.14, gap: 0.36, wide: -0.45, pucker: 0.6 }),
  SS: mouth({ jaw: 0.07, gap: 0.28, wide: 0.35 }),
  nn: mouth({ jaw: 0.16, gap: 0.28, tongue: 0.75 }),
  RR: mouth({ jaw: 0.2, gap: 0.33, wide: -0.35, pucker: 0.4, tongue: 0.35 }),
  aa: mouth({ jaw: 1, gap: 1, wide: 0.1 }),
  E: mouth({ jaw: 0.55, gap: 0.64, wide: 0.5 }),
  I: mouth({ jaw: 0.26, gap: 0.42, wide: 0.8, tongue: 0.25 }),
  O: mouth({ jaw: 0.6, gap: 0.66, wide: -0.65, pucker: 0.75 }),
  U: mouth({ jaw: 0.22, gap: 0.3, wide: -1, pucker: 1 }),
})

/**
 * How much a viseme asserts itself against its neighbors. Lips that must close, or
 * meet the teeth, do; the tongue's sounds take the shape of the vowels around them.
 */
const dominance = { PP: 3, FF: 2.4, CH: 1.5, U: 1.4, O: 1.3, sil: 0.9, TH: 0.9, SS: 0.9, DD: 0.6, nn: 0.6, kk: 0.55, RR: 0.8 }
/** Round lips are made ready long before they sound. */
const early = { U: 95, O: 85, CH: 80 }

/** How long before it sounds a viseme shows, and how long after, in milliseconds. */
const before = 62
const after = 46

/**
 * VisemeTrack is what a mouth does during one turn.
 */
export class VisemeTrack {
  /** @type {Viseme[]} */
  #items = []
  /** Where the last look began, so that the next one need not search. */
  #near = 0

  /** Adds what comes later than all there is, as it arrives. @param {Viseme[]} items */
  add(items) {
    for (const item of items) if (item.v in shapes) this.#items.push(item)
    this.#items.sort((a, b) => a.t - b.t)
  }

  get empty() { return this.#items.length === 0 }

  /** When the last viseme begins, in milliseconds. */
  get end() { return this.#items.at(-1)?.t ?? 0 }

  /**
   * The mouth at a time.
   * @param {number} t milliseconds from the first sample
   * @returns {Mouth}
   */
  at(t) {
    const items = this.#items
    if (!items.length) return rest
    let i = this.#near
    if (i >= items.length || items[i].t > t) i = 0
    while (i + 1 < items.length && items[i + 1].t <= t) i++
    this.#near = i
    const sum = { ...rest }
    let total = 0, shut = 0, tucked = 0
    for (let n = Math.max(0, i - 4); n < items.length && items[n].t - t < 200; n++) {
      const { t: from, v, w = 1 } = items[n]
      const to = items[n + 1]?.t ?? (v === 'sil' ? Infinity : from + 120)
      const presence = present(t, from, to, early[v] ?? before)
      if (!presence) continue
      const share = presence * (dominance[v] ?? 1)
      total += share
      const shape = shapes[v]
      for (const part of parts) sum[part] += share * shape[part] * w
      if (v === 'PP') shut = Math.max(shut, closing(t, from, to) * w)
      if (v === 'FF') tucked = Math.max(tucked, closing(t, from, to) * w)
    }
    if (!total) return rest
    for (const part of parts) sum[part] /= Math.max(total, 0.35)
    // Lips that meet do meet, however short it is.
    sum.gap *= 1 - shut
    sum.gap = Math.min(sum.gap, 1 - tucked * 0.74)
    sum.press = Math.max(sum.press * (sum.gap < 0.08 ? 1 : 0), shut)
    return sum
  }
}

/** How much of a viseme shows at a time: all of it while it sounds, less around that. */
function present(t, from, to, ahead) {
  if (t < from) return ease(1 - (from - t) / ahead)
  // A short one is not yet whole when it ends.
  return t < to ? 1 : ease(1 - (t - to) / after)
}

/** How closed the lips are around a viseme that closes them. */
function closing(t, from, to) {
  const until = Math.min(to, from + 140)
  if (t >= from && t <= until) return 1
  return ease(1 - (t < from ? from - t : t - until) / 45)
}

/** Eases from 0 to 1 without a visible start or end. */
export function ease(x) {
  const v = Math.min(Math.max(x, 0), 1)
  return v * v * (3 - 2 * v)
}

/** Vowels by the letters that mostly write them, for a voice whose sounds nobody told. */
const letters = {
  a: 'aa', á: 'aa', à: 'aa', ä: 'E', â: 'aa', e: 'E', é: 'E', è: 'E', ê: 'E', i: 'I', í: 'I', y: 'I', o: 'O', ó: 'O', ö: 'O', ô: 'O', u: 'U', ú: 'U', ü: 'U',
  b: 'PP', p: 'PP', m: 'PP', f: 'FF', v: 'FF', w: 'U', d: 'DD', t: 'DD', l: 'nn', n: 'nn', r: 'RR', s: 'SS', z: 'SS', c: 'kk', k: 'kk', g: 'kk', q: 'kk', x: 'kk', j: 'CH', ß: 'SS', ç: 'SS', ñ: 'nn',
  ا: 'aa', أ: 'aa', إ: 'I', آ: 'aa', و: 'U', ي: 'I', ى: 'aa', ب: 'PP', م: 'PP', ف: 'FF', ت: 'DD', د: 'DD', ط: 'DD', ض: 'DD', ث: 'TH', ذ: 'TH', ظ: 'TH', ن: 'nn', ل: 'nn', ر: 'RR',
  س: 'SS', ز: 'SS', ص: 'SS', ش: 'CH', ج: 'CH', ك: 'kk', ق: 'kk', خ: 'kk', غ: 'kk', ع: 'aa', ح: 'aa', ه: 'E', ة: 'aa', ء: 'sil', ئ: 'I', ؤ: 'U',
}
const syllable = ['aa', 'nn', 'E', 'DD', 'O', 'kk', 'I', 'SS']

/**
 * Guesses what a mouth does from words and their times.
 * @param {{t: number, d: number, text: string}[]} words
 * @returns {Viseme[]}
 */
export function visemesOf(words) {
  const out = []
  for (const { t, d, text } of words) {
    const sounds = [...text.toLowerCase()].filter((c) => /\p{L}|\p{N}/u.test(c)).map((c, i) => letters[c] ?? syllable[(c.codePointAt(0) + i) % syllable.length])
    const kept = sounds.filter((v, i) => v !== sounds[i - 1])
    kept.forEach((v, i) => out.push({ t: Math.round(t + d * i / kept.length), v, w: 0.85 }))
    out.push({ t: Math.round(t + d), v: 'sil', w: 1 })
  }
  // A word that follows at once leaves no room for silence.
  return out.filter(({ t, v }, i) => v !== 'sil' || !out[i + 1] || out[i + 1].t - t > 60)
}
