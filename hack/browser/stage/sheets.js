// Contact sheets of faces, as browsers draw them: at rest, in the middle of a vowel, with
// closed lips, smiling, listening, and more.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const modules = join(here, '../../../web/client')
export const output = join(here, '../output')

/**
 * Serves faces, and the modules that draw them.
 * @param {Map<string, Buffer>} faces what describes each, and its picture, by paths as /0.json and /0.png
 */
export function serveFaces(faces) {
  return createServer(async ({ url }, answer) => {
    const path = new URL(url, 'http://localhost').pathname
    const [data, type] = path === '/' ? ['<!doctype html><title>Faces</title><body style="margin:0">', 'text/html']
      : path.endsWith('.js') ? [await readFile(join(modules, path)).catch(() => null), 'text/javascript'] : [faces.get(path), 'application/octet-stream']
    answer.writeHead(data ? 200 : 404, { 'Content-Type': type }).end(data)
  }).listen(0)
}

/**
 * Draws faces in rows, in a page of that server, and measures each pose.
 * @param {{from: number, to: number, side: number, gl?: boolean}} options gl is whether WebGL may be used
 * @returns {Promise<Record<string, {mouth: number, eyes: number, all: number}>[]>} of each face, by pose: how much it differs from the
 *   face at rest, where mouths are, where eyes are and everywhere, from 0 to 255
 */
export async function drawFaces({ from, to, side, gl = true }) {
  const [{ Face }, { loadFace }, { shapes }] = await Promise.all(['face', 'rig', 'visemes'].map((name) => import(`/${name}.js`)))
  const poses = {
    rest: ['idle', 'sil'], aa: ['speaking', 'aa'], PP: ['speaking', 'PP'], smile: ['idle', 'sil', 'smile'], listening: ['listening', 'sil'],
    U: ['speaking', 'U'], I: ['speaking', 'I'], thinking: ['thinking', 'sil'], FF: ['speaking', 'FF'], blink: ['idle', 'sil', null, true],
  }
  const make = (width, height) => {
    const canvas = Object.assign(document.createElement('canvas'), { width, height })
    const { getContext } = canvas
    // Here WebGL may be slow, too.
    const lit = (options) => gl ? getContext.call(canvas, 'webgl', { ...options, failIfMajorPerformanceCaveat: false }) : null
    canvas.getContext = (kind, options) => kind === 'webgl' ? lit(options) : getContext.call(canvas, kind, options)
    return canvas
  }
  document.body.replaceChildren()
  const measured = []
  for (let i = from; i < to; i++) {
    const loaded = await loadFace(`/${i}.{kind}`, side)
    const row = document.body.appendChild(document.createElement('div'))
    row.style.display = 'flex'
    const of = {}
    let still = null
    for (const [pose, [state, viseme, gesture, closed]] of Object.entries(poses)) {
      const canvas = row.appendChild(document.createElement('canvas'))
      canvas.style.cssText = `width:${side}px;height:${side}px`
      let now = 1000, seed = i * 7 + 1
      const face = new Face(canvas, loaded, {
        now: () => now, request: () => 0, cancel() {}, make, random: () => (seed = seed * 16807 % 2147483647) / 2147483647, still: state !== 'listening' && state !== 'thinking',
      })
      face.state = state
      face.speech = () => shapes[viseme]
      face.start()
      if (gesture) face.gesture(gesture)
      for (let n = 0; n < 24; n++) {
        now += 30
        face.draw()
      }
      if (closed) {
        face.blink()
        now += 95
        face.draw()
      }
      const part = (x, y, width, height) => canvas.getContext('2d').getImageData(x * side, y * side, width * side, height * side).data
      const parts = { mouth: part(0.4, 0.56, 0.2, 0.16), eyes: part(0.34, 0.38, 0.32, 0.12), all: part(0, 0, 1, 1) }
      still ??= parts
      of[pose] = Object.fromEntries(Object.entries(parts).map(([name, data]) => {
        let sum = 0
        for (let n = 0; n < data.length; n++) sum += Math.abs(data[n] - still[name][n])
        return [name, sum / data.length * 4 / 3]
      }))
      face.stop()
    }
    measured.push(of)
  }
  return measured
}
