// Draws a picture as a mesh: with WebGL, or without.

const vertexShader = `
attribute vec2 place;
attribute vec3 source;
uniform vec4 view;
uniform float fades;
varying vec2 at;
varying float shown;
void main() {
  gl_Position = vec4(place * view.xy + view.zw, 0.0, 1.0);
  at = source.xy;
  shown = mix(1.0, source.z, fades);
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
 * @property {boolean} lost whether it cannot draw any more, and another one must
 * @property {(places: Float32Array, view: {zoom: number, x: number, y: number}, fades: boolean) => void} draw fades says
 *   whether each vertex is shown as little as it was said
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
    return new Plain(sheet, mesh, make)
  }
}

/** Lit draws with WebGL. */
class Lit {
  #gl
  #places
  #view
  #fades
  #count

  constructor(sheet, { rest, triangles }, shown, make) {
    this.canvas = make(1, 1)
    const gl = this.#gl = this.canvas.getContext('webgl', { alpha: true, premultipliedAlpha: true, antialias: false, depth: false, stencil: false, failIfMajorPerformanceCaveat: true })
    if (!gl) throw new Error('there is no WebGL, or none that is fast')
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
    this.#fades = gl.getUniformLocation(program, 'fades')
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

  draw(places, { zoom, x, y }, fades) {
    const gl = this.#gl, { width, height } = this.canvas
    gl.clearColor(0, 0, 0, 0)
    gl.clear(gl.COLOR_BUFFER_BIT)
    gl.uniform4f(this.#view, 2 * zoom / width, -2 * zoom / height, 2 * x / width - 1, 1 - 2 * y / height)
    gl.uniform1f(this.#fades, fades ? 1 : 0)
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, places)
    gl.drawElements(gl.TRIANGLES, this.#count, gl.UNSIGNED_SHORT, 0)
  }

  end() { this.#gl.getExtension('WEBGL_lose_context')?.loseContext() }
}

/** Pixels that are drawn at most without WebGL. */
const fewPixels = 200_000

/** Plain draws pixel by pixel, and fewer of them. What is to fade does not. */
class Plain {
  lost = false
  #c
  #pixels
  #source
  #mesh
  #out
  #to
  #ratio = 1

  constructor(sheet, mesh, make) {
    this.canvas = make(1, 1)
    this.#c = this.canvas.getContext('2d')
    this.#mesh = mesh
    const copy = make(sheet.width, sheet.height)
    const c = copy.getContext('2d', { willReadFrequently: true })
    c.drawImage(sheet, 0, 0)
    const { data } = c.getImageData(0, 0, sheet.width, sheet.height)
    this.#source = { width: sheet.width, height: sheet.height, data: new Uint32Array(data.buffer) }
    this.#to = new Float32Array(mesh.rest.length)
  }

  fit(width, height) {
    this.#ratio = Math.min(1, Math.sqrt(fewPixels / (width * height)))
    this.canvas.width = Math.max(1, Math.round(width * this.#ratio))
    this.canvas.height = Math.max(1, Math.round(height * this.#ratio))
    this.#pixels = this.#c.createImageData(this.canvas.width, this.canvas.height)
    this.#out = { width: this.canvas.width, height: this.canvas.height, data: new Uint32Array(this.#pixels.data.buffer) }
  }

  draw(places, { zoom, x, y }) {
    const ratio = this.#ratio, to = this.#to
    for (let i = 0; i < places.length; i += 2) {
      to[i] = (places[i] * zoom + x) * ratio
      to[i + 1] = (places[i + 1] * zoom + y) * ratio
    }
    this.#out.data.fill(0)
    fill(this.#out, this.#source, this.#mesh.triangles, to, this.#mesh.rest)
    this.#c.putImageData(this.#pixels, 0, 0)
  }

  end() {}
}

/**
 * Fills triangles with a picture's. What is in none stays as it is.
 * @param {{width: number, height: number, data: Uint32Array}} out
 * @param {{width: number, height: number, data: Uint32Array}} source
 * @param {Uint16Array} triangles
 * @param {Float32Array} to where their corners are in the one, x and y by turns
 * @param {Float32Array} from and in the other
 */
export function fill(out, source, triangles, to, from) {
  const { width, height, data: into } = out, { width: stride, data: pixels } = source
  const rightmost = 256 * (stride - 1) - 1, lowest = 256 * (source.height - 1) - 1
  for (let i = 0; i < triangles.length; i += 3) {
    let a = 2 * triangles[i], b = 2 * triangles[i + 1], c = 2 * triangles[i + 2], swap = 0
    if (to[a + 1] > to[b + 1]) { swap = a; a = b; b = swap }
    if (to[b + 1] > to[c + 1]) { swap = b; b = c; c = swap }
    if (to[a + 1] > to[b + 1]) { swap = a; a = b; b = swap }
    const x0 = to[a], y0 = to[a + 1], x1 = to[b], y1 = to[b + 1], x2 = to[c], y2 = to[c + 1]
    const area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if (area === 0) continue
    const u0 = from[a], v0 = from[a + 1], du1 = from[b] - u0, dv1 = from[b + 1] - v0, du2 = from[c] - u0, dv2 = from[c + 1] - v0
    const ux = (du1 * (y2 - y0) - du2 * (y1 - y0)) / area, uy = (du2 * (x1 - x0) - du1 * (x2 - x0)) / area
    const vx = (dv1 * (y2 - y0) - dv2 * (y1 - y0)) / area, vy = (dv2 * (x1 - x0) - dv1 * (x2 - x0)) / area
    // Places are between the middles of pixels, in 256ths of one.
    const across = Math.round(256 * ux), down = Math.round(256 * vx)
    const long = (x2 - x0) / (y2 - y0), upper = y1 > y0 ? (x1 - x0) / (y1 - y0) : 0, lower = y2 > y1 ? (x2 - x1) / (y2 - y1) : 0
    let row = Math.ceil(y0 - 0.5)
    if (row < 0) row = 0
    for (; row < height && row + 0.5 < y2; row++) {
      const y = row + 0.5
      const one = x0 + (y - y0) * long, other = y < y1 ? x0 + (y - y0) * upper : x1 + (y - y1) * lower
      let column = Math.ceil((one < other ? one : other) - 0.5), end = Math.ceil((one < other ? other : one) - 0.5)
      if (column < 0) column = 0
      if (end > width) end = width
      if (column >= end) continue
      let u = Math.round(256 * (u0 + (column + 0.5 - x0) * ux + (y - y0) * uy - 0.5)), v = Math.round(256 * (v0 + (column + 0.5 - x0) * vx + (y - y0) * vy - 0.5))
      for (let at = row * width + column, last = row * width + end; at < last; at++) {
        const su = u < 0 ? 0 : u > rightmost ? rightmost : u, sv = v < 0 ? 0 : v > lowest ? lowest : v
        const fu = su & 255, n = (sv >> 8) * stride + (su >> 8)
        into[at] = between(between(pixels[n], pixels[n + 1], fu), between(pixels[n + stride], pixels[n + stride + 1], fu), sv & 255)
        u += across
        v += down
      }
    }
  }
}

/** A pixel between two, all four parts of it: in 256ths of the way. */
function between(p, q, part) {
  const rest = 256 - part
  const even = (Math.imul(p & 0xff00ff, rest) + Math.imul(q & 0xff00ff, part)) >>> 8 & 0xff00ff
  const odd = (Math.imul(p >>> 8 & 0xff00ff, rest) + Math.imul(q >>> 8 & 0xff00ff, part)) & 0xff00ff00
  return even | odd
}
