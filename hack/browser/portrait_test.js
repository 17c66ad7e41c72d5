// An organization's own face, which is a picture that is moved by its landmarks
// (web/client/portrait.js): found on a canvas, measured, and shown wherever faces are.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { join } from 'node:path'
import { base, call, makePersona, makePortrait, until, worn } from './stage/api.js'
import { launch, open, picture } from './stage/browser.js'
import { correlation, speaking, track, words } from './stage/live.js'
import { enter, makeCourse, signIn } from './stage/portal.js'
import { drawFaces, output, serveFaces } from './stage/sheets.js'
import { serve } from './stage/site.js'

/** @type {import('playwright-core').Browser} */
let browser
let portal, own

before(async () => {
  browser = await launch()
  own = await makePortrait(4)
  portal = await makeCourse('Portrait', { avatarId: own.made.id })
  await worn(own.made.id) // it moves once it is prepared
})
after(() => browser?.close())

/** Opens a conversation whose server is the stage's. */
async function converse(t, options) {
  const page = await enter(t, browser, portal.url, options)
  const server = await speaking(page)
  await page.locator('a.button').click()
  await signIn(page, 'Kim')
  await page.locator('#composer').waitFor()
  await page.locator('#face').waitFor()
  return { page, server }
}

/**
 * Looks at a face in each frame that is shown, for a time.
 * @returns {Promise<{ms: number | null, at: number, mouth: number, eyes: number[], edge: number}[]>} where the sound was, the time, how
 *   many pixels of the mouth are as only its inside is, how many of either eye are as dark as only irises and lashes are, and how much
 *   what is around the face differs from the first frame, at most, from 0 to 255
 */
function watch(page, within) {
  return page.evaluate(async (length) => {
    const script = document.querySelector('script[type=module]').src
    const [{ Speech }, { Mesh }, { viewOf }] = await Promise.all(['speech', 'mesh', 'portrait'].map((name) => import(new URL(`${name}.js`, script).href)))
    const canvas = document.getElementById('face')
    const face = (kind) => fetch(document.getElementById('talk').dataset.face.replace('{side}', 512).replace('{kind}', kind))
    const rig = await (await face('json')).json()
    const sheet = await createImageBitmap(await (await face('png')).blob())
    const mesh = new Mesh({ width: sheet.width, height: sheet.height, landmarks: rig.landmarks })
    const unit = mesh.axes.size
    const looker = (width, height) => {
      const c = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d', { willReadFrequently: true })
      return (x, y, w, h) => {
        const { zoom, x: left, y: top } = viewOf(canvas, sheet, mesh, false)
        c.drawImage(canvas, left + x * zoom, top + y * zoom, w * zoom, h * zoom, 0, 0, width, height)
        return c.getImageData(0, 0, width, height).data
      }
    }
    const count = (data, is) => {
      let n = 0
      for (let i = 0; i < data.length; i += 4) if (is(data[i], data[i + 1], data[i + 2])) n++
      return n
    }
    const inside = (r, g, b) => r < 76 && g < 36 && b < 40 || Math.max(r, g, b) - Math.min(r, g, b) < 44 && g > 108
    const at = ([x, y]) => [x * rig.width * sheet.width / rig.width, y * sheet.height]
    const [mx, my] = at([(rig.landmarks.mouthLeft[0] + rig.landmarks.mouthRight[0]) / 2, rig.landmarks.mouthTop[1]])
    const eyes = [at(rig.landmarks.leftEye), at(rig.landmarks.rightEye)]
    const [mouthLook, eyeLook] = [looker(60, 44), looker(40, 20)]
    const edges = Object.assign(document.createElement('canvas'), { width: 16, height: 64 }).getContext('2d', { willReadFrequently: true })
    const seen = []
    const { mouth } = Speech.prototype
    let asked = null
    Speech.prototype.mouth = function () {
      asked = this.position
      return mouth.call(this)
    }
    const began = performance.now()
    let first = null
    await new Promise((resolve) => {
      const frame = () => {
        const open = count(mouthLook(mx - 0.32 * unit, my - 0.02 * unit, 0.64 * unit, 0.5 * unit), inside)
        const dark = eyes.map(([x, y]) => count(eyeLook(x - 0.24 * unit, y - 0.12 * unit, 0.48 * unit, 0.24 * unit), (r, g, b) => Math.abs(r - b) < 30))
        // The sides, beside hair and shoulders.
        const edge = [0, 0.96].flatMap((x) => {
          edges.drawImage(canvas, x * canvas.width, 0, 0.04 * canvas.width, 0.6 * canvas.height, 0, 0, 16, 64)
          return [...edges.getImageData(0, 0, 16, 64).data]
        })
        first ??= edge
        seen.push({ ms: asked?.ms ?? null, at: performance.now() - began, mouth: open, eyes: dark, edge: edge.reduce((most, v, i) => Math.max(most, Math.abs(v - first[i])), 0) })
        if (performance.now() - began < length) requestAnimationFrame(frame)
        else {
          Speech.prototype.mouth = mouth
          resolve()
        }
      }
      requestAnimationFrame(frame)
    })
    return seen
  }, within)
}

test('landmarks are found in a picture, and said', () => {
  const { made, drawn } = own
  assert.equal(made.landmarksSource, 'found')
  const apart = drawn.landmarks.rightEye[0] - drawn.landmarks.leftEye[0]
  for (const [name, [x, y]] of Object.entries(drawn.landmarks)) {
    const [fx, fy] = made.landmarks[name]
    assert.ok(Math.hypot(fx - x, fy - y) < 0.14 * apart, `${name} is at ${fx}, ${fy} rather than ${x}, ${y}`)
  }
})

test('the mouth follows what is heard, and around the face nothing tears', async (t) => {
  const { page, server } = await converse(t)
  const items = track(6000)
  server.say(items, words('This is a long sentence that takes its time to be said aloud'))
  const seen = (await watch(page, 5600)).filter(({ ms }) => ms !== null)
  const { VisemeTrack } = await import('../../web/client/visemes.js')
  const wanted = new VisemeTrack()
  wanted.add(items)
  const follows = correlation(seen.map(({ mouth }) => mouth), seen.map(({ ms }) => wanted.at(ms).gap))
  const edge = Math.max(...seen.map((s) => s.edge))
  t.diagnostic(`${seen.length} frames, correlation ${follows.toFixed(3)}, the edge differs by ${edge}`)
  assert.ok(seen.length > 60, `${seen.length} frames were seen`)
  assert.ok(follows >= 0.88, `the correlation is ${follows}`)
  assert.ok(edge < 24, `what is around the face differs by ${edge}`)
  assert.deepEqual(page.broken, [])
})

test('eyes shut for a moment, both of them', async (t) => {
  const { page } = await converse(t)
  const seen = await watch(page, 9000)
  const usual = [0, 1].map((i) => seen.map(({ eyes }) => eyes[i]).sort((a, b) => a - b)[seen.length >> 1])
  const shut = seen.filter(({ eyes }) => eyes.every((dark, i) => dark < 0.35 * usual[i]))
  t.diagnostic(`${seen.length} frames, ${shut.length} with shut eyes; usually ${usual} are dark`)
  assert.ok(usual.every((dark) => dark > 40), `${usual} pixels of the eyes are dark`)
  assert.ok(shut.length > 0 && shut.length < 0.25 * seen.length, `eyes are shut in ${shut.length} of ${seen.length} frames`)
})

test('a hidden page draws nothing, and who asked for less motion sees lips alone', async (t) => {
  const { page, server } = await converse(t, { reducedMotion: 'reduce' })
  server.say(track(4000), words('This is something that is said'))
  const seen = await watch(page, 3000)
  assert.ok(Math.max(...seen.map(({ mouth }) => mouth)) > 3 * Math.min(...seen.map(({ mouth }) => mouth)) + 40, 'lips move')
  assert.ok(Math.max(...seen.map(({ edge }) => edge)) < 4, 'nothing sways')
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
  assert.ok(await frames() > 20)
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  assert.equal(await frames(), 0)
})

test('a frame costs little of the main thread', async (t) => {
  const { page, server } = await converse(t)
  server.say(track(5000), words('This is a long sentence that takes its time to be said'))
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  // What the main thread itself took: others may have the machine meanwhile.
  const debug = await page.context().newCDPSession(page)
  await debug.send('Performance.enable', { timeDomain: 'threadTicks' })
  const script = async () => (await debug.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration').value
  const before = await script()
  const frames = await page.evaluate(() => new Promise((resolve) => {
    const { drawImage } = CanvasRenderingContext2D.prototype
    const canvas = document.getElementById('face')
    let shown = 0, last = 0
    CanvasRenderingContext2D.prototype.drawImage = function (...given) {
      if (this.canvas === canvas && performance.now() - last > 4) {
        shown++
        last = performance.now()
      }
      return drawImage.apply(this, given)
    }
    setTimeout(() => {
      CanvasRenderingContext2D.prototype.drawImage = drawImage
      resolve(shown)
    }, 3000)
  }))
  const each = 1000 * (await script() - before) / frames
  t.diagnostic(`${(frames / 3).toFixed(0)} frames a second, ${each.toFixed(1)} ms of the main thread each`)
  assert.ok(frames > 30 && each < 12, `${frames} frames, ${each} ms each`)
  await picture(page, 'portrait-speaking')
})

/** Whether a canvas shows more than one color, as a face does. */
const isShown = (canvas) => canvas.evaluate((it) => {
  const copy = Object.assign(document.createElement('canvas'), { width: 16, height: 16 }).getContext('2d')
  copy.drawImage(it, 0, 0, 16, 16)
  return !it.hidden && new Set(new Uint32Array(copy.getImageData(0, 0, 16, 16).data.buffer)).size > 20
})

test('the page of a session and a widget show it too', async (t) => {
  const { made } = await makePortrait(12, { removeBackground: true })
  const persona = await makePersona('Mei', { Guide: '# Visiting\n\nThe garden opens at nine.' }, { avatarId: made.id })
  await worn(made.id)
  const { joinUrl } = await call('POST', '/sessions/tokens', { personaId: persona })
  const page = await open(browser, joinUrl)
  t.after(() => page.context().close())
  await page.locator('#face').waitFor()
  assert.ok(await isShown(page.locator('#face')))
  await picture(page, 'portrait-joined')
  // Only who has the token sees it.
  const strange = new URL(joinUrl)
  assert.equal((await fetch(`${strange.origin}${strange.pathname}/face/512.png`)).status, 404)
  assert.deepEqual(page.broken, [])

  const widget = await call('POST', '/widgets', { name: 'Garden', personaId: persona, allowedOrigins: ['http://localhost'], channels: ['video'], defaultChannel: 'video' })
  const site = await serve({ body: widget.embed.html })
  t.after(site.close)
  const visitor = await open(browser, site.origin)
  t.after(() => visitor.context().close())
  await visitor.getByRole('button', { name: 'Talk with Mei' }).click()
  await visitor.getByRole('dialog', { name: 'Talk with Mei' }).waitFor()
  await visitor.keyboard.press('Enter')
  const canvas = visitor.locator('canvas#face')
  await canvas.waitFor()
  assert.ok(await isShown(canvas))
  assert.deepEqual(visitor.broken, [])
})

test('a picture without a face stays a picture', async () => {
  const { made } = await makePortrait(4, { picture: `data:image/png;base64,${await blank()}` })
  assert.equal(made.landmarks, null)
  assert.equal(made.landmarksSource, null)
})

/** A picture of nothing, in base64. */
async function blank() {
  const page = await browser.newPage()
  const url = await page.evaluate(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 600, height: 600 })
    canvas.getContext('2d').fillRect(0, 0, 300, 600)
    return canvas.toDataURL()
  })
  await page.close()
  return url.split(',')[1]
}

/** Draws faces in a page of their own, keeps a sheet of them, and answers what was measured. */
async function sheet(t, name, faces, options) {
  const server = serveFaces(new Map(faces.flatMap(({ rig, picture }, i) => [[`/${i}.json`, rig], [`/${i}.png`, picture]])))
  t.after(() => server.close())
  const page = await browser.newPage({ viewport: { width: 10 * options.side, height: 800 } })
  t.after(() => page.close())
  page.on('pageerror', (e) => { throw e })
  await page.goto(`http://localhost:${server.address().port}/`)
  const measured = await page.evaluate(drawFaces, { from: 0, to: faces.length, ...options })
  await page.screenshot({ path: join(output, `${name}.png`), fullPage: true })
  return measured
}

/** What shows in every face's poses. */
function posesDiffer(name, of) {
  assert.ok(of.aa.mouth > 4, `${name} opens the mouth: ${of.aa.mouth}`)
  assert.ok(of.aa.mouth > 2 * of.PP.mouth, `${name} closes the lips: ${of.PP.mouth}, ${of.aa.mouth}`)
  assert.ok(of.blink.eyes > 4 && of.aa.eyes < of.blink.eyes / 2, `${name} shuts the eyes: ${of.blink.eyes}, ${of.aa.eyes}`)
  for (const pose of ['PP', 'smile', 'U', 'I', 'FF']) assert.ok(of[pose].mouth > 0.1, `${name}: ${pose} is as at rest`)
  for (const pose of ['listening', 'thinking']) assert.ok(of[pose].all > 0.1, `${name}: ${pose} is as at rest`)
}

test('sheets of the library show every face in every pose', { timeout: 120_000 }, async (t) => {
  const library = await call('GET', '/avatars?limit=100&kind=builtin')
  const load = (id, kind) => fetch(`${base}/avatars/${id}/layers?size=512&kind=${kind}`).then(async (answer) => Buffer.from(await answer.arrayBuffer()))
  const perSheet = 12
  for (let from = 0; from < library.length; from += perSheet) {
    const some = library.slice(from, from + perSheet)
    const faces = []
    for (const { id } of some) faces.push({ rig: await load(id, 'json'), picture: await load(id, 'png') })
    const measured = await sheet(t, `faces-${1 + from / perSheet}`, faces, { side: 160 })
    some.forEach(({ name }, i) => posesDiffer(name, measured[i]))
  }
})

test('sheets of portraits show every pose, with WebGL and without', { timeout: 120_000 }, async (t) => {
  const faces = []
  for (const nth of [4, 0, 12, 9]) {
    const { made, picture } = nth === 4 ? own : await makePortrait(nth)
    faces.push({ picture, rig: Buffer.from(JSON.stringify({ mesh: true, width: 1024, height: 1024, landmarks: made.landmarks })) })
  }
  const lit = await sheet(t, 'portraits', faces, { side: 240, gl: true })
  const plain = await sheet(t, 'portraits-plain', faces, { side: 240, gl: false })
  lit.forEach((of, i) => {
    posesDiffer(`portrait ${i}`, of)
    posesDiffer(`portrait ${i} without WebGL`, plain[i])
    for (const pose of Object.keys(of)) assert.ok(Math.abs(of[pose].mouth - plain[i][pose].mouth) < 3, `${pose} of portrait ${i} is another with WebGL`)
  })
  assert.notDeepEqual(lit, plain, 'WebGL draws')
})
