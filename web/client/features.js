// Looks at a portrait's pixels for what its landmarks do not say.

import { usualEye } from './mesh.js'

/** @typedef {import('./mesh.js').Features} Features */

/**
 * @param {{width: number, height: number, data: Uint8ClampedArray}} pixels of the picture
 * @param {import('./rig.js').Landmarks} marks as shares of the picture
 * @returns {Features & {lash: string, lids: [Lid, Lid]}} and the color of lashes, and those of either lid
 */
export function featuresOf(pixels, marks) {
  const { width, height, data } = pixels
  const at = ([x, y]) => [x * width, y * height]
  const [left, right] = [at(marks.leftEye), at(marks.rightEye)]
  const u = [right[0] - left[0], right[1] - left[1]]
  const place = ([x, y], a, b) => [x + a * u[0] - b * u[1], y + a * u[1] + b * u[0]]
  const color = ([x, y]) => {
    const i = 4 * (Math.max(0, Math.min(height - 1, Math.round(y))) * width + Math.max(0, Math.min(width - 1, Math.round(x))))
    return [data[i], data[i + 1], data[i + 2]]
  }
  const light = (p) => lightOf(color(p))
  const clear = ([x, y]) => data[4 * (Math.round(y * (height - 1)) * width + Math.round(x * (width - 1))) + 3] < 40
  // Skin is what the cheeks are, below the eyes.
  const skins = [left, right].map((eye) => {
    const cheek = []
    for (let a = -0.12; a <= 0.12; a += 0.04) for (let b = 0.26; b < 0.42; b += 0.04) cheek.push(color(place(eye, a, b)))
    return median(cheek)
  })
  const eyes = alike(...[left, right].map((eye, i) => openingOf(eye, skins[i], place, color, i ? 1 : -1)))
  return {
    seam: seamOf(marks, at, light), eyes,
    cut: [[0.01, 0.01], [0.99, 0.01]].some(clear),
    lids: [left, right].map((eye, i) => lidOf(eye, eyes[i], skins[i], place, color)),
    lash: css(skins[0].map((v) => v * 0.2)),
  }
}

/**
 * Both eyes, which are alike: what of one cannot be made out is as on the other, or as on most.
 * @returns {[import('./mesh.js').Opening, import('./mesh.js').Opening]}
 */
function alike(a, b) {
  const of = (name, usual, choose) => {
    const found = [a[name], b[name]].filter((v) => v !== null)
    return found.length ? choose(...found) : usual
  }
  const mean = (...all) => all.reduce((sum, v) => sum + v, 0) / all.length
  const inner = of('inner', 0.23, Math.max), outer = Math.max(0.245, of('outer', 0.26, Math.max))
  const [high, low] = [of('high', usualEye.high, mean), of('low', usualEye.low, mean)]
  return [{ left: -outer, right: inner, high, low }, { left: -inner, right: outer, high, low }]
}

/** Where an eye is open: around the pupil, what is unlike skin. What cannot be made out is null. */
function openingOf(eye, skin, place, color, side) {
  const [warm, bright] = [skin[0] - skin[2], lightOf(skin)]
  // The white of an eye is less warm than skin, all else is darker.
  const unlike = (a, b) => {
    const c = color(place(eye, a, b))
    return Math.abs(lightOf(c) - bright) / (40 + bright * 0.3) + Math.abs(c[0] - c[2] - warm) / (24 + Math.abs(warm) * 0.5) > 1
  }
  const step = 0.01
  const column = (a) => {
    let bottom = 0, within = 0
    // What of the column is eye may begin a little beside the line.
    for (let b = -0.05; b <= 0.051; b += step) if (unlike(a, b)) within++
    if (within < 3) return null
    for (let b = 0; b < 0.16 && (unlike(a, b) || unlike(a, b + step)); b += step) bottom = b
    return { bottom }
  }
  const reach = (way) => {
    let far = 0.1
    for (let a = 0.1; a <= 0.34 && column(way * a); a += step) far = a
    return far
  }
  const clamp = (v, least, most) => Math.max(least, Math.min(most, v))
  const [inner, outer] = [reach(-side), reach(side)].map((far) => far > 0.33 || far < 0.16 ? null : clamp(far + step, 0.2, 0.3))
  const columns = []
  for (let a = -0.1; a <= 0.101; a += 0.02) columns.push(a)
  const among = (found, share, least, most) => found.length < 5 ? null : clamp(found.sort((x, y) => x - y)[Math.floor(found.length * share)], least, most)
  // Where, upward, dark lashes end and the lid begins; brows may follow at once.
  const tops = columns.map((a) => {
    let best = 0, steepest = 8
    for (let b = 0.04; b <= 0.16; b += 0.005) {
      const steep = lightOf(color(place(eye, a, -b - 0.014))) - lightOf(color(place(eye, a, -b + 0.014)))
      const likely = steep * Math.exp(-(((b - 0.1) / 0.06) ** 2))
      if (likely > steepest) [best, steepest] = [b, likely]
    }
    return best && best + 0.01
  }).filter(Boolean)
  const bottoms = columns.map((a) => column(a)?.bottom).filter((v) => v && v < 0.14)
  return { inner, outer, high: among(tops, 0.5, 0.055, 0.15), low: among(bottoms, 0.75, 0.06, 0.115) }
}

/**
 * @typedef {object} Lid what the skin of a closed lid is like
 * @property {string[]} down colors from its top to its edge
 * @property {[string, string]} sides what is beside it, as the numbers of a color
 */

/** @returns {Lid} */
function lidOf(eye, { left, right, high, low }, skin, place, color) {
  const above = [], below = []
  for (let a = -0.1; a <= 0.101; a += 0.02) {
    for (let b = high + 0.02; b < high + 0.06; b += 0.01) above.push(color(place(eye, a, -b)))
    for (let b = low + 0.05; b < low + 0.1; b += 0.01) below.push(color(place(eye, a, b)))
  }
  const [top, bottom] = [median(above), median(below)]
  // Dark brows that begin at once are no skin.
  const crease = lightOf(top) > 0.55 * lightOf(skin) ? top : skin.map((v) => v * 0.8)
  const edge = lightOf(bottom) > 0.55 * lightOf(skin) ? bottom : skin
  const between = (t) => crease.map((v, i) => v + (edge[i] - v) * t)
  // What is beside the eye says how the light falls there.
  const beside = (a) => {
    const found = []
    for (let da = 0.02; da < 0.06; da += 0.01) for (let b = -0.04; b <= 0.02; b += 0.01) found.push(color(place(eye, a + Math.sign(a) * da, b)))
    const seen = median(found)
    const part = lightOf(seen) / lightOf(skin)
    return part > 0.68 && part < 1.15 ? seen : skin.map((v) => v * 0.92)
  }
  return {
    down: [crease.map((v) => v * 0.96), between(0.5).map((v) => Math.min(255, v * 1.02)), between(0.9).map((v) => v * 0.95)].map(css),
    sides: [beside(left), beside(right)].map((v) => v.map(Math.round).join(' ')),
  }
}

/** Where between the lips' edges the darkest line is, along which they meet. */
function seamOf(marks, at, light) {
  const [l, r, top, low] = [marks.mouthLeft, marks.mouthRight, marks.mouthTop, marks.mouthBottom].map(at)
  let best = 0.42, darkest = Infinity
  for (let share = 0.2; share <= 0.75; share += 0.025) {
    const meet = top.map((v, i) => v + (low[i] - v) * share)
    let sum = 0
    for (let s = -0.75; s <= 0.76; s += 0.125) {
      const t = (s + 1) / 2
      const edge = [l[0] + (r[0] - l[0]) * t, l[1] + (r[1] - l[1]) * t], middle = [(l[0] + r[0]) / 2, (l[1] + r[1]) / 2]
      sum += light([edge[0] + (meet[0] - middle[0]) * (1 - s * s), edge[1] + (meet[1] - middle[1]) * (1 - s * s)])
    }
    // What is far from where lips meet must be clearly darker.
    const dark = sum / 13 * (1 + 0.6 * (share - 0.42) ** 2)
    if (dark < darkest) [best, darkest] = [share, dark]
  }
  return best
}

const lightOf = ([r, g, b]) => 0.3 * r + 0.59 * g + 0.11 * b
const median = (colors) => [0, 1, 2].map((i) => colors.map((c) => c[i]).sort((a, b) => a - b)[colors.length >> 1])
const css = (color) => `rgb(${color.map((v) => Math.round(v)).join(' ')})`
