// The figures of what a browser does in a conversation, each beside its floor from the same run, in
// lines that benchstat reads (make bench): how soon a link's face moves, what a frame of it costs
// the main thread, and what a talk of some minutes leaves in memory. The browser renders in
// software. run.js starts what it talks with.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { call, makePersona, worn } from './stage/api.js'
import { launch, open } from './stage/browser.js'
import { moved, sense } from './stage/senses.js'

/** How often a link is opened, and how long the talk is, in seconds. */
const opens = 5
const talks = Number(process.env.BENCH_TALK_S ?? 120)
/** Of a talk the first and the last seconds are compared. */
const compared = Math.min(30, talks / 4)

const question = 'When was the orangery built?'
const story = 'The orangery was built in 1890 by two sisters who had brought lemon trees from the south, and every winter the whole town ' +
  'came to carry those trees inside before the first snow fell on the garden.'

/** Writes one line as go test -bench does. */
function report(name, n, figures) {
  console.log(`Benchmark${name}\t${String(n).padStart(8)}${Object.entries(figures).map(([unit, value]) => `\t${value.toFixed(3).padStart(12)} ${unit}`).join('')}`)
}

const percent = (values, p) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * p / 100) - 1]

/** Serves a page that draws a picture on a canvas in every frame and does nothing else. @param {Map<string, {type: string, body: Buffer}>} files */
async function bare(files) {
  const page = `<!doctype html><title>Bare</title><style>body{margin:0}canvas{display:block;width:666px;height:732px}</style><canvas id="face" width="666" height="732"></canvas>
<script type="module">
const [picture] = await Promise.all([${[...files.keys()].filter((path) => /^image/.test(files.get(path).type)).map((path) => `fetch('${path}').then((r) => r.blob()).then((b) => createImageBitmap(b))`)},
  ${[...files.keys()].filter((path) => !/^image/.test(files.get(path).type)).map((path) => `fetch('${path}').then((r) => r.arrayBuffer())`)}])
const context = document.getElementById('face').getContext('2d', { alpha: false })
globalThis.frames = 0
const draw = () => { context.drawImage(picture, 8 * Math.sin(performance.now() / 300), 0, 680, 732); globalThis.frames++; requestAnimationFrame(draw) }
draw()
</script>`
  const server = createServer(({ url }, answer) => {
    const file = files.get(url)
    answer.writeHead(200, { 'Content-Type': file?.type ?? 'text/html' }).end(file?.body ?? page)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => { server.close(); server.closeAllConnections() } }
}

/** How soon a page's face moves after it is asked for, in milliseconds, in a browser that knows nothing yet; the addresses of the face are noted. */
async function opened(browser, url, addresses = new Set()) {
  const page = await open(browser, 'about:blank')
  try {
    await sense(page.context())
    page.on('response', (answer) => { if (/\/face\//.test(answer.url())) addresses.add(answer.url()) })
    const from = Date.now()
    await page.goto(url, { waitUntil: 'commit' })
    return await moved(page) - from
  } finally {
    await page.context().close()
  }
}

/** What the main thread has done so far, in seconds, and what its heap holds, in bytes. */
async function metrics(cdp) {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
}

/** What a page holds after a collection: its heap and its process, in MiB. */
async function memory(browser, cdp) {
  await cdp.send('HeapProfiler.collectGarbage')
  const { JSHeapUsedSize: heap } = await metrics(cdp)
  const system = await browser.newBrowserCDPSession()
  const { processInfo } = await system.send('SystemInfo.getProcessInfo')
  await system.detach()
  let resident = 0
  for (const { type, id } of processInfo) {
    if (type !== 'renderer') continue
    const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '')
    resident = Math.max(resident, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
  }
  return { heap: heap / 2 ** 20, resident }
}

/** Frames a second and milliseconds of the main thread for each, over some seconds. frames counts them in the page. */
async function pace(page, cdp, frames, seconds) {
  const from = { at: performance.now(), frames: await page.evaluate(frames), ...await metrics(cdp) }
  await page.waitForTimeout(1000 * seconds)
  const to = { at: performance.now(), frames: await page.evaluate(frames), ...await metrics(cdp) }
  const count = to.frames - from.frames
  return { count, fps: 1000 * count / (to.at - from.at), ms: 1000 * (to.TaskDuration - from.TaskDuration) / count }
}

async function watched(page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable')
  return cdp
}

const browser = await launch(['--disable-gpu', '--autoplay-policy=no-user-gesture-required'])
let server
try {
  console.log('goos: linux\npkg: visavis.dev/hack/browser')
  const [face] = await call('GET', '/avatars?limit=1')
  const persona = await makePersona('Amara', { 'The orangery': story }, { avatarId: face.id, greeting: { text: { en: 'Welcome.' } } })
  await worn(face.id)
  const mint = async () => (await call('POST', '/sessions/tokens', { personaId: persona })).joinUrl

  const addresses = new Set(), files = new Map()
  await opened(browser, await mint(), addresses) // the first draws it on the server
  for (const address of addresses) {
    const answer = await fetch(address)
    files.set(new URL(address).pathname, { type: answer.headers.get('Content-Type'), body: Buffer.from(await answer.arrayBuffer()) })
  }
  if (files.size < 2) throw new Error(`the face came in ${files.size} files`)
  server = await bare(files)
  const took = [], floor = []
  for (let i = 0; i < opens; i++) {
    took.push(await opened(browser, await mint()))
    floor.push(await opened(browser, server.url))
  }
  report('Browser/link-to-moving-face', opens, {
    'p50-ms': percent(took, 50), 'max-ms': percent(took, 100), 'floor-p50-ms': percent(floor, 50), 'floor-max-ms': percent(floor, 100), ratio: percent(took, 50) / percent(floor, 50),
  })

  const still = await open(browser, server.url)
  await still.waitForFunction(() => globalThis.frames > 30)
  const least = await pace(still, await watched(still), () => globalThis.frames, 10)
  await still.context().close()

  const page = await open(browser, await mint())
  const cdp = await watched(page)
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await page.getByText('Your turn').waitFor()
  await page.evaluate(async () => {
    const { src } = [...document.scripts].find(({ type, src }) => type === 'module' && src)
    const { Face } = await import(new URL('./face.js', src))
    const { draw } = Face.prototype
    globalThis.drawn = { frames: 0, spent: 0, slowest: 0 }
    Face.prototype.draw = function () {
      const from = performance.now()
      draw.call(this)
      const spent = performance.now() - from
      Object.assign(globalThis.drawn, { frames: globalThis.drawn.frames + 1, spent: globalThis.drawn.spent + spent, slowest: Math.max(globalThis.drawn.slowest, spent) })
    }
  })
  // Questions are asked as long as the talk lasts, each once the last was answered.
  let asks = 0, over = false
  const asking = (async () => {
    while (!over) {
      await page.locator('#message').fill(question)
      await page.keyboard.press('Enter')
      asks++
      await page.waitForFunction((n) => document.querySelectorAll('.turn.user').length >= n, asks)
      await page.waitForTimeout(1000)
      await page.waitForFunction(() => document.getElementById('talk').dataset.state === 'listening', null, { timeout: 60_000 })
    }
  })()
  const before = await memory(browser, cdp)
  const first = await pace(page, cdp, () => globalThis.drawn.frames, compared)
  if (talks > 2 * compared) await page.waitForTimeout(1000 * (talks - 2 * compared))
  const last = await pace(page, cdp, () => globalThis.drawn.frames, compared)
  const after = await memory(browser, cdp)
  over = true
  await asking
  const { frames, spent, slowest } = await page.evaluate(() => globalThis.drawn)
  report('Browser/face', frames, {
    'frames/s': first.fps, 'floor-frames/s': least.fps, 'main-ms/frame': first.ms, 'floor-main-ms/frame': least.ms, ratio: first.ms / least.ms,
    'draw-ms/frame': spent / frames, 'slowest-draw-ms': slowest,
  })
  report('Browser/talk', asks, {
    seconds: talks, 'first-frames/s': first.fps, 'last-frames/s': last.fps, 'first-main-ms/frame': first.ms, 'last-main-ms/frame': last.ms,
    'heap-MiB': after.heap, 'heap-growth-MiB': after.heap - before.heap, 'resident-MiB': after.resident, 'resident-growth-MiB': after.resident - before.resident,
  })
  await page.context().close()
  if (page.broken.length) throw new Error(page.broken.join('\n'))
} finally {
  await browser.close()
  server?.close()
}
