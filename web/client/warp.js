// Draws a picture as a mesh: with WebGL, or without.

const vertexShader = `
attribute vec2 place;
attribute vec3 source;
uniform vec4 view;
varying vec2 at;
varying float shown;
void main() {
  gl_Position = vec4(place * view.xy + view.zw, 0.0, 1.0);
  at = source.xy;
  shown = source.z;
}`

const fragmentShader = `
precision mediump float;
uniform sampler2D picture;
varying vec2 at;
varying float shown;
void main() { gl_FragColor = texture2D(picture, at) * shown; }`

/**
 * @typedef {object} Warp draws the mesh
 * @property {any} canvas what it is drawn on
 * @property {(width: number, height: number) => void} fit
 * @property {(places: Float32Array, view: {zoom: number, x: number, y: number}) => void} draw
 * @property {() => void} end
 */

/**
 * Makes what draws a mesh.
 * @param {CanvasImageSource & {width: number, height: number}} sheet
 * @param {{rest: Float32Array, triangles: Uint16Array}} mesh in pixels of the sheet
 * @param {Float32Array} shown how much of each vertex is shown, from 0 to 1
 * @param {(width: number, height: number) => any} make makes a canvas
 * @returns {Warp}
 */
export function warpOf(sheet, mesh, shown, make) {
  try {
    return new Lit(sheet, mesh, shown, make)
  } catch {
    return new Plain(sheet, mesh, shown, make)
  }
}

/** Lit draws with WebGL. */
class Lit {
  #gl
  #places
  #view
  #count

  constructor(sheet, { rest, triangles }, shown, make) {
    this.canvas = make(1, 1)
    const gl = this.#gl = this.canvas.getContext('webgl', { alpha: true, premultipliedAlpha: true, antialias: false, depth: false, stencil: false })
    if (!gl) throw new Error('there is no WebGL')
    const program = gl.createProgram()
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertexShader], [gl.FRAGMENT_SHADER, fragmentShader]]) {
      const shader = gl.createShader(kind)
      gl.shaderSource(shader, text)
      gl.compileShader(shader)
      gl.attachShader(program, shader)
    }
    gl.linkProgram(program)
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error('WebGL does not draw')
    gl.useProgram(program)
    const buffer = (kind, data, usage) => {
      gl.bindBuffer(kind, gl.createBuffer())
      gl.bufferData(kind, data, usage)
    }
    const source = new Float32Array(rest.length / 2 * 3)
    for (let i = 0; i < rest.length / 2; i++) source.set([rest[2 * i] / sheet.width, rest[2 * i + 1] / sheet.height, shown[i]], 3 * i)
    buffer(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW)
    buffer(gl.ARRAY_BUFFER, source, gl.STATIC_DRAW)
    const points = (name, size) => {
      const at = gl.getAttribLocation(program, name)
      gl.enableVertexAttribArray(at)
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0)
    }
    points('source', 3)
    buffer(gl.ARRAY_BUFFER, rest, gl.DYNAMIC_DRAW)
    points('place', 2)
    this.#view = gl.getUniformLocation(program, 'view')
    this.#count = triangles.length
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture())
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true)
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, sheet)
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR)
    if (gl.getError()) throw new Error('WebGL takes no picture')
  }

  /** Whether it cannot draw any more. */
  get lost() { return this.#gl.isContextLost() }

  fit(width, height) {
    this.canvas.width = width
    this.canvas.height = height
    this.#gl.viewport(0, 0, width, height)
  }

  draw(places, { zoom, x, y }) {
    const gl = this.#gl, { width, height } = this.canvas
    gl.clearColor(0, 0, 0, 0)
    gl.clear(gl.COLOR_BUFFER_BIT)
    gl.uniform4f(this.#view, 2 * zoom / width, -2 * zoom / height, 2 * x / width - 1, 1 - 2 * y / height)
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, places)
    gl.drawElements(gl.TRIANGLES, this.#count, gl.UNSIGNED_SHORT, 0)
  }

  end() { this.#gl.getExtension('WEBGL_lose_context')?.loseContext() }
}

/** Pixels that are drawn at most without WebGL. */
const fewPixels = 240_000

/** Plain draws pixel by pixel, and fewer of them. */
class Plain {
  lost = false
  #c
  #pixels
  #source
  #mesh
  #shown
  #from
  #ratio = 1

  constructor(sheet, mesh, shown, make) {
    this.canvas = make(1, 1)
    this.#c = this.canvas.getContext('2d')
    this.#mesh = mesh
    this.#shown = shown
    const copy = make(sheet.width, sheet.height)
    const c = copy.getContext('2d', { willReadFrequently: true })
    c.drawImage(sheet, 0, 0)
    const { data } = c.getImageData(0, 0, sheet.width, sheet.height)
    this.#source = { width: sheet.width, height: sheet.height, data: new Uint32Array(data.buffer) }
    this.#from = mesh.rest
  }

  fit(width, height) {
    this.#ratio = Math.min(1, Math.sqrt(fewPixels / (width * height)))
    this.canvas.width = Math.max(1, Math.round(width * this.#ratio))
    this.canvas.height = Math.max(1, Math.round(height * this.#ratio))
    this.#pixels = this.#c.createImageData(this.canvas.width, this.canvas.height)
  }

  draw(places, { zoom, x, y }) {
    const out = { width: this.canvas.width, height: this.canvas.height, data: new Uint32Array(this.#pixels.data.buffer) }
    out.data.fill(0)
    const { triangles } = this.#mesh
    const [scale, left, top] = [zoom * this.#ratio, x * this.#ratio, y * this.#ratio]
    const corners = new Float64Array(12)
    for (let i = 0; i < triangles.length; i += 3) {
      for (let n = 0; n < 3; n++) {
        const v = triangles[i + n]
        corners[4 * n] = places[2 * v] * scale + left
        corners[4 * n + 1] = places[2 * v + 1] * scale + top
        corners[4 * n + 2] = this.#from[2 * v]
        corners[4 * n + 3] = this.#from[2 * v + 1]
      }
      fill(out, this.#source, corners)
    }
    this.#c.putImageData(this.#pixels, 0, 0)
  }

  end() {}
}

/**
 * Fills a triangle with a picture's.
 * @param {{width: number, height: number, data: Uint32Array}} out
 * @param {{width: number, height: number, data: Uint32Array}} source
 * @param {Float64Array} corners x and y in the one, and in the other, by turns
 */
export function fill(out, source, corners) {
  const [x0, y0, u0, v0, x1, y1, u1, v1, x2, y2, u2, v2] = corners
  const area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
  if (!area) return
  const first = Math.max(0, Math.ceil(Math.min(y0, y1, y2) - 0.5)), last = Math.min(out.height - 1, Math.ceil(Math.max(y0, y1, y2) - 0.5) - 1)
  const ux = ((u1 - u0) * (y2 - y0) - (u2 - u0) * (y1 - y0)) / area, uy = ((u2 - u0) * (x1 - x0) - (u1 - u0) * (x2 - x0)) / area
  const vx = ((v1 - v0) * (y2 - y0) - (v2 - v0) * (y1 - y0)) / area, vy = ((v2 - v0) * (x1 - x0) - (v1 - v0) * (x2 - x0)) / area
  for (let row = first; row <= last; row++) {
    const y = row + 0.5
    let from = Infinity, to = -Infinity
    const cross = (ax, ay, bx, by) => {
      if ((ay > y) === (by > y)) return
      const x = ax + (bx - ax) * (y - ay) / (by - ay)
      if (x < from) from = x
      if (x > to) to = x
    }
    cross(x0, y0, x1, y1)
    cross(x1, y1, x2, y2)
    cross(x2, y2, x0, y0)
    const left = Math.max(0, Math.ceil(from - 0.5)), right = Math.min(out.width - 1, Math.ceil(to - 0.5) - 1)
    let u = u0 + (left + 0.5 - x0) * ux + (y - y0) * uy, v = v0 + (left + 0.5 - x0) * vx + (y - y0) * vy
    for (let column = left, at = row * out.width + left; column <= right; column++, at++) {
      const su = u < 0 ? 0 : u >= source.width ? source.width - 1 : u | 0, sv = v < 0 ? 0 : v >= source.height ? source.height - 1 : v | 0
      out.data[at] = source.data[sv * source.width + su]
      u += ux
      v += vx
    }
  }
}
