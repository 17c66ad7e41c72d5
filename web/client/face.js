// A face that lives on a canvas: one of the library's, or an organization's own.

import { Drawn } from './drawn.js'
import { Life } from './life.js'
import { Portrait } from './portrait.js'
import { rest } from './visemes.js'

/** @typedef {import('./rig.js').Rig} Rig */
/** @typedef {import('./rig.js').MeshRig} MeshRig */
/** @typedef {import('./visemes.js').Mouth} Mouth */

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
  #painter
  #now
  #request
  #cancel
  #life
  #frame = 0
  #shown = true
  #running = false
  #ratio = 1
  #spent = 0
  #drawn = 0
  #fitted = false
  #listeners = []
  /** The mouth at the moment; the sound's clock says when. @type {() => Mouth} */
  #speech = () => rest
  /** How the mouth stood in the last frame. @type {Mouth} */
  mouth = rest

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{rig: Rig | MeshRig, sheet: CanvasImageSource}} loaded
   * @param {object} [seams] for tests
   * @param {() => number} [seams.now]
   * @param {(draw: () => void) => number} [seams.request]
   * @param {(frame: number) => void} [seams.cancel]
   * @param {() => number} [seams.random]
   * @param {(width: number, height: number) => any} [seams.make]
   * @param {boolean} [seams.still]
   */
  constructor(canvas, loaded, {
    now = () => performance.now(), request = (draw) => requestAnimationFrame(draw), cancel = (frame) => cancelAnimationFrame(frame),
    random = Math.random, make = newCanvas, still,
  } = {}) {
    this.#canvas = canvas
    this.#c = canvas.getContext('2d', { alpha: false })
    this.#now = now
    this.#request = request
    this.#cancel = cancel
    this.#painter = loaded.rig.mesh ? new Portrait(loaded, make) : new Drawn(loaded, make)
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
    this.#painter.end?.()
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
    this.#painter.fit(this.#canvas.width, this.#canvas.height)
    this.#fitted = true
    if (this.#running) this.draw()
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
    if (!this.#fitted) return
    const now = this.#now()
    const m = this.mouth = this.#speech()
    this.#painter.draw(this.#c, this.#life.at(now, m.gap), m, { now, still: this.#life.still })
  }
}

function newCanvas(width, height) {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  return canvas
}
