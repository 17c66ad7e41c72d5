// A portrait as a mesh: where its vertices lie, and how each movement of a face moves them.
//
// Places have two forms: pixels of the picture, and the face's own axes, whose origin is
// between the eyes and whose unit is the distance of the eyes: a goes right, along the line
// through the eyes, b goes down.

import { ease } from './visemes.js'

/** @typedef {import('./rig.js').Place} Place */
/** @typedef {import('./rig.js').Landmarks} Landmarks */

/**
 * @typedef {object} Opening where an eye's lids are, seen from its pupil
 * @property {number} left
 * @property {number} right where its corners are
 * @property {number} high how far the upper lid is above the pupil
 * @property {number} low how far the lower one is below it
 */

/**
 * @typedef {object} Features what of a face its landmarks do not say, by its own axes
 * @property {number} seam where between the edges of the lips they meet, from 0 (the upper edge) to 1
 * @property {[Opening, Opening]} eyes the left and the right one
 * @property {boolean} cut whether the picture has no background
 */

/**
 * @typedef {Record<string, number>} Weights how much of each movement there is; those without are not there. Their
 *   names are those of movements
 */

/** The movements, in the order of their fields. */
const movements = ['jaw', 'up', 'down', 'wide', 'smile', 'press', 'tuck', 'widen', 'squint', 'gazeX', 'gazeY', 'brow', 'worry', 'yaw', 'pitch', 'roll', 'breath', 'shrug']
/** Those of the head as a whole, which what is behind the lips follows too. */
const whole = ['yaw', 'pitch', 'roll', 'breath', 'shrug']

/** An eye as most are. @type {Opening} */
export const usualEye = Object.freeze({ left: -0.24, right: 0.24, high: 0.115, low: 0.085 })
/** How high above a lid its skin moves with it. */
const lidSkin = 0.12
/** How much of the jaw's way the corners of the mouth go. */
const corner = 0.3
/** How far from the face what is around it follows the head. */
const around = 1.1

const bell = (x, width) => Math.exp(-((x / width) ** 2))

/** Axes are those of a face in its picture. */
class Axes {
  constructor(left, right) {
    this.x = (left[0] + right[0]) / 2
    this.y = (left[1] + right[1]) / 2
    this.ux = right[0] - left[0]
    this.uy = right[1] - left[1]
    this.size = Math.hypot(this.ux, this.uy)
  }

  /** A place of the picture by the face's axes. @returns {Place} */
  of(x, y) {
    const dx = x - this.x, dy = y - this.y, square = this.size ** 2
    return [(dx * this.ux + dy * this.uy) / square, (dy * this.ux - dx * this.uy) / square]
  }

  /** A place of the face, or a way in it, in the picture. @returns {Place} */
  at(a, b) { return [this.x + a * this.ux - b * this.uy, this.y + a * this.uy + b * this.ux] }
}

/**
 * Throws where landmarks are no face's: a point is not in the picture, the eyes are not left to right, or the mouth and the
 * chin not below each other.
 * @param {Landmarks} l
 */
export function check({ leftEye, rightEye, mouthLeft, mouthRight, mouthTop, mouthBottom, chin }) {
  const inside = (v) => v >= 0 && v <= 1
  const points = [leftEye, rightEye, mouthLeft, mouthRight, mouthTop, mouthBottom, chin]
  // What is no number is on neither side of one.
  const ok = points.every((at) => inside(at?.[0]) && inside(at?.[1])) && leftEye[0] < rightEye[0] && mouthLeft[0] < mouthRight[0] &&
    (leftEye[1] + rightEye[1]) / 2 < mouthTop[1] && mouthTop[1] < mouthBottom[1] && mouthBottom[1] < chin[1]
  if (!ok) throw new Error('the landmarks are no face\'s')
}

/**
 * Mesh is a portrait that can be moved.
 */
export class Mesh {
  /** Where the vertices lie at rest, in pixels: x and y by turns. @type {Float32Array} */
  rest
  /** Where they lie as they were posed last. @type {Float32Array} */
  moved
  /** The corners of triangles. @type {Uint16Array} */
  triangles
  /** The vertices along the lips' edges where they meet, from left to right. @type {{upper: number[], lower: number[]}} */
  seam
  axes
  /** Half the width of the mouth, and the chin's height, by the face's axes. */
  half
  chin
  #width
  #height
  #cut
  #mouth
  #eyes
  #fields

  /**
   * It throws where check does.
   * @param {object} picture
   * @param {number} picture.width in pixels
   * @param {number} picture.height
   * @param {Landmarks} picture.landmarks as shares of the picture
   * @param {Partial<Features>} [picture.features]
   */
  constructor({ width, height, landmarks, features }) {
    check(landmarks)
    const { seam = 0.42, eyes = [usualEye, usualEye], cut = false } = features ?? {}
    this.#width = width
    this.#height = height
    this.#cut = cut
    this.#eyes = eyes
    const at = ([x, y]) => [x * width, y * height]
    this.axes = new Axes(at(landmarks.leftEye), at(landmarks.rightEye))
    const own = (mark) => this.axes.of(...at(mark))
    const [left, right, top, low, chin] = [landmarks.mouthLeft, landmarks.mouthRight, landmarks.mouthTop, landmarks.mouthBottom, landmarks.chin].map(own)
    const meet = top[1] + (low[1] - top[1]) * seam
    const [middle, level] = [(left[0] + right[0]) / 2, (left[1] + right[1]) / 2]
    this.half = (right[0] - left[0]) / 2
    this.chin = chin[1]
    this.#mouth = {
      middle, level, tilt: (right[1] - left[1]) / (right[0] - left[0]), sag: meet - level,
      above: Math.max(0.03, meet - top[1]), below: Math.max(0.04, low[1] - meet),
    }
    this.#lay()
    this.#fields = movements.map((name) => this.#field(name))
  }

  /** Where the lips meet, as a height by the face's axes. @param {number} s from -1 (the left corner) to 1 */
  #lip(s) {
    const { level, tilt, sag } = this.#mouth
    const within = Math.min(1, Math.abs(s)) * Math.sign(s)
    return level + tilt * within * this.half + sag * (1 - within * within)
  }

  /** Lays the vertices out: dense where much moves, with a line of them along the lips. */
  #lay() {
    const { axes } = this, { middle, level, above, below } = this.#mouth
    const unit = axes.size
    const columns = lines(this.#width, axes.x, (x) => {
      const off = Math.abs(x - axes.x) / unit - 1.1
      return unit * (off < 0 ? 1 / 24 : Math.min(1 / 24 + off / 4, 0.4))
    })
    const rows = lines(this.#height, axes.y, (y) => {
      const b = (y - axes.y) / unit
      if (Math.abs(b + 0.04) < 0.3) return unit / 34
      if (b > level - above - 0.2 && b < level + below + 0.25) return unit / 32
      const off = Math.max(-0.7 - b, b - this.chin - 0.1)
      return unit * (off < 0 ? 1 / 18 : Math.min(1 / 18 + off / 4, 0.4))
    })
    const corners = [axes.at(middle - this.half, this.#lip(-1)), axes.at(middle + this.half, this.#lip(1))]
    for (const [x] of corners) columns[nearest(columns, x)] = x
    const [from, to] = corners.map(([x]) => columns.indexOf(x))
    const line = columns.map((x) => this.#lipIn((x - corners[0][0]) / (corners[1][0] - corners[0][0]) * 2 - 1)[1])
    const row = nearest(rows, (line[from] + line[to]) / 2 + (line[(from + to) >> 1] - line[from]) / 2)
    // Rows near the lips bend along them.
    const bend = 10, first = 1, last = rows.length - 2
    const y = (c, r) => {
      const share = Math.max(0, 1 - Math.abs(r - row) / bend)
      return r < first || r > last ? rows[r] : rows[r] + (line[c] - rows[row]) * ease(share)
    }
    const wide = columns.length, count = wide * rows.length + to - from - 1
    this.rest = new Float32Array(2 * count)
    rows.forEach((_, r) => columns.forEach((x, c) => this.rest.set([x, y(c, r)], 2 * (r * wide + c))))
    // Between the corners of the mouth the line is there twice: for either lip.
    const lower = (c) => c > from && c < to ? wide * rows.length + c - from - 1 : row * wide + c
    this.seam = { upper: [], lower: [] }
    for (let c = from; c <= to; c++) {
      this.seam.upper.push(row * wide + c)
      this.seam.lower.push(lower(c))
      if (lower(c) !== row * wide + c) this.rest.set([columns[c], y(c, row)], 2 * lower(c))
    }
    const triangles = []
    for (let r = 0; r + 1 < rows.length; r++) {
      for (let c = 0; c + 1 < wide; c++) {
        const top = (n) => r === row ? lower(n) : r * wide + n
        const [a, b, d, e] = [top(c), top(c + 1), (r + 1) * wide + c, (r + 1) * wide + c + 1]
        triangles.push(a, b, d, b, e, d)
      }
    }
    this.triangles = Uint16Array.from(triangles)
    this.moved = this.rest.slice()
  }

  /** Where the lips meet, in the picture. */
  #lipIn(s) {
    const within = Math.max(-1, Math.min(1, s))
    return this.axes.at(this.#mouth.middle + within * this.half, this.#lip(within))
  }

  /** A movement's ways of all vertices, in pixels. */
  #field(name) {
    const field = new Float32Array(this.rest.length)
    const below = new Set(this.seam.lower.slice(1, -1))
    const above = new Set(this.seam.upper.slice(1, -1))
    const { ux, uy } = this.axes
    for (let i = 0; i < field.length / 2; i++) {
      const x = this.rest[2 * i], y = this.rest[2 * i + 1]
      const [a, b] = this.axes.of(x, y)
      const [da, db] = this.#way(name, a, b, below.has(i) ? 1 : above.has(i) ? -1 : 0)
      const held = this.#held(x, y)
      field[2 * i] = held * (da * ux - db * uy)
      field[2 * i + 1] = held * (da * uy + db * ux)
    }
    return field
  }

  /** How much of a movement is left near the picture's edges: a background stays where it is. */
  #held(x, y) {
    const bottom = ease((this.#height - y) / (0.1 * this.#height))
    if (this.#cut) return bottom
    const side = 0.14 * this.#width
    return bottom * ease(x / side) * ease((this.#width - x) / side) * ease(y / (0.1 * this.#height))
  }

  /**
   * Which way a movement takes a place, all of it.
   * @param {string} name
   * @param {number} a
   * @param {number} b
   * @param {number} lip 1 for the lower lip where the lips meet, -1 for the upper one, 0 for what is elsewhere
   * @returns {Place}
   */
  #way(name, a, b, lip) {
    const { middle, above, below } = this.#mouth
    const s = (a - middle) / this.half
    const t = b - this.#lip(s)
    const upper = lip ? lip < 0 : t < 0
    const arch = Math.max(0, 1 - s * s) ** 0.62
    const far = Math.abs(t)
    const side = Math.sign(a)
    switch (name) {
      case 'jaw': return [0, this.#hangs(a, b, s, t, upper, arch)]
      case 'up': return [0, upper ? -arch * (1 - ease((far - above) / 0.24)) : 0]
      case 'down': return [0, upper ? 0 : arch * (1 - ease((far - below) / Math.max(0.1, this.chin - 0.04 - this.#lip(0) - below)))]
      case 'wide': return [this.half * s * (Math.abs(s) > 1 ? bell(Math.abs(s) - 1, 0.65) : 1) * bell(t, 0.28), 0]
      case 'smile': {
        const lift = Math.abs(s) < 1 ? Math.abs(s) ** 1.7 : bell(Math.abs(s) - 1, 0.55)
        const cheek = bell(Math.abs(a - middle) - 0.55, 0.26) * bell(b - this.#lip(1) + 0.45, 0.24)
        return [0.25 * side * cheek * 0.4, -lift * bell(t, 0.22) - 0.34 * cheek]
      }
      case 'press': {
        const thick = upper ? above : below
        return [0, -t * arch * (far < thick ? 1 : (thick / far) * (1 - ease((far - thick) / 0.14)))]
      }
      case 'tuck': return [0, upper ? 0 : -arch * (1 - ease((far - 0.7 * below) / 0.14))]
      case 'widen': return [0, this.#widens(a, b)]
      case 'squint': return [0, this.#squints(a, b)]
      case 'gazeX': return [this.#looks(a, b), 0]
      case 'gazeY': return [0, this.#looks(a, b)]
      case 'brow': return [0, -bell(Math.abs(a) - 0.5, 0.42) * bell(b + 0.36, b < -0.36 ? 0.34 : 0.15)]
      case 'worry': return [-0.4 * side * bell(Math.abs(a) - 0.24, 0.2) * bell(b + 0.34, 0.16), -bell(Math.abs(a) - 0.24, 0.2) * bell(b + 0.34, 0.16)]
      case 'yaw': return [this.#follows(a, b) * (0.42 + 0.58 * bell(a, 0.8) * bell(b - 0.5, 1.1) + 0.25 * bell(a, 0.16) * bell(b - 0.62, 0.28)), 0]
      case 'pitch': return [0, this.#follows(a, b) * (0.5 + 0.5 * bell(a, 0.9) * bell(b - 0.6, 1.0) + 0.2 * bell(a, 0.16) * bell(b - 0.62, 0.28))]
      case 'roll': return [-this.#follows(a, b) * (b - this.chin - 0.3), this.#follows(a, b) * a]
      case 'breath': return [0, -this.#rises(b)]
      case 'shrug': return [0, -this.#rises(b) * ease((b - this.chin - 0.1) / 0.5)]
    }
    return [0, 0]
  }

  /** How much of the jaw's way a place goes. */
  #hangs(a, b, s, t, upper, arch) {
    const beside = 1 - ease((Math.abs(a) - 0.42) / 0.56)
    if (upper) return beside * corner * (1 - arch) * (1 - ease(-t / 0.36))
    const long = this.chin - this.#lip(0)
    if (b > this.chin) return beside * (1 - ease((b - this.chin - 0.02) / 0.6))
    const deep = corner + (1 - corner) * ease(1.15 * t / long)
    return beside * (deep + (1 - deep) * arch)
  }

  /**
   * The edges of the lids at a place across an eye.
   * @param {number} side -1 for the eye on the left, 1 for the one on the right
   * @param {number} e from -1 (its left corner) to 1
   * @returns {{a: number, upper: number, lower: number}}
   */
  #lidsAt(side, e) {
    const { left, right, high, low } = this.#eyes[side < 0 ? 0 : 1]
    const open = Math.max(0, 1 - e * e)
    // Corners are a little below the pupil.
    const level = 0.3 * (low - 0.3 * high)
    return { a: 0.5 * side + (left + right) / 2 + e * (right - left) / 2, upper: level - (high + level) * open ** 0.62, lower: level + (low - level) * open ** 0.8 }
  }

  /** Where a place is in its eye: across, and the lids there. Outside of the corners there are none. */
  #inEye(a, b) {
    const side = a < 0 ? -1 : 1
    const { left, right } = this.#eyes[side < 0 ? 0 : 1]
    const e = (a - 0.5 * side - (left + right) / 2) / ((right - left) / 2)
    return { e, ...this.#lidsAt(side, Math.max(-1, Math.min(1, e))), b }
  }

  /** How far a place goes up when eyes open wide, as shares of what they are open. */
  #widens(a, b) {
    const { e, upper, lower } = this.#inEye(a, b)
    if (Math.abs(e) >= 1 || b >= lower) return 0
    return -(lower - upper) * (b >= upper ? (lower - b) / (lower - upper) : 1 - ease((upper - b) / lidSkin))
  }

  #squints(a, b) {
    const { e, upper, lower } = this.#inEye(a, b)
    const open = bell(e, 0.85)
    if (b >= lower) return -open * (1 - ease((b - lower) / 0.22))
    return b <= upper || Math.abs(e) >= 1 ? 0 : -open * (b - upper) / (lower - upper)
  }

  /** How much a place goes with the eyes where they look; lids stay. */
  #looks(a, b) {
    const { e, upper, lower } = this.#inEye(a, b)
    const q = (b - upper) / (lower - upper)
    return Math.abs(e) >= 1 || q <= 0 || q >= 1 ? 0 : (1 - e * e) ** 2 * Math.sqrt(4 * q * (1 - q))
  }

  /** How much a place goes with the head. */
  #follows(a, b) { return 1 - ease((Math.hypot(a / 1.05, (b - 0.45) / 1.5) - 1) / around) }

  /** How much a place goes up with the chest. */
  #rises(b) {
    const bottom = this.axes.of(this.axes.x, this.#height)[1], shoulders = this.chin + 0.5
    return bottom > shoulders + 0.1 ? Math.min(1, Math.max(0, (bottom - b) / (bottom - shoulders))) : Math.max(0, Math.min(1, bottom - b))
  }

  /** Moves the vertices. @param {Weights} weights */
  pose(weights) {
    const { moved } = this
    moved.set(this.rest)
    movements.forEach((name, n) => {
      const weight = weights[name] ?? 0
      if (Math.abs(weight) < 1e-4) return
      const field = this.#fields[n]
      for (let i = 0; i < moved.length; i++) moved[i] += weight * field[i]
    })
    return moved
  }

  /** How the head's movements take a vertex, in pixels. @param {number} vertex @param {Weights} weights @returns {Place} */
  carried(vertex, weights) {
    let x = 0, y = 0
    for (const name of whole) {
      const field = this.#fields[movements.indexOf(name)], weight = weights[name] ?? 0
      x += weight * field[2 * vertex]
      y += weight * field[2 * vertex + 1]
    }
    return [x, y]
  }

  /**
   * A lid that is shut more or less, from the left to the right: where its skin begins and where it ends, moved with
   * the head.
   * @param {number} side -1 for the eye on the left, 1 for the one on the right
   * @param {number} shut from 0 to 1
   * @param {Weights} weights
   * @returns {{from: Place[], to: Place[]}} in pixels
   */
  lid(side, shut, weights) {
    const from = [], to = []
    for (let i = 0; i <= 16; i++) {
      const { a, upper, lower } = this.#lidsAt(side, -1.04 + 2.08 * i / 16)
      from.push(this.#carry(a, upper - 0.022, weights))
      to.push(this.#carry(a, upper + (lower + 0.018 - upper) * shut, weights))
    }
    return { from, to }
  }

  /** Where the head takes a place, in pixels. @returns {Place} */
  #carry(a, b, weights) {
    const { ux, uy } = this.axes
    let [x, y] = this.axes.at(a, b)
    for (const name of whole) {
      const weight = weights[name] ?? 0
      if (!weight) continue
      const [da, db] = this.#way(name, a, b, 0)
      const held = weight * this.#held(x, y)
      x += held * (da * ux - db * uy)
      y += held * (da * uy + db * ux)
    }
    return [x, y]
  }
}

/** Lines along a side at most, however small a face is in its picture. */
const mostLines = 150

/** Places along a side, from 0 to its end, whose distance at each is as asked. */
function lines(long, from, asked) {
  const step = (at) => Math.max(asked(at), long / mostLines)
  const after = [], before = []
  const middle = Math.max(0, Math.min(long, from))
  for (let at = middle; at < long - 0.3 * step(at); at += step(at)) after.push(at)
  for (let at = middle - step(middle); at > 0.3 * step(at); at -= step(at)) before.unshift(at)
  return [0, ...before, ...after.filter((at) => at > 0), long]
}

function nearest(places, wanted) {
  return places.reduce((best, at, i) => Math.abs(at - wanted) < Math.abs(places[best] - wanted) ? i : best, 0)
}
