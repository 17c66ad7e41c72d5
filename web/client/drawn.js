// A library face, which is drawn in layers.

import { EyePainter } from './eyes.js'
import { lowest, MouthPainter } from './mouth.js'
import { Layers } from './rig.js'

/** @typedef {import('./rig.js').Rig} Rig */
/** @typedef {import('./visemes.js').Mouth} Mouth */

/** How far layers go when the head turns: what is nearer goes further. */
const depth = { behind: -0.55, ears: -0.2, face: 0.3, brow: 0.62, eyes: 0.58, nose: 1.0, mouth: 0.72, beard: 0.62, front: 0.42, glasses: 0.85 }
/** The most that a head turns, nods and leans, in design units and radians. */
const most = { yaw: 15, pitch: 12, roll: 0.055 }

/** Drawn paints a face that is drawn in layers. */
export class Drawn {
  #c
  #rig
  #layers
  #eyes
  #mouth
  #make
  #wall = null
  #size = { width: 0, height: 0 }
  #view = { zoom: 1, x: 0, y: 0 }
  /** What swings after the head: hair and earrings. */
  #swing = { hair: 0, speed: 0, drop: 0, dropSpeed: 0, lastX: 0 }
  #lastSwing = 0

  /**
   * @param {{rig: Rig, sheet: CanvasImageSource}} loaded
   * @param {(width: number, height: number) => any} make makes a canvas
   */
  constructor({ rig, sheet }, make) {
    this.#rig = rig
    this.#make = make
    this.#layers = new Layers(rig, sheet, make)
    this.#eyes = new EyePainter(rig, this.#layers)
    this.#mouth = new MouthPainter(rig)
  }

  /** Fits the picture to a canvas. @param {number} width in pixels @param {number} height */
  fit(width, height) {
    this.#size = { width, height }
    const { top, side } = this.#rig.frame
    // The whole height where that is wide enough for the shoulders; more wall above where it is not.
    const zoom = Math.min(height / side, width / 560)
    this.#view = { zoom, x: width / 2 - this.#rig.middle * zoom, y: height - (top + side) * zoom }
    this.#layers.fit(zoom)
    this.#wall = this.#paintWall()
  }

  #paintWall() {
    const { width, height } = this.#size
    const wall = this.#make(width, height)
    const c = wall.getContext('2d')
    const { zoom, x, y } = this.#view
    c.setTransform(zoom, 0, 0, zoom * 760 / 720, x, y)
    const light = c.createRadialGradient(420, 380 * 720 / 760, 0, 420, 380 * 720 / 760, 720)
    const [inner, outer] = this.#rig.tones.wall
    for (let i = 0; i <= 8; i++) light.addColorStop(i / 8, mix(inner, outer, (i / 8) ** 2 * (3 - i / 4)))
    c.fillStyle = light
    c.fillRect(-x / zoom, -y / zoom * 2 - 1000, width / zoom, height / zoom * 3 + 3000)
    return wall
  }

  /**
   * Draws one frame.
   * @param {CanvasRenderingContext2D} c
   * @param {import('./life.js').Pose} p
   * @param {Mouth} m
   * @param {{now: number, still: boolean}} moment
   */
  draw(c, p, m, { now, still }) {
    this.#c = c
    this.#hang(now, p, still)
    const { zoom, x, y } = this.#view
    c.setTransform(1, 0, 0, 1, 0, 0)
    c.drawImage(this.#wall, 0, 0)
    c.setTransform(zoom, 0, 0, zoom, x, y)
    this.#on(p, 'behind', () => this.#layers.draw(c, 'behind'), 0.5)
    this.#body(p)
    this.#on(p, 'behind', () => this.#layers.draw(c, 'between'), 1)
    this.#head(p, m)
  }

  /** Breathing lifts the chest. */
  #body({ breath, shrug }) {
    const c = this.#c
    const bottom = this.#rig.frame.top + this.#rig.frame.side
    c.save()
    c.translate(this.#rig.middle, bottom)
    c.scale(1 + 0.004 * breath, 1 + 0.010 * breath + 0.045 * shrug)
    c.translate(-this.#rig.middle, -bottom)
    this.#layers.draw(c, 'body')
    c.restore()
  }

  /** Draws what is on the head at its depth; what hangs swings. */
  #on({ yaw, pitch, roll, breath, shrug }, name, draw, swing = 0) {
    const c = this.#c, r = this.#rig, far = depth[name] ?? depth.face
    c.save()
    c.translate(r.middle + yaw * 4, r.chin + 30 - 2.2 * breath - 5 * shrug)
    c.rotate(roll * most.roll)
    c.translate(-r.middle + yaw * most.yaw * far, -(r.chin + 30) + pitch * most.pitch * (0.45 + 0.55 * far))
    if (swing) {
      c.translate(0, r.eye)
      c.transform(1, 0, this.#swing.hair * swing, 1, 0, 0)
      c.translate(0, -r.eye)
    }
    draw()
    c.restore()
  }

  #head(p, m) {
    const c = this.#c, r = this.#rig, layers = this.#layers
    // A smile that speaks is a smaller one.
    const smile = p.smile * (1 - 0.5 * Math.min(1, m.gap * 2 + Math.max(0, -m.wide)))
    const hang = m.jaw * lowest
    const from = r.nose + 14, long = r.chin - from
    const to = (y) => {
      const t = Math.max(0, (y - from) / long)
      return y + hang * (t < 1 ? t * t * (3 - 2 * t) : 1)
    }
    this.#on(p, 'ears', () => {
      layers.draw(c, 'ears')
      this.#earring('earringLeft', 2 * r.middle - r.lobe[0])
      this.#earring('earringRight', r.lobe[0])
    })
    this.#on(p, 'face', () => {
      layers.drawPulled(c, 'face', hang, from, to)
      c.globalAlpha = Math.min(1, Math.max(0, smile) * 0.9)
      if (c.globalAlpha > 0.02) layers.drawPulled(c, 'smile', hang, from, to)
      c.globalAlpha = 1
    })
    this.#on(p, 'nose', () => layers.draw(c, 'nose'))
    this.#on(p, 'mouth', () => {
      this.#mouth.draw(c, m, smile - 0.12)
    })
    this.#on(p, 'beard', () => layers.drawPulled(c, 'beard', hang, from, to))
    this.#on(p, 'eyes', () => this.#eyes.draw(c, p))
    this.#on(p, 'brow', () => {
      this.#brow('browLeft', -1, p)
      this.#brow('browRight', 1, p)
    })
    this.#on(p, 'front', () => layers.draw(c, 'front'), 0.5)
    this.#on(p, 'glasses', () => layers.draw(c, 'glasses'))
  }

  #brow(name, side, { brow, worry }) {
    const c = this.#c, r = this.#rig
    const x = r.middle + side * (r.gaze[0] - r.middle)
    c.save()
    c.translate(x, r.brow - 8.5 * brow - 3 * worry)
    c.rotate(side * 0.16 * worry)
    c.translate(-x, -r.brow)
    this.#layers.draw(c, name)
    c.restore()
  }

  #earring(name, x) {
    if (!this.#layers.has(name)) return
    const c = this.#c, y = this.#rig.lobe[1]
    c.save()
    c.translate(x, y)
    c.rotate(this.#swing.drop)
    c.translate(-x, -y)
    this.#layers.draw(c, name)
    c.restore()
  }

  /** Hair and earrings follow the head late, and swing out. */
  #hang(now, { yaw, roll }, still) {
    const s = this.#swing
    const d = Math.min(0.05, (now - this.#lastSwing) / 1000)
    this.#lastSwing = now
    if (still) {
      s.hair = s.drop = 0
      return
    }
    const x = yaw * 19 + roll * 22
    const push = d > 0 ? Math.max(-400, Math.min(400, (x - s.lastX) / d)) : 0
    s.lastX = x
    s.speed += (-42 * s.hair - 6.5 * s.speed + push * 0.006) * d
    s.hair += s.speed * d
    s.dropSpeed += (-150 * (s.drop + roll * most.roll) - 3.4 * s.dropSpeed + push * 0.22) * d
    s.drop = Math.max(-0.5, Math.min(0.5, s.drop + s.dropSpeed * d))
    s.hair = Math.max(-0.02, Math.min(0.02, s.hair))
  }
}

/** A color between two, as #rrggbb. */
function mix(a, b, t) {
  const part = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16)
  return '#' + [0, 1, 2].map((i) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * t).toString(16).padStart(2, '0')).join('')
}
