// A library face that lives on a canvas.

import { EyePainter } from './eyes.js'
import { Life } from './life.js'
import { lowest, MouthPainter } from './mouth.js'
import { Layers } from './rig.js'
import { rest } from './visemes.js'

/** @typedef {import('./rig.js').Rig} Rig */
/** @typedef {import('./visemes.js').Mouth} Mouth */

/** How far layers go when the head turns: what is nearer goes further. */
const depth = { behind: -0.55, ears: -0.2, face: 0.3, brow: 0.62, eyes: 0.58, nose: 1.0, mouth: 0.72, beard: 0.62, front: 0.42, glasses: 0.85 }
/** The most that a head turns, nods and leans, in design units and radians. */
const most = { yaw: 15, pitch: 12, roll: 0.055 }
/** Pixels that are drawn at most, whatever the screen has. */
const mostPixels = 1_600_000
/** A frame that took longer than this, on average, is drawn with fewer pixels from then on, in milliseconds. */
const slow = 11

/**
 * Face is a face on a canvas. It draws nothing while nobody can see it.
 */
export class Face {
  #canvas
  #c
  #rig
  #layers
  #eyes
  #mouth
  #make
  #now
  #request
  #cancel
  #life
  #frame = 0
  #shown = true
  #running = false
  #wall = null
  #view = { zoom: 1, x: 0, y: 0 }
  #ratio = 1
  #spent = 0
  #drawn = 0
  /** What swings after the head: hair and earrings. */
  #swing = { hair: 0, speed: 0, drop: 0, dropSpeed: 0, lastX: 0 }
  #lastSwing = 0
  #listeners = []
  /** The mouth at the moment; the sound's clock says when. @type {() => Mouth} */
  #speech = () => rest
  /** How the mouth stood in the last frame. @type {Mouth} */
  mouth = rest

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{rig: Rig, sheet: CanvasImageSource}} loaded
   * @param {object} [seams] for tests
   * @param {() => number} [seams.now]
   * @param {(draw: () => void) => number} [seams.request]
   * @param {(frame: number) => void} [seams.cancel]
   * @param {() => number} [seams.random]
   * @param {(width: number, height: number) => any} [seams.make]
   * @param {boolean} [seams.still]
   */
  constructor(canvas, { rig, sheet }, {
    now = () => performance.now(), request = (draw) => requestAnimationFrame(draw), cancel = (frame) => cancelAnimationFrame(frame),
    random = Math.random, make = newCanvas, still,
  } = {}) {
    this.#canvas = canvas
    this.#c = canvas.getContext('2d', { alpha: false })
    this.#rig = rig
    this.#make = make
    this.#now = now
    this.#request = request
    this.#cancel = cancel
    this.#layers = new Layers(rig, sheet, make)
    this.#eyes = new EyePainter(rig, this.#layers)
    this.#mouth = new MouthPainter(rig)
    this.#life = new Life(random)
    this.#watch(still)
  }

  /** What the face shows: listening, thinking, speaking or idle. */
  set state(name) { this.#life.state = name }

  /** What the mouth does. @param {() => Mouth} speech asked in every frame */
  set speech(speech) { this.#speech = speech }

  /** Where the face is turned beside the visitor, from -1 to 1. */
  set turn(side) { this.#life.turn = side }

  /** Shows one of the wire's gestures. @param {string} name */
  gesture(name) { this.#life.gesture(name, this.#now()) }

  /** Closes the lids for a moment. */
  blink() { this.#life.blink(this.#now()) }

  /** Has the eyes follow a place on the page a little. */
  follow(x, y) {
    const box = this.#canvas.getBoundingClientRect()
    const part = (v, from, size) => Math.max(-1, Math.min(1, (v - from - size / 2) / Math.max(size, 300)))
    this.#life.pointer = { x: part(x, box.left, box.width), y: part(y, box.top, box.height), at: this.#now() }
  }

  /** Begins to live. */
  start() {
    this.#running = true
    this.resize()
    this.#wake()
  }

  /** Ends for good. */
  stop() {
    this.#running = false
    this.#sleep()
    for (const undo of this.#listeners.splice(0)) undo()
  }

  /** Whether frames are drawn. */
  get awake() { return this.#frame !== 0 }

  /** Frames drawn so far, and what they cost in milliseconds of the main thread. */
  get figures() { return { frames: this.#drawn, spent: this.#spent } }

  /** Fits the picture to the canvas's size on the page. */
  resize(width = this.#canvas.clientWidth, height = this.#canvas.clientHeight) {
    if (!width || !height) return
    const dense = Math.min(globalThis.devicePixelRatio || 1, 2, Math.sqrt(mostPixels / (width * height))) * this.#ratio
    this.#canvas.width = Math.round(width * dense)
    this.#canvas.height = Math.round(height * dense)
    const { top, side } = this.#rig.frame
    // The whole height where that is wide enough for the shoulders; more wall above where it is not.
    const zoom = Math.min(this.#canvas.height / side, this.#canvas.width / 560)
    this.#view = { zoom, x: this.#canvas.width / 2 - this.#rig.middle * zoom, y: this.#canvas.height - (top + side) * zoom }
    this.#layers.fit(zoom)
    this.#wall = this.#paintWall()
    if (this.#running) this.draw()
  }

  #paintWall() {
    const { width, height } = this.#canvas
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

  #watch(still) {
    const on = (target, type, act) => {
      target?.addEventListener?.(type, act)
      this.#listeners.push(() => target?.removeEventListener?.(type, act))
    }
    const page = globalThis.document
    on(page, 'visibilitychange', () => page.hidden ? this.#sleep() : this.#wake())
    const calm = globalThis.matchMedia?.('(prefers-reduced-motion: reduce)')
    const settle = () => { this.#life.still = still ?? calm?.matches ?? false }
    settle()
    on(calm, 'change', settle)
    if (globalThis.IntersectionObserver) {
      const seen = new IntersectionObserver(([entry]) => {
        this.#shown = entry.isIntersecting
        this.#shown ? this.#wake() : this.#sleep()
      })
      seen.observe(this.#canvas)
      this.#listeners.push(() => seen.disconnect())
    }
    if (globalThis.ResizeObserver) {
      const sized = new ResizeObserver(() => this.resize())
      sized.observe(this.#canvas)
      this.#listeners.push(() => sized.disconnect())
    }
  }

  #wake() {
    if (!this.#running || this.#frame || !this.#shown || globalThis.document?.hidden) return
    const next = () => {
      this.#frame = this.#request(next)
      const from = this.#now()
      this.draw()
      this.#measure(this.#now() - from)
    }
    this.#frame = this.#request(next)
  }

  #sleep() {
    if (this.#frame) this.#cancel(this.#frame)
    this.#frame = 0
  }

  /** Draws fewer pixels where the machine cannot keep up. */
  #measure(took) {
    this.#spent += took
    this.#drawn++
    if (this.#drawn % 90 || this.#ratio < 0.6) return
    const average = (this.#spent - this.#spentBefore) / 90
    this.#spentBefore = this.#spent
    if (average > slow) {
      this.#ratio *= 0.8
      this.resize()
    }
  }
  #spentBefore = 0

  /** Draws one frame as the face is now. */
  draw() {
    const c = this.#c, now = this.#now()
    if (!this.#wall) return
    const m = this.mouth = this.#speech()
    const p = this.#life.at(now, m.gap)
    this.#hang(now, p)
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
  #hang(now, { yaw, roll }) {
    const s = this.#swing
    const d = Math.min(0.05, (now - this.#lastSwing) / 1000)
    this.#lastSwing = now
    if (this.#life.still) {
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

function newCanvas(width, height) {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  return canvas
}

/** A color between two, as #rrggbb. */
function mix(a, b, t) {
  const part = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16)
  return '#' + [0, 1, 2].map((i) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * t).toString(16).padStart(2, '0')).join('')
}
