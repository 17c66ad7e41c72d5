// Draws a mouth: what is behind the lips, and the lips.

/** @typedef {import('./rig.js').Rig} Rig */
/** @typedef {import('./rig.js').Place} Place */
/** @typedef {import('./visemes.js').Mouth} Mouth */

/** How many places say how a lip runs. */
const columns = 36
/** How far lips part and the jaw hangs at most, in design units. */
const widest = 43
export const lowest = 23

/** MouthPainter draws the mouth of one face. */
export class MouthPainter {
  #rig
  #half
  /** The lips at rest, by column: u from -1 to 1, and heights. */
  #columns

  /** @param {Rig} rig */
  constructor(rig) {
    this.#rig = rig
    this.#half = rig.betweenLips.at(-1)[0] - rig.middle
    this.#columns = Array.from({ length: columns + 1 }, (_, i) => {
      const u = -Math.cos(Math.PI * i / columns)
      const x = rig.middle + u * this.#half
      return { u, upper: heightAt(rig.upperLip, x), between: heightAt(rig.betweenLips, x), lower: heightAt(rig.lowerLip, x) }
    })
  }

  /**
   * The lips' outlines, each from left to right.
   * @param {Mouth} m
   * @param {number} smile from -1 (sad) to 1
   */
  lips(m, smile) {
    const { middle, mouth } = this.#rig
    const half = this.#half * (1 + 0.13 * Math.max(m.wide, 0) - 0.36 * Math.max(-m.wide, 0) - 0.12 * m.jaw * m.gap + 0.17 * Math.max(smile, 0))
    const gap = widest * m.gap, raise = gap * 0.24 + 2.2 * m.tuck, drop = gap * 0.76
    const round = 0.5 + 0.2 * (1 - Math.max(-m.wide, 0)) * (1 - 0.4 * m.jaw)
    const out = { upper: [], upperInner: [], lowerInner: [], lower: [] }
    for (const c of this.#columns) {
      const x = middle + c.u * half
      const arch = Math.max(0, 1 - c.u * c.u) ** round
      const lift = -12 * smile * Math.abs(c.u) ** 1.7 + (smile > 0 ? 1.6 * smile : 0)
      // Corners come down with the jaw.
      const between = c.between + lift + 5 * m.jaw * m.gap * c.u * c.u
      const thin = 1 - 0.34 * m.press - 0.12 * Math.max(m.wide, 0) * m.gap - 0.1 * Math.max(smile, 0)
      const above = (c.between - c.upper) * thin * (1 + 0.3 * m.pucker), below = (c.lower - c.between) * thin * (1 + 0.24 * m.pucker) * (1 - 0.42 * m.tuck)
      // Open lips are drawn thinner where they are far apart.
      const stretch = 1 - 0.14 * m.gap
      const top = between - raise * arch, bottom = between + (drop - 5 * m.tuck) * arch
      out.upper.push([x, top - above * stretch])
      out.upperInner.push([x, top])
      out.lowerInner.push([x, Math.max(top, bottom)])
      out.lower.push([x, Math.max(top, bottom) + below * stretch])
    }
    return { ...out, half, gap, mouth }
  }

  /**
   * @param {CanvasRenderingContext2D} c in design units
   * @param {Mouth} m
   * @param {number} smile
   */
  draw(c, m, smile) {
    const l = this.lips(m, smile)
    this.#shadow(c, l)
    if (l.gap > 0.8) paintInside(c, { ...l, middle: this.#rig.middle }, m)
    this.#lips(c, l, m)
  }

  /** What the lips cast on the skin around them. */
  #shadow(c, l) {
    const { tones, middle } = this.#rig
    c.lineJoin = 'round'
    c.strokeStyle = c.fillStyle = tones.lipRim
    area(c, l.upper, l.lower)
    for (const [width, alpha] of [[7, 0.12], [4.4, 0.16], [2.2, 0.3]]) {
      c.lineWidth = width
      c.globalAlpha = alpha
      c.stroke()
    }
    c.globalAlpha = 0.3
    for (const [x, y] of [l.upper[0], l.upper.at(-1)]) spot(c, x + Math.sign(x - middle) * 1.5, y, 6.5, 5, tones.deep)
    c.globalAlpha = 1
  }

  #lips(c, l, m) {
    const { tones, middle } = this.#rig
    const [top, seam] = [Math.min(...l.upper.map(([, y]) => y)), l.upperInner[columns / 2][1]]
    const [lip, bottom] = [l.lowerInner[columns / 2][1], l.lower[columns / 2][1]]
    area(c, l.upper, l.upperInner)
    c.fillStyle = gradient(c, top, seam + 1, tones.lipTop)
    c.fill()
    area(c, l.lowerInner, l.lower)
    c.fillStyle = gradient(c, lip - 1, bottom, tones.lipBottom)
    c.fill()
    c.globalAlpha = 0.5
    spot(c, middle - 6, lip + (bottom - lip) * 0.5, l.half * 0.42, Math.max(2, (bottom - lip) * 0.34), tones.lipShine)
    c.globalAlpha = 0.24
    spot(c, middle - 9, top + 5.5, 13, 4, tones.lipShine)
    // What the upper lip throws on the lower one, or the dark edge of an open mouth.
    c.strokeStyle = c.fillStyle = tones.lipSeam
    const apart = Math.min(1, l.gap / 5)
    for (const [thick, alpha] of [[2.3, 0.25], [1.25 + 0.4 * m.press, 0.5], [0.7, 0.5]]) {
      c.globalAlpha = alpha * (1 - apart * 0.45)
      for (const line of apart > 0 ? [l.upperInner, l.lowerInner] : [l.upperInner]) {
        area(c, line.map(([x, y], i) => [x, y - thick * taper(i)]), line.map(([x, y], i) => [x, y + thick * taper(i)]))
        c.fill()
      }
    }
    c.globalAlpha = 1
  }
}

/**
 * Draws teeth and tongue, in the dark. They stay with skull and jaw; the lips show more or less of them.
 * @param {CanvasRenderingContext2D} c in design units
 * @param {{upperInner: Place[], lowerInner: Place[], half: number, mouth: number, middle: number, low?: boolean}} l where the lips part, from left to right; low is whether
 *   the lower teeth are seen
 * @param {Mouth} m
 */
export function paintInside(c, l, m) {
  const { middle } = l
  c.save()
  area(c, l.upperInner, l.lowerInner)
  c.clip()
  c.fillStyle = '#2b0b0d'
  c.fillRect(middle - 120, l.mouth - 40, 240, 120)
  const hang = m.jaw * lowest
  const width = l.half * 0.80
  const edge = l.mouth + 6.5
  if (l.low !== false) teeth(c, middle, edge + 3.5 + hang, edge + 16 + hang, width * 0.86, 0.82)
  tongue(c, l, m, edge + hang * 0.5)
  teeth(c, middle, l.mouth - 16, edge, width, 1)
  if (m.tongue > 0.55) tip(c, middle, m, edge)
  // The upper lip keeps the light from the teeth, and the corners lie deep.
  const dark = c.createLinearGradient(0, Math.min(...l.upperInner.map(([, y]) => y)), 0, l.mouth + 14)
  dark.addColorStop(0, 'rgb(30 6 8 / .55)')
  dark.addColorStop(0.5, 'rgb(30 6 8 / .08)')
  dark.addColorStop(1, 'rgb(30 6 8 / 0)')
  c.fillStyle = dark
  c.fillRect(middle - 120, l.mouth - 40, 240, 120)
  const sides = c.createLinearGradient(middle - l.half, 0, middle + l.half, 0)
  for (const [at, alpha] of [[0, 0.9], [0.2, 0.42], [0.4, 0], [0.6, 0], [0.8, 0.42], [1, 0.9]]) sides.addColorStop(at, `rgb(36 9 11 / ${alpha})`)
  c.fillStyle = sides
  c.fillRect(middle - 120, l.mouth - 40, 240, 120)
  c.restore()
}

function teeth(c, middle, top, bottom, half, light) {
  const shade = c.createLinearGradient(0, top, 0, bottom)
  shade.addColorStop(0, tooth(0.86 * light))
  shade.addColorStop(1, tooth(light))
  c.fillStyle = shade
  c.beginPath()
  c.moveTo(middle - half, top)
  c.lineTo(middle + half, top)
  c.lineTo(middle + half, bottom - 5)
  c.quadraticCurveTo(middle + half * 0.5, bottom, middle, bottom)
  c.quadraticCurveTo(middle - half * 0.5, bottom, middle - half, bottom - 5)
  c.fill()
  c.strokeStyle = 'rgb(120 84 70 / .20)'
  c.lineWidth = 0.8
  c.beginPath()
  for (const at of [-0.58, -0.29, 0, 0.29, 0.58]) {
    c.moveTo(middle + at * half, top)
    c.lineTo(middle + at * half, bottom - 1.5 - 4 * at * at)
  }
  c.stroke()
}

function tongue(c, l, m, edge) {
  const { middle } = l
  const y = edge + 13 - 8 * m.tongue
  const shade = c.createRadialGradient(middle - 3, y - 4, 2, middle, y, l.half * 0.62)
  shade.addColorStop(0, '#c4666a')
  shade.addColorStop(1, '#7c3036')
  c.fillStyle = shade
  c.beginPath()
  c.ellipse(middle, y + 3, l.half * 0.60, 13, 0, 0, 2 * Math.PI)
  c.fill()
}

/** The tongue's tip at or between the teeth. */
function tip(c, middle, m, edge) {
  const y = edge + 6 - 5 * (m.tongue - 0.55) / 0.45
  c.fillStyle = '#c06468'
  c.beginPath()
  c.ellipse(middle, y + 4, 21, 8.5, 0, 0, 2 * Math.PI)
  c.fill()
}

/** How thick a line is along its way: it ends in points. */
const taper = (i) => Math.sqrt(Math.sin(Math.PI * Math.min(0.99, Math.max(0.01, i / columns))))

const tooth = (light) => `rgb(${[244, 237, 228].map((v) => Math.round(v * light)).join(' ')})`

function gradient(c, from, to, [first, last]) {
  const g = c.createLinearGradient(0, from, 0, Math.max(to, from + 0.1))
  g.addColorStop(0, first)
  g.addColorStop(1, last)
  return g
}

/** Makes the area between two lines that run from left to right the path. */
export function area(c, above, below) {
  c.beginPath()
  above.forEach(([x, y], i) => i ? c.lineTo(x, y) : c.moveTo(x, y))
  for (let i = below.length - 1; i >= 0; i--) c.lineTo(below[i][0], below[i][1])
  c.closePath()
}

/** Paints a spot that fades toward its edge. */
export function spot(c, x, y, rx, ry, color) {
  c.save()
  c.translate(x, y)
  c.scale(rx, ry)
  const g = c.createRadialGradient(0, 0, 0, 0, 0, 1)
  g.addColorStop(0, color)
  g.addColorStop(0.45, color + '9c')
  g.addColorStop(1, color + '00')
  c.fillStyle = g
  c.fillRect(-1, -1, 2, 2)
  c.restore()
}

/** The height of a line that runs from left to right. */
export function heightAt(line, x) {
  if (x <= line[0][0]) return line[0][1]
  for (let i = 1; i < line.length; i++) {
    const [x1, y1] = line[i], [x0, y0] = line[i - 1]
    if (x <= x1) return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1
  }
  return line.at(-1)[1]
}
