// Writes contact sheets of the library's faces as browsers show them: at rest, in the
// middle of a vowel, with closed lips, smiling and listening. The first argument is a
// folder that hack/faces wrote; numbers after it are faces to be shown larger instead.

import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from './stage/browser.js'

const folder = process.argv[2]
const output = join(dirname(fileURLToPath(import.meta.url)), 'output')
const types = { '.js': 'text/javascript', '.json': 'application/json', '.png': 'image/png', '.html': 'text/html' }
const perSheet = 12

const server = createServer(async ({ url }, answer) => {
  const name = new URL(url, 'http://localhost').pathname.slice(1)
  const data = name ? await readFile(join(folder, name)).catch(() => null) : '<!doctype html><title>Faces</title><body style="margin:0;font:14px sans-serif">'
  answer.writeHead(data === null ? 404 : 200, { 'Content-Type': types[extname(name)] ?? 'text/html' }).end(data)
}).listen(0)

/** Draws faces in rows, in the page. */
async function show({ from, to, side }) {
  const [{ Face }, { loadFace }, { shapes }] = await Promise.all(['face', 'rig', 'visemes'].map((name) => import(`/${name}.js`)))
  const poses = [
    ['idle', 'sil'], ['speaking', 'aa'], ['speaking', 'PP'], ['idle', 'sil', 'smile'], ['listening', 'sil'],
    ['speaking', 'U'], ['speaking', 'I'], ['thinking', 'sil'], ['speaking', 'FF'], ['idle', 'sil', null, true],
  ]
  const names = await (await fetch('/faces.json')).json()
  document.body.replaceChildren()
  for (let i = from; i < Math.min(to, names.length); i++) {
    const loaded = await loadFace(`/${i}.{kind}`, side)
    const row = document.body.appendChild(document.createElement('div'))
    row.style.display = 'flex'
    for (const [state, viseme, gesture, closed] of poses) {
      const canvas = row.appendChild(document.createElement('canvas'))
      canvas.style.cssText = `width:${side}px;height:${side}px`
      let now = 1000, seed = i * 7 + 1
      const face = new Face(canvas, loaded, {
        now: () => now, request: () => 0, cancel() {}, random: () => (seed = seed * 16807 % 2147483647) / 2147483647, still: state !== 'listening' && state !== 'thinking',
      })
      face.state = state
      face.speech = () => shapes[viseme]
      face.start()
      if (gesture) face.gesture(gesture)
      for (let n = 0; n < 45; n++) {
        now += 16
        face.draw()
      }
      if (closed) {
        face.blink()
        now += 95
        face.draw()
      }
      face.stop()
    }
  }
}

const browser = await launch()
try {
  await mkdir(output, { recursive: true })
  const page = await browser.newPage({ viewport: { width: 2000, height: 2400 } })
  page.on('pageerror', (e) => { throw e })
  await page.goto(`http://localhost:${server.address().port}/`)
  const { length } = JSON.parse(await readFile(join(folder, 'faces.json'), 'utf8'))
  for (let from = 0; from < length && process.argv.length < 4; from += perSheet) {
    await page.evaluate(show, { from, to: from + perSheet, side: 200 })
    await page.screenshot({ path: join(output, `faces-${1 + from / perSheet}.png`), fullPage: true })
  }
  for (const close of process.argv.slice(3).map(Number)) {
    await page.setViewportSize({ width: 4200, height: 500 })
    await page.evaluate(show, { from: close, to: close + 1, side: 420 })
    await page.screenshot({ path: join(output, `face-${close}.png`), clip: { x: 0, y: 0, width: 2100, height: 420 } })
    await page.screenshot({ path: join(output, `face-${close}-more.png`), clip: { x: 2100, y: 0, width: 2100, height: 420 } })
  }
} finally {
  await browser.close()
  server.close()
}
