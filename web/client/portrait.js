// A portrait that lives: an organization's own face, moved as a mesh.

import { featuresOf } from './features.js'
import { Mesh } from './mesh.js'
import { paintInside } from './mouth.js'
import { ease } from './visemes.js'
import { warpOf } from './warp.js'

/** @typedef {import('./rig.js').MeshRig} MeshRig */
/** @typedef {import('./visemes.js').Mouth} Mouth */

/** How many design units of a library face (mouth.js) the eyes are apart. */
const apart = 165
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

  /**
   * @param {{rig: MeshRig, sheet: any}} loaded
   * @param {(width: number, height: number) => any} make makes a canvas
   */
  constructor({ rig, sheet }, make) {
    this.#sheet = sheet
    this.#make = make
    const { width, height } = sheet
    this.#features = featuresOf(pixelsOf(sheet, make), rig.landmarks)
    this.#mesh = new Mesh({ width, height, landmarks: rig.landmarks, features: this.#features })
    this.#shown = new Float32Array(this.#mesh.rest.length / 2).fill(1)
    this.#warp = warpOf(sheet, this.#mesh, this.#shown, make)
  }

  /** Ends for good. */
  end() { this.#warp.end() }

  /** Fits the picture to a canvas. @param {number} width in pixels @param {number} height */
  fit(width, height) {
    const { sheet, mesh } = { sheet: this.#sheet, mesh: this.#mesh }
    const unit = mesh.axes.size
    // From the hair down to below the chin, all of it is seen.
    const tallest = height / ((mesh.chin + 1.9) * unit)
    const cover = Math.max(width / sheet.width, height / sheet.height)
    const zoom = this.#features.cut ? Math.min(height / sheet.height, width / (2.9 * unit)) : Math.min(cover, Math.max(tallest, height / sheet.height))
    const place = (long, picture, wanted) => picture * zoom <= long ? (long - picture * zoom) / 2 : Math.max(long - picture * zoom, Math.min(0, wanted))
    const x = place(width, sheet.width, width / 2 - mesh.axes.x * zoom)
    const y = this.#features.cut ? height - sheet.height * zoom : place(height, sheet.height, height * 0.42 - (mesh.axes.y + 0.3 * unit) * zoom)
    this.#view = { zoom, x, y }
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
    if (this.#features.cut || this.#sheet.width * this.#view.zoom >= width) return behind
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
    this.#warp.draw(moved, this.#view)
    c.setTransform(1, 0, 0, 1, 0, 0)
    c.drawImage(this.#behind, 0, 0)
    c.drawImage(this.#warp.canvas, 0, 0, c.canvas.width, c.canvas.height)
    const { zoom, x, y } = this.#view
    c.setTransform(zoom, 0, 0, zoom, x, y)
    this.#inside(c, m, weights)
    this.#lashes(c, weights)
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
    if (gap < 0.8) return
    c.save()
    c.transform(ux * scale, uy * scale, -uy * scale, ux * scale, ox, oy)
    c.globalAlpha = Math.min(1, (gap - 0.8) / 1.5)
    paintInside(c, { upperInner, lowerInner, half: (upperInner.at(-1)[0] - upperInner[0][0]) / 2, middle: 0, mouth: 0 }, m)
    c.restore()
  }

  /** Closed lids end in a dark line. */
  #lashes(c, weights) {
    c.strokeStyle = this.#features.lash
    c.lineCap = 'round'
    c.lineWidth = 0.018 * this.#mesh.axes.size
    for (const side of [-1, 1]) {
      const shut = weights[side < 0 ? 'shutLeft' : 'shutRight']
      c.globalAlpha = 0.5 * ease((shut - 0.55) / 0.4)
      if (c.globalAlpha < 0.01) continue
      c.beginPath()
      this.#mesh.lashes(side, weights).forEach(([x, y], i) => i ? c.lineTo(x, y) : c.moveTo(x, y))
      c.stroke()
    }
    c.globalAlpha = 1
  }
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
  const shut = Math.max(-0.2, Math.min(1, p.shut))
  return {
    jaw, up: 0.24 * gap + 0.012 * m.tuck, down: Math.max(0, 0.76 * gap - jaw),
    wide: 0.1 * Math.max(m.wide, 0) - 0.26 * Math.max(-m.wide, 0) - 0.09 * m.jaw * m.gap + 0.13 * smile,
    smile: 0.075 * smile, press: 0.3 * m.press - 0.22 * m.pucker - 0.1 * m.gap, tuck: 0.045 * m.tuck,
    shutLeft: shut, shutRight: shut, squint: 0.03 * p.squint * (1 - Math.max(0, shut)), gazeX: 0.05 * p.gazeX, gazeY: 0.03 * p.gazeY,
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
