// A portrait that lives: an organization's own face, moved as a mesh.

import { featuresOf } from './features.js'
import { check, Mesh } from './mesh.js'
import { area, paintInside } from './mouth.js'
import { ease } from './visemes.js'
import { warpOf } from './warp.js'

/** @typedef {import('./rig.js').MeshRig} MeshRig */
/** @typedef {import('./visemes.js').Mouth} Mouth */

/** How many design units of a library face (mouth.js) the eyes are apart. */
const apart = 165
/** What is behind nearly closed lips. */
const dark = '#32100f'
/** How far lips part before something is seen between them, in design units. */
const least = 2
/** How many pixels of the picture are looked at, at most, on its longer side. */
const looked = 640
/** Behind a person whose background was cut out: in the middle, and in the corners. */
const wall = ['#e9e5df', '#c6beb3']

/** Portrait paints a picture by its landmarks. */
export class Portrait {
  #sheet
  #make
  #mesh
  #features
  #warp
  #shown
  #behind = null
  #view = { zoom: 1, x: 0, y: 0 }
  /** Whether the picture's sides run into what is behind. */
  #fades = false

  /**
   * It throws where the landmarks are no face's.
   * @param {{rig: MeshRig, sheet: any}} loaded
   * @param {(width: number, height: number) => any} make makes a canvas
   */
  constructor({ rig, sheet }, make) {
    check(rig.landmarks) // before its pixels are looked at
    this.#sheet = sheet
    this.#make = make
    const { width, height } = sheet
    this.#features = featuresOf(pixelsOf(sheet, make), rig.landmarks)
    this.#mesh = new Mesh({ width, height, landmarks: rig.landmarks, features: this.#features })
    const edge = 0.06 * width
    this.#shown = new Float32Array(this.#mesh.rest.length / 2)
    this.#shown.forEach((_, i) => { this.#shown[i] = Math.min(1, this.#mesh.rest[2 * i] / edge, (width - this.#mesh.rest[2 * i]) / edge) })
    this.#warp = warpOf(sheet, this.#mesh, this.#shown, make)
  }

  /** Ends for good. */
  end() { this.#warp.end() }

  /** Fits the picture to a canvas. @param {number} width in pixels @param {number} height */
  fit(width, height) {
    this.#view = viewOf({ width, height }, this.#sheet, this.#mesh, this.#features.cut)
    this.#fades = !this.#features.cut && this.#sheet.width * this.#view.zoom < width - 1
    this.#warp.fit(width, height)
    this.#behind = this.#paintBehind(width, height)
  }

  /** What is seen where the picture is not. */
  #paintBehind(width, height) {
    const behind = this.#make(width, height)
    const c = behind.getContext('2d')
    const light = c.createRadialGradient(width * 0.42, height * 0.36, 0, width * 0.42, height * 0.36, Math.hypot(width, height) * 0.7)
    wall.forEach((color, i) => light.addColorStop(i, color))
    c.fillStyle = light
    c.fillRect(0, 0, width, height)
    if (!this.#fades) return behind
    // The picture's own colors, without its shapes.
    const small = this.#make(12, 12)
    small.getContext('2d').drawImage(this.#sheet, 0, 0, 12, 12)
    c.imageSmoothingQuality = 'high'
    c.drawImage(small, -0.1 * width, -0.1 * height, 1.2 * width, 1.2 * height)
    return behind
  }

  /**
   * Draws one frame.
   * @param {CanvasRenderingContext2D} c
   * @param {import('./life.js').Pose} p
   * @param {Mouth} m
   */
  draw(c, p, m) {
    const weights = weightsOf(p, m, this.#mesh.half)
    const moved = this.#mesh.pose(weights)
    if (this.#warp.lost) {
      this.#warp = warpOf(this.#sheet, this.#mesh, this.#shown, this.#make)
      this.#warp.fit(c.canvas.width, c.canvas.height)
    }
    this.#warp.draw(moved, this.#view, this.#fades)
    c.setTransform(1, 0, 0, 1, 0, 0)
    c.drawImage(this.#behind, 0, 0)
    c.drawImage(this.#warp.canvas, 0, 0, c.canvas.width, c.canvas.height)
    const { zoom, x, y } = this.#view
    c.setTransform(zoom, 0, 0, zoom, x, y)
    this.#inside(c, m, weights)
    for (const side of [-1, 1]) this.#lid(c, side, p.shut, weights)
  }

  /** What is seen between open lips. */
  #inside(c, m, weights) {
    const { axes, seam, rest, moved } = this.#mesh
    const scale = axes.size / apart
    const middle = seam.upper[seam.upper.length >> 1]
    const [dx, dy] = this.#mesh.carried(middle, weights)
    const [ox, oy] = [rest[2 * middle] + dx, rest[2 * middle + 1] + dy]
    const [ux, uy] = [axes.ux / axes.size, axes.uy / axes.size]
    const local = (vertex) => {
      const x = moved[2 * vertex] - ox, y = moved[2 * vertex + 1] - oy
      return [(x * ux + y * uy) / scale, (y * ux - x * uy) / scale]
    }
    const upperInner = seam.upper.map(local), lowerInner = seam.lower.map(local)
    const gap = Math.max(...lowerInner.map(([, y], i) => y - upperInner[i][1]))
    if (gap < 0.05) return
    c.save()
    c.transform(ux * scale, uy * scale, -uy * scale, ux * scale, ox, oy)
    // Where lips part there is nothing of the picture.
    area(c, upperInner, lowerInner)
    c.fillStyle = c.strokeStyle = dark
    c.lineWidth = 0.8
    c.fill()
    c.stroke()
    c.globalAlpha = ease((gap - least) / 3) * (1 - 0.9 * m.tuck)
    if (c.globalAlpha > 0.01) paintInside(c, { upperInner, lowerInner, half: 0.56 * (upperInner.at(-1)[0] - upperInner[0][0]), middle: 0, mouth: 0, low: false }, m)
    // Little light comes in where lips are nearly closed.
    area(c, upperInner, lowerInner)
    c.globalAlpha = 0.9 * Math.max(0, 1 - gap / 11)
    c.fillStyle = dark
    c.fill()
    c.restore()
  }

  /** A lid that shuts, or a part of one. */
  #lid(c, side, shut, weights) {
    if (shut < 0.03) return
    const { from, to } = this.#mesh.lid(side, Math.min(1, shut), weights)
    const unit = this.#mesh.axes.size, mid = from.length >> 1
    const { down, sides } = this.#features.lids[side < 0 ? 0 : 1]
    const skin = c.createLinearGradient(...from[mid], ...to[mid]), across = c.createLinearGradient(...from[0], ...from.at(-1))
    down.forEach((color, i) => skin.addColorStop(i / 2, color))
    sides.forEach((color, i) => {
      across.addColorStop(i, `rgb(${color} / .8)`)
      across.addColorStop(i ? 0.62 : 0.38, `rgb(${color} / 0)`)
    })
    c.save()
    c.lineJoin = c.lineCap = 'round'
    area(c, from, to)
    // Its edges run into the skin.
    c.shadowColor = down[0]
    c.shadowBlur = 0.05 * unit * this.#view.zoom
    c.fillStyle = skin
    c.fill()
    c.shadowBlur = 0
    c.fillStyle = across
    c.fill()
    // Lashes end it.
    c.strokeStyle = this.#features.lash
    const shown = ease((shut - 0.03) / 0.15)
    for (const [width, alpha] of [[0.026, 0.3], [0.013, 0.55]]) {
      c.globalAlpha = alpha * shown
      c.lineWidth = width * unit
      line(c, to.slice(1, -1))
    }
    c.restore()
  }
}

/**
 * Where a picture is shown on a canvas: all of the canvas is covered, unless that would cut hair or chin off.
 * @param {{width: number, height: number}} canvas
 * @param {{width: number, height: number}} picture
 * @param {Mesh} mesh
 * @param {boolean} cut whether the picture has no background: then it stands on the canvas's lower edge
 * @returns {{zoom: number, x: number, y: number}} pixels of the canvas per pixel of the picture, and where that begins
 */
export function viewOf({ width, height }, picture, { axes, chin }, cut) {
  const cover = Math.max(width / picture.width, height / picture.height)
  const zoom = cut
    ? Math.min(height / picture.height, width / (2.9 * axes.size))
    : Math.min(cover, Math.max(height / ((chin + 1.9) * axes.size), height / picture.height))
  const place = (long, side, wanted) => side * zoom <= long ? (long - side * zoom) / 2 : Math.max(long - side * zoom, Math.min(0, wanted))
  return {
    zoom, x: place(width, picture.width, width / 2 - axes.x * zoom),
    y: cut ? height - picture.height * zoom : place(height, picture.height, height * 0.45 - (axes.y + 0.3 * axes.size) * zoom),
  }
}

function line(c, places) {
  c.beginPath()
  places.forEach(([x, y], i) => i ? c.lineTo(x, y) : c.moveTo(x, y))
  c.stroke()
}

/**
 * What a pose and a mouth move of a mesh, and how far.
 * @param {import('./life.js').Pose} p
 * @param {Mouth} m
 * @param {number} half half the width of the mouth
 * @returns {import('./mesh.js').Weights}
 */
export function weightsOf(p, m, half) {
  const gap = 0.52 * half * m.gap, jaw = 0.27 * half * m.jaw
  // What is smiled at rest is in the picture already.
  const smile = (p.smile - 0.2) * (1 - 0.5 * Math.min(1, m.gap * 2 + Math.max(0, -m.wide)))
  return {
    jaw, up: 0.24 * gap + 0.012 * m.tuck, down: Math.max(0, 0.76 * gap - jaw),
    wide: 0.1 * Math.max(m.wide, 0) - 0.26 * Math.max(-m.wide, 0) - 0.09 * m.jaw * m.gap + 0.13 * smile,
    smile: 0.075 * smile, press: 0.3 * m.press - 0.22 * m.pucker - 0.1 * m.gap, tuck: 0.045 * m.tuck,
    widen: 0.6 * Math.max(0, -p.shut), squint: 0.03 * p.squint, gazeX: 0.05 * p.gazeX, gazeY: 0.03 * p.gazeY,
    brow: 0.05 * p.brow, worry: 0.03 * p.worry,
    yaw: 0.09 * p.yaw, pitch: 0.07 * p.pitch, roll: 0.05 * p.roll, breath: 0.016 * p.breath, shrug: 0.06 * p.shrug,
  }
}

/** The pixels of a picture that is looked at. */
function pixelsOf(sheet, make) {
  const share = Math.min(1, looked / Math.max(sheet.width, sheet.height))
  const [width, height] = [Math.round(sheet.width * share), Math.round(sheet.height * share)]
  const c = make(width, height).getContext('2d', { willReadFrequently: true })
  c.drawImage(sheet, 0, 0, width, height)
  return c.getImageData(0, 0, width, height)
}
