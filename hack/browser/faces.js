// Writes contact sheets of faces as browsers show them (stage/sheets.js). The first
// argument is a folder that hack/faces wrote; numbers after it are faces to be shown larger
// instead.

import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launch } from './stage/browser.js'
import { drawFaces, output, serveFaces } from './stage/sheets.js'

const folder = process.argv[2]
const perSheet = 12

const faces = new Map()
for (const name of await readdir(folder)) faces.set(`/${name}`, await readFile(join(folder, name)))
const server = serveFaces(faces)
const browser = await launch()
try {
  await mkdir(output, { recursive: true })
  const page = await browser.newPage({ viewport: { width: 2000, height: 2400 } })
  page.on('pageerror', (e) => { throw e })
  await page.goto(`http://localhost:${server.address().port}/`)
  const { length } = JSON.parse(await readFile(join(folder, 'faces.json'), 'utf8'))
  for (let from = 0; from < length && process.argv.length < 4; from += perSheet) {
    await page.evaluate(drawFaces, { from, to: Math.min(from + perSheet, length), side: 200 })
    await page.screenshot({ path: join(output, `faces-${1 + from / perSheet}.png`), fullPage: true })
  }
  for (const close of process.argv.slice(3).map(Number)) {
    await page.setViewportSize({ width: 4200, height: 500 })
    await page.evaluate(drawFaces, { from: close, to: close + 1, side: 420 })
    await page.screenshot({ path: join(output, `face-${close}.png`), clip: { x: 0, y: 0, width: 2100, height: 420 } })
    await page.screenshot({ path: join(output, `face-${close}-more.png`), clip: { x: 2100, y: 0, width: 2100, height: 420 } })
  }
} finally {
  await browser.close()
  server.close()
}
