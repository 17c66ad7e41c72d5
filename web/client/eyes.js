// Draws the eyes: white, iris and lids, which look and blink.

import { area, heightAt, spot } from './mouth.js'

/** @typedef {import('./rig.js').Rig} Rig */

/** How far an iris goes from the middle, in design units. */
const reach = { x: 11, y: 7 }

/** EyePainter draws both eyes of one face. */
export class EyePainter {
  #rig
  #layers

  /**
   * @param {Rig} rig
   * @param {import('./rig.js').Layers} layers
   */
  constructor(rig, layers) {
    this.#rig = rig
    this.#layers = layers
  }

  /**
   * The edges of the right eye's lids.
   * @param {number} shut from -0.3 (wide open) over 0 (at rest) to 1 (closed)
   * @param {number} squint how far the lower lid is up, from 0 to 1
   */
  lids(shut, squint) {
    const { upperLid, lowerLid } = this.#rig
    const last = lowerLid.length - 1
    const lower = lowerLid.map(([x, y], i) => [x, y - squint * 4.2 * Math.sin(Math.PI * i / last)])
    const upper = upperLid.map(([x, y]) => {
      const closed = heightAt(lower, x) + 0.6
      return [x, y + (closed - y) * Math.max(shut, -0.3)]
    })
    return { upper, lower }
  }

  /**
   * @param {CanvasRenderingContext2D} c in design units
   * @param {{shut: number, squint: number, gazeX: number, gazeY: number}} look gaze is from -1 to 1, right and down positive
   */
  draw(c, look) {
    const { middle } = this.#rig
    const lids = this.lids(Math.min(1, look.shut), look.squint)
    for (const side of [1, -1]) {
      c.save()
      this.#ball(c, side, lids, look)
      c.restore()
      c.save()
      // Lids are the same on both sides, but for which side they are on.
      if (side < 0) {
        c.translate(2 * middle, 0)
        c.scale(-1, 1)
      }
      this.#lid(c, lids, look.shut)
      c.restore()
    }
    c.save()
    c.translate(0, -look.squint * 3)
    this.#layers.draw(c, 'lowerLids')
    c.restore()
    c.save()
    c.globalAlpha = 1 - 0.75 * Math.min(1, Math.max(0, look.shut))
    c.translate(0, 3 * Math.max(-0.3, look.shut))
    this.#layers.draw(c, 'folds')
    c.restore()
  }

  #ball(c, side, { upper, lower }, { shut, gazeX, gazeY }) {
    if (shut > 0.97) return
    const { middle, tones, gaze } = this.#rig
    const on = (line) => side > 0 ? line : line.map(([x, y]) => [2 * middle - x, y])
    const [above, below] = [on(upper), on(lower)]
    area(c, above, below)
    c.clip()
    c.fillStyle = tones.white
    c.fill()
    c.globalAlpha = 0.6
    spot(c, above[0][0], above[0][1], 13, 10, tones.blush)
    c.globalAlpha = 0.2
    c.strokeStyle = tones.deep
    stroke(c, below, 7)
    c.globalAlpha = 1
    const dx = gazeX * reach.x, dy = gazeY * reach.y
    c.save()
    c.translate(dx + (side > 0 ? 0 : 2 * (middle - gaze[0])), dy)
    this.#layers.draw(c, 'iris')
    c.restore()
    // The upper lid keeps the light from the ball.
    c.strokeStyle = tones.line
    c.globalAlpha = 0.2
    stroke(c, above, 13)
    c.globalAlpha = 0.24
    stroke(c, above, 7)
    // What the eye mirrors stays nearly where it is while it looks about.
    c.globalAlpha = 1
    c.translate(dx * 0.55 + (side > 0 ? 0 : 2 * (middle - gaze[0])), dy * 0.55)
    this.#layers.draw(c, 'catchlight')
  }

  #lid(c, { upper }, shut) {
    const { tones, upperLid, lashes } = this.#rig
    if (shut > 0.01) {
      const top = upperLid.map(([x, y]) => [x, y - 2])
      const skin = c.createLinearGradient(0, this.#rig.eye - 24, 0, this.#rig.eye + 14)
      skin.addColorStop(0, tones.deep)
      skin.addColorStop(0.28, tones.lid)
      skin.addColorStop(0.7, tones.skin)
      skin.addColorStop(1, tones.lid)
      area(c, top, upper)
      c.fillStyle = skin
      c.fill()
    }
    c.fillStyle = tones.lash
    c.globalAlpha = 0.95
    const last = upper.length - 1
    const width = (t) => (2.2 + 0.6 * lashes + (1.8 + 1.4 * lashes) * t) * Math.min(1, 0.35 + 3 * t) * Math.min(1, 0.45 + 4 * (1 - t)) / 2
    area(c, upper.map(([x, y], i) => [x, y - width(i / last)]), upper.map(([x, y], i) => [x, y + width(i / last)]))
    c.fill()
    if (lashes > 0) this.#lashes(c, upper, shut)
    c.globalAlpha = 1
  }

  /** Single lashes along the outer part of the lid; they point down where it is closed. */
  #lashes(c, upper, shut) {
    const last = upper.length - 1
    const turned = 1 - 1.7 * Math.min(1, Math.max(0, shut))
    c.globalAlpha = 0.92
    c.beginPath()
    for (let i = 0; i < 13; i++) {
      const t = 0.3 + 0.7 * i / 12
      const [x, y] = upper[Math.floor(t * last)]
      const long = (4 + 7.5 * t * t) * this.#rig.lashes
      const [ax, ay] = [0.1 + 0.85 * t * t, (-1 + 0.3 * t * t) * turned]
      const size = Math.hypot(ax, ay)
      const [dx, dy] = [ax / size * long, ay / size * long]
      c.moveTo(x - 1.1, y)
      c.quadraticCurveTo(x + dx * 0.5, y + dy * 0.3, x + dx, y + dy)
      c.quadraticCurveTo(x + dx * 0.75, y + dy * 0.35, x + 1.1, y)
    }
    c.fill()
  }
}

function stroke(c, line, width) {
  c.lineWidth = width
  c.lineCap = 'round'
  c.beginPath()
  line.forEach(([x, y], i) => i ? c.lineTo(x, y + width * 0.15) : c.moveTo(x, y + width * 0.15))
  c.stroke()
}
