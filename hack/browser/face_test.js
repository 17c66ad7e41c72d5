// The face of a portal's conversation, which speaks (web/client, web/page). The live
// server is the stage's own: what is measured is what the browser shows and plays.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from './stage/api.js'
import { accessible, launch, phone, picture } from './stage/browser.js'
import { correlation, speaking, track, words } from './stage/live.js'
import { enter, makeCourse, signIn } from './stage/portal.js'

/** @type {import('playwright-core').Browser} */
let browser
let portal

before(async () => {
  browser = await launch()
  portal = await makeCourse('Face')
})
after(() => browser?.close())

/** Notes on a page what it plays: the loudness by the clock of its frames. */
function listen() {
  const samples = globalThis.heard = []
  const { connect } = AudioNode.prototype
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      const analyser = this.context.createAnalyser()
      analyser.fftSize = 512
      const wave = new Float32Array(analyser.fftSize)
      connect.call(this, analyser)
      setInterval(() => {
        analyser.getFloatTimeDomainData(wave)
        samples.push([performance.now(), Math.max(...wave.map(Math.abs))])
      }, 10)
    }
    return connect.call(this, target, ...rest)
  }
}

/** Opens a conversation whose server is the stage's. */
async function converse(t, options, live) {
  const page = await enter(t, browser, portal.url, options)
  await page.context().addInitScript(listen)
  const server = await speaking(page, live)
  await page.locator('a.button').click()
  await signIn(page, 'Kim')
  await page.locator('#composer').waitFor()
  await page.locator('#face').waitFor()
  return { page, server }
}

/**
 * Measures how far a mouth is open in each frame that is shown: how much of it is as dark
 * as only the inside of a mouth is, or a tooth.
 */
async function watch(page, within) {
  return page.evaluate(async (length) => {
    const { Speech } = await import(document.querySelector('script[type=module]').src.replace('talk.js', 'speech.js'))
    const canvas = document.getElementById('face')
    const copy = Object.assign(document.createElement('canvas'), { width: 60, height: 44 })
    const c = copy.getContext('2d', { willReadFrequently: true })
    const rig = await (await fetch(document.getElementById('talk').dataset.face.replace('{side}', 512).replace('{kind}', 'json'))).json()
    const seen = []
    const { mouth } = Speech.prototype
    let asked = null
    Speech.prototype.mouth = function () {
      const at = this.position
      asked = at
      return mouth.call(this)
    }
    const began = performance.now()
    await new Promise((resolve) => {
      const frame = () => {
        const zoom = Math.min(canvas.height / rig.frame.side, canvas.width / 560)
        const x = canvas.width / 2 - 50 * zoom, y = canvas.height - (rig.frame.top + rig.frame.side - rig.mouth + 22) * zoom
        c.drawImage(canvas, x, y, 100 * zoom, 74 * zoom, 0, 0, 60, 44)
        const { data } = c.getImageData(0, 0, 60, 44)
        let open = 0
        // What is inside a mouth is darker than lips and skin, or white as only teeth are.
        for (let i = 0; i < data.length; i += 4) {
          const [r, g, b] = [data[i], data[i + 1], data[i + 2]]
          if (r < 82 && g < 40 && b < 44 || Math.max(r, g, b) - Math.min(r, g, b) < 44 && g > 108) open++
        }
        if (asked) seen.push([asked.ms, open])
        if (performance.now() - began < length) requestAnimationFrame(frame)
        else resolve()
      }
      requestAnimationFrame(frame)
    })
    return seen
  }, within)
}

test('the mouth follows what is heard, and it is heard', async (t) => {
  const { page, server } = await converse(t)
  const items = track(6000)
  server.say(items, words('This is a long sentence that takes its time to be said aloud'))
  const seen = await watch(page, 5600)
  const { VisemeTrack } = await import('../../web/client/visemes.js')
  const wanted = new VisemeTrack()
  wanted.add(items)
  const follows = (skew) => correlation(seen.map(([, open]) => open), seen.map(([ms]) => wanted.at(ms + skew).gap))
  const best = [-90, -75, -60, -45, -30, -15, 0, 15, 30, 45, 60, 75, 90].sort((a, b) => follows(b) - follows(a))[0]
  t.diagnostic(`${seen.length} frames, correlation ${follows(0).toFixed(3)}, skew ${best} ms`)
  assert.ok(seen.length > 60, `${seen.length} frames were seen`)
  assert.ok(follows(0) >= 0.9, `the correlation is ${follows(0)}`)
  assert.ok(Math.abs(best) < 45, `the mouth is ${best} ms off`)

  const heard = await page.evaluate(() => globalThis.heard)
  const loud = heard.filter(([, level]) => level > 0.1).length / heard.length
  assert.ok(loud > 0.3 && loud < 0.9, `sound is heard ${loud} of the time`)
  const told = server.received.filter(({ type }) => type === 'playback').map(({ data }) => data)
  assert.ok(told.length >= 15, `${told.length} times it is told what was heard`)
  assert.ok(told.every(({ playedMs }, i) => !i || playedMs >= told[i - 1].playedMs))
  await until(() => server.received.filter(({ type }) => type === 'playback'), (all) => all.at(-1).data.playedMs >= 5900)
  assert.deepEqual(page.broken, [])
})

test('who breaks in is heard: it is quiet within 200 ms', async (t) => {
  const { page, server } = await converse(t)
  server.say(track(8000), words('This is something that nobody wants to hear to its end at all'))
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await until(() => page.evaluate(() => globalThis.heard.at(-1)?.[1] ?? 0), (loud) => loud > 0.1)
  const pressed = await page.evaluate(() => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    return performance.now()
  })
  await until(() => page.locator('#state').textContent(), (text) => text === 'Your turn')
  await page.getByText('Interrupted').waitFor()
  const later = () => page.evaluate((from) => globalThis.heard.filter(([at]) => at > from + 200), pressed)
  const after = await until(later, (all) => all.length > 20)
  assert.ok(after.every(([, loud]) => loud < 0.01), 'nothing is heard any more')
  assert.ok(server.received.some(({ type }) => type === 'interrupt'))
})

/** Encodes a tone as packets of 20 ms, in the browser. */
async function packets(page, seconds) {
  const made = await page.evaluate(async (length) => {
    const out = []
    const encoder = new AudioEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength)
        chunk.copyTo(bytes)
        out.push([...bytes])
      },
      error: (e) => { throw e },
    })
    encoder.configure({ codec: 'opus', sampleRate: 48_000, numberOfChannels: 1, bitrate: 32_000, opus: { frameDuration: 20_000 } })
    for (let i = 0; i < length * 50; i++) {
      const data = Float32Array.from({ length: 960 }, (_, n) => 0.4 * Math.sin(2 * Math.PI * 330 * (i * 960 + n) / 48_000))
      encoder.encode(new AudioData({ format: 'f32', sampleRate: 48_000, numberOfFrames: 960, numberOfChannels: 1, timestamp: i * 20_000, data }))
    }
    await encoder.flush()
    return out
  }, seconds)
  return made.map((bytes) => Buffer.from(bytes))
}

test('Opus is asked for, decoded and heard', async (t) => {
  const encoding = await enter(t, browser, portal.url)
  const opus = await packets(encoding, 2)
  const { page, server } = await converse(t, {}, { opus })
  assert.deepEqual(server.received.find(({ type }) => type === 'client-ready').data.audio, ['opus', 'pcm'])
  server.say([{ t: 0, v: 'aa' }, { t: 2000, v: 'sil' }], words('Good morning to all'))
  await until(() => server.received.filter(({ type }) => type === 'playback'), (all) => all.at(-1)?.data.playedMs >= 1950)
  const heard = await page.evaluate(() => globalThis.heard)
  const [first, last] = [heard.findIndex(([, level]) => level > 0.2), heard.findLastIndex(([, level]) => level > 0.2)]
  assert.ok(last > first && heard[last][0] - heard[first][0] > 1500, 'sound is heard')
  const within = heard.slice(first + 2, last - 2)
  const quiet = within.filter(([, level]) => level < 0.1).length / within.length
  // A machine that is busy elsewhere decodes late, which delays what follows.
  assert.ok(quiet < 0.5, `it is quiet ${quiet} of the time`)
  assert.deepEqual(page.broken, [])
})

test('a hidden page draws nothing', async (t) => {
  const { page } = await converse(t)
  const frames = () => page.evaluate(() => new Promise((resolve) => {
    const canvas = document.getElementById('face'), { drawImage } = CanvasRenderingContext2D.prototype
    let drawn = 0
    CanvasRenderingContext2D.prototype.drawImage = function (...given) {
      if (this.canvas === canvas) drawn++
      return drawImage.apply(this, given)
    }
    setTimeout(() => {
      CanvasRenderingContext2D.prototype.drawImage = drawImage
      resolve(drawn)
    }, 500)
  }))
  assert.ok(await frames() > 50)
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  assert.equal(await frames(), 0)
})

test('a frame costs little of the main thread', async (t) => {
  const { page, server } = await converse(t)
  server.say(track(5000), words('This is a long sentence that takes its time to be said'))
  const costs = await page.evaluate(() => new Promise((resolve) => {
    const { requestAnimationFrame: request } = globalThis
    const costs = []
    globalThis.requestAnimationFrame = (draw) => request((now) => {
      const from = performance.now()
      draw(now)
      costs.push(performance.now() - from)
    })
    setTimeout(() => {
      globalThis.requestAnimationFrame = request
      resolve(costs.sort((a, b) => a - b))
    }, 3000)
  }))
  const at = (share) => costs[Math.floor(share * (costs.length - 1))].toFixed(1)
  t.diagnostic(`${(costs.length / 3).toFixed(0)} frames a second, ${at(0.5)} ms each, ${at(0.95)} ms at p95`)
  assert.ok(costs.length > 30 && at(0.5) < 12, `${costs.length} frames, ${at(0.5)} ms each`)
})

test('captions say what is heard, and can be turned off', async (t) => {
  const { page, server } = await converse(t, { colorScheme: 'dark' })
  await picture(page, 'face-listening')
  server.say(track(5000), words('Good morning and welcome to the garden. Mind your step on the stairs, please.', 320))
  await page.locator('#caption').getByText('welcome to the garden').waitFor()
  await accessible(page)
  await picture(page, 'face-speaking')
  await page.locator('#caption').getByText('Mind your step').waitFor()
  await page.getByRole('button', { name: 'Captions' }).click()
  await page.locator('#caption').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Mute' }).click()
  assert.equal(await page.getByRole('button', { name: 'Mute' }).getAttribute('aria-pressed'), 'true')
})

test('a phone shows the face above what is said', async (t) => {
  const { page, server } = await converse(t, { ...phone, viewport: { width: 360, height: 740 } })
  server.say(track(4000), words('Good morning and welcome to the garden.', 320))
  await page.locator('#caption').getByText('welcome').waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360)
  await accessible(page)
  await picture(page, 'face-phone')
})

test('without sound the mouth still speaks', async (t) => {
  const { page, server } = await converse(t, { reducedMotion: 'reduce' }, { sounds: false })
  server.say([{ t: 0, v: 'sil' }], words('Mama and papa are away today and tomorrow', 300))
  const seen = await watch(page, 2600)
  assert.ok(Math.max(...seen.map(([, open]) => open)) > 3 * Math.max(1, Math.min(...seen.map(([, open]) => open))))
  assert.equal(await page.getByRole('button', { name: 'Mute' }).isVisible(), false)
})
