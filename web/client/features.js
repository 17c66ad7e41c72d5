// Looks at a portrait's pixels for what its landmarks do not say.

/** @typedef {import('./mesh.js').Features} Features */

/**
 * @param {{width: number, height: number, data: Uint8ClampedArray}} pixels of the picture
 * @param {import('./rig.js').Landmarks} marks as shares of the picture
 * @returns {Features & {lash: string, skin: string}} and the colors of lashes and of skin
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
  const light = (p) => {
    const [r, g, b] = color(p)
    return 0.3 * r + 0.59 * g + 0.11 * b
  }
  const clear = ([x, y]) => data[4 * (Math.round(y * (height - 1)) * width + Math.round(x * (width - 1))) + 3] < 40
  // Skin is what the cheeks are, below the eyes.
  const cheeks = []
  for (const eye of [left, right]) for (let a = -0.12; a <= 0.12; a += 0.04) for (let b = 0.3; b < 0.46; b += 0.04) cheeks.push(color(place(eye, a, b)))
  const skin = median(cheeks)
  return {
    seam: seamOf(marks, at, light),
    lids: [left, right].map((eye) => lidOf(eye, place, light)),
    cut: [[0.01, 0.01], [0.99, 0.01]].some(clear),
    skin: css(skin), lash: css(skin.map((v) => v * 0.22)),
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

/** How far the upper lid is above the pupil: where, upward, dark lashes end and skin begins. */
function lidOf(eye, place, light) {
  const found = []
  for (let a = -0.1; a <= 0.101; a += 0.025) {
    let best = 0, steepest = 10
    for (let b = 0.06; b <= 0.17; b += 0.006) {
      const steep = light(place(eye, a, -b - 0.016)) - light(place(eye, a, -b + 0.016))
      if (steep > steepest) [best, steepest] = [b, steep]
    }
    if (best) found.push(best + 0.012)
  }
  if (found.length < 4) return 0.115
  return Math.max(0.08, Math.min(0.155, found.sort((x, y) => x - y)[found.length >> 1]))
}

const median = (colors) => [0, 1, 2].map((i) => colors.map((c) => c[i]).sort((a, b) => a - b)[colors.length >> 1])
const css = (color) => `rgb(${color.map((v) => Math.round(v)).join(' ')})`
