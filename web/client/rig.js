// A face as the server sends it: what is where, and the pictures. A library face comes in
// layers, an organization's own as a picture with its landmarks.

/**
 * @typedef {[number, number]} Place in design units (pkg/personas/avatar/portrait)
 * @typedef {{x: number, y: number, width: number, height: number, left: number, top: number}} Part where a
 *   layer is in the sheet, in pixels, and in the picture, in design units
 */

/**
 * @typedef {object} Rig
 * @property {{left: number, top: number, side: number}} frame what of the design plane the picture shows
 * @property {number} middle the axis that the face is symmetric about
 * @property {number} brow
 * @property {number} eye
 * @property {number} nose
 * @property {number} mouth
 * @property {number} chin heights, as the ones before
 * @property {Place[]} upperLid of the eye on the right, from the inner corner to the outer one
 * @property {Place[]} lowerLid
 * @property {Place} gaze the middle of the iris
 * @property {number} irisSize
 * @property {number} lashes
 * @property {Place[]} upperLip from left to right, as the next two
 * @property {Place[]} betweenLips
 * @property {Place[]} lowerLip
 * @property {Place} lobe
 * @property {Record<string, any>} tones
 * @property {number} scale pixels of the sheet per design unit
 * @property {Record<string, Part>} parts
 */

/**
 * @typedef {object} Landmarks of a face, as shares of its picture's width and height; left and right as seen in it
 * @property {Place} leftEye
 * @property {Place} rightEye
 * @property {Place} mouthLeft
 * @property {Place} mouthRight
 * @property {Place} mouthTop
 * @property {Place} mouthBottom
 * @property {Place} chin
 */

/**
 * @typedef {object} MeshRig of a face that is a picture
 * @property {true} mesh
 * @property {number} width of the whole picture, in pixels
 * @property {number} height
 * @property {Landmarks} landmarks
 */

/**
 * Loads a face. It throws where there is none, or no way to it.
 * @param {string} at where faces are, with {side} and {kind} where they stand
 * @param {number} height how high it is shown, in pixels of the screen
 * @param {Record<string, string>} [headers] what the server must be told to send it
 * @returns {Promise<{rig: Rig | MeshRig, sheet: ImageBitmap}>}
 */
export async function loadFace(at, height, headers) {
  const size = height > 700 ? 1024 : 512
  const get = async (kind) => {
    const answer = await fetch(at.replace('{side}', size).replace('{kind}', kind), { headers })
    if (!answer.ok) throw new Error(`the face cannot be had (${answer.status})`)
    return kind === 'json' ? answer.json() : createImageBitmap(await answer.blob())
  }
  const [rig, sheet] = await Promise.all([get('json'), get('png')])
  return { rig, sheet }
}

/** Layers keeps a face's layers at the size they are shown, so that a frame only copies. */
export class Layers {
  #rig
  #sheet
  #make
  /** @type {Map<string, {image: CanvasImageSource, left: number, top: number, width: number, height: number}>} */
  #parts = new Map()
  /** Layers as they were pulled last. */
  #scratch = new Map()
  #zoom = 0

  /**
   * @param {Rig} rig
   * @param {CanvasImageSource} sheet
   * @param {(width: number, height: number) => HTMLCanvasElement | OffscreenCanvas} make makes a canvas
   */
  constructor(rig, sheet, make) {
    this.#rig = rig
    this.#sheet = sheet
    this.#make = make
  }

  /** Fits the layers to a size. @param {number} zoom pixels of the screen per design unit */
  fit(zoom) {
    if (zoom === this.#zoom) return
    this.#zoom = zoom
    this.#scratch.clear()
    const { parts, scale } = this.#rig
    for (const [name, p] of Object.entries(parts)) {
      const width = Math.max(1, Math.round(p.width * zoom / scale)), height = Math.max(1, Math.round(p.height * zoom / scale))
      const image = this.#make(width, height)
      const c = image.getContext('2d')
      c.imageSmoothingQuality = 'high'
      c.drawImage(this.#sheet, p.x, p.y, p.width, p.height, 0, 0, width, height)
      this.#parts.set(name, { image, left: p.left, top: p.top, width: p.width / scale, height: p.height / scale })
    }
  }

  has(name) { return this.#parts.has(name) }

  /** Draws a layer where it lies. @param {CanvasRenderingContext2D} c in design units */
  draw(c, name) {
    const p = this.#parts.get(name)
    if (p) c.drawImage(p.image, p.left, p.top, p.width, p.height)
  }

  /**
   * Draws a layer whose lower part is pulled down.
   * @param {CanvasRenderingContext2D} c in design units
   * @param {string} name
   * @param {number} hang how far it is pulled, at most
   * @param {number} from above this height everything stays
   * @param {(y: number) => number} to where a height below that goes
   */
  drawPulled(c, name, hang, from, to) {
    const p = this.#parts.get(name)
    if (!p || hang < 0.2) return this.draw(c, name)
    const dense = p.image.height / p.height, { width } = p.image
    const pulled = this.#pulled(name, width, p.image.height + Math.ceil(lowestPull * dense))
    if (pulled.hang !== hang) {
      pulled.hang = hang
      const paint = pulled.image.getContext('2d')
      paint.clearRect(0, 0, width, pulled.image.height)
      const still = Math.max(0, Math.round((from - p.top) * dense))
      if (still) paint.drawImage(p.image, 0, 0, width, still, 0, 0, width, still)
      // Bands end at whole pixels, so that no seam shows.
      const down = (row) => Math.round((to(p.top + row / dense) - p.top) * dense)
      for (let row = still; row < p.image.height; row += bands) {
        const end = Math.min(row + bands, p.image.height)
        paint.drawImage(p.image, 0, row, width, end - row, 0, down(row), width, down(end) - down(row))
      }
    }
    c.drawImage(pulled.image, p.left, p.top, p.width, pulled.image.height / dense)
  }

  /** A canvas for a layer that is pulled, kept from frame to frame. */
  #pulled(name, width, height) {
    let found = this.#scratch.get(name)
    if (found?.image.width !== width || found.image.height !== height) {
      found = { image: this.#make(width, height), hang: -1 }
      this.#scratch.set(name, found)
    }
    return found
  }
}

/** How high a band of what is pulled is, in pixels. */
const bands = 10
/** How far a layer is pulled at most, in design units. */
const lowestPull = 26
