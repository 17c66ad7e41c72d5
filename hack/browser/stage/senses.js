// What somebody before a page sees and hears, noted as it comes.

import { open } from './browser.js'

/** How loud is not silent, of 1. */
const audible = 0.02

/** Runs in the page before its own scripts: notes when the face moves and how loud it is. */
function notes() {
  const noted = globalThis.noted = { loud: [], movedAt: 0, captions: [], stoppedAt: 0 }
  const { connect } = AudioNode.prototype
  // A track of WebRTC is played by an element, which has its own loudness.
  const { play } = HTMLMediaElement.prototype
  HTMLMediaElement.prototype.play = function () {
    if (this.srcObject && !this.noted) {
      this.noted = true
      const context = new AudioContext(), analyser = context.createAnalyser()
      analyser.fftSize = 512
      const wave = new Float32Array(analyser.fftSize)
      connect.call(context.createMediaStreamSource(this.srcObject), analyser)
      setInterval(() => {
        analyser.getFloatTimeDomainData(wave)
        noted.loud.push([performance.now(), this.muted || this.paused ? 0 : this.volume * Math.max(...wave.map(Math.abs))])
      }, 10)
    }
    return play.call(this)
  }
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      const analyser = this.context.createAnalyser()
      analyser.fftSize = 512
      const wave = new Float32Array(analyser.fftSize)
      connect.call(this, analyser)
      setInterval(() => {
        analyser.getFloatTimeDomainData(wave)
        noted.loud.push([performance.now(), Math.max(...wave.map(Math.abs))])
      }, 10)
    }
    return connect.call(this, target, ...rest)
  }
  const find = (id) => document.getElementById(id) ?? document.querySelector('[data-visavis][data-mode]')?.shadowRoot?.getElementById(id)
  const small = new OffscreenCanvas(24, 24).getContext('2d', { willReadFrequently: true })
  let before = '', changes = 0
  const look = () => {
    const canvas = find('face')
    if (canvas && !canvas.hidden && canvas.width) {
      small.drawImage(canvas, 0, 0, 24, 24)
      const now = small.getImageData(0, 0, 24, 24).data.join()
      if (before && now !== before && ++changes === 2) noted.movedAt = performance.timeOrigin + performance.now()
      before = now
    }
    const caption = find('caption')
    if (caption && !caption.hidden && caption.textContent && caption.textContent !== noted.captions.at(-1)) noted.captions.push(caption.textContent)
    if (!noted.movedAt || noted.captions.length < 400) requestAnimationFrame(look)
  }
  document.addEventListener('DOMContentLoaded', () => requestAnimationFrame(look))
  noted.find = find
}

/**
 * Opens a page whose visitor is noted from its beginning, in a browser of its own, for as long as a test takes.
 * @param {import('playwright-core').Browser} browser
 * @param {((page: import('playwright-core').Page) => Promise<void>)} [prepare] what is done before the page is loaded
 */
export async function visit(t, browser, url, options, prepare) {
  const page = await open(browser, 'about:blank', options)
  t.after(() => page.context().close())
  await sense(page.context())
  await prepare?.(page)
  await page.goto(url)
  return page
}

/** Has every page of a context noted from now on. */
export const sense = (context) => context.addInitScript(notes)

/** When the face first moved, in milliseconds since 1970; waits for it. */
export async function moved(page) {
  await page.waitForFunction(() => globalThis.noted.movedAt)
  return page.evaluate(() => globalThis.noted.movedAt)
}

/** Waits until something is heard, and answers how loud it is at most. */
export async function heard(page) {
  await page.waitForFunction((level) => globalThis.noted.loud.filter(([, loud]) => loud > level).length > 20, audible)
  return page.evaluate(() => Math.max(...globalThis.noted.loud.map(([, loud]) => loud)))
}

/** Presses Stop the moment that something is heard: from outside, the voice may pause meanwhile. */
export function pressStop(page) {
  return page.evaluate(async (level) => {
    const { noted } = globalThis
    while (!(noted.loud.at(-1)?.[1] > level)) await new Promise(requestAnimationFrame)
    noted.stoppedAt = performance.now()
    noted.find('stop').click()
  }, audible)
}

/** How long after Stop was pressed something was still heard, in milliseconds; waits a second to be sure. */
export async function stillHeard(page) {
  await page.waitForFunction(() => globalThis.noted.stoppedAt && performance.now() - globalThis.noted.stoppedAt > 1000)
  return page.evaluate((level) => {
    const { loud, stoppedAt } = globalThis.noted
    const after = loud.filter(([at, how]) => at > stoppedAt && how > level)
    return { ms: after.length ? after.at(-1)[0] - stoppedAt : 0, before: loud.some(([at, how]) => at < stoppedAt && at > stoppedAt - 400 && how > level) }
  }, audible)
}

/** The captions that were shown. */
export const captions = (page) => page.evaluate(() => globalThis.noted.captions)

/** Has the mouth noted as it is drawn. */
export function senseMouth(page) {
  return page.evaluate(async () => {
    const { src } = [...document.scripts].find(({ type, src }) => type === 'module' && src)
    const { Speech } = await import(new URL('./speech.js', src))
    const { mouth } = Speech.prototype
    globalThis.noted.mouth = []
    Speech.prototype.mouth = function () {
      const shape = mouth.call(this)
      globalThis.noted.mouth.push([performance.now(), shape.gap])
      return shape
    }
  })
}

/**
 * How much later the mouth begins to move than the voice is heard, in milliseconds, each time that both
 * begin after a silence; less than nothing where it moves first.
 */
export function skews(page) {
  return page.evaluate(() => {
    const { loud, mouth } = globalThis.noted
    const begins = (points, level) => {
      const found = []
      let last = -Infinity
      for (const [at, value] of points) {
        if (value <= level) continue
        if (at - last > 300) found.push(at)
        last = at
      }
      return found
    }
    const lips = begins(mouth, 0.05)
    return begins(loud, 0.03).flatMap((voice) => {
      const near = lips.find((at) => Math.abs(at - voice) < 600)
      return near === undefined ? [] : [Math.round(near - voice)]
    })
  })
}
