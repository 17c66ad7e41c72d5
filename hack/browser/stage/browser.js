// Debian's Chromium, and what is looked at in it.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const output = join(dirname(fileURLToPath(import.meta.url)), '../output')
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** How long a test waits for what it expects to see, in milliseconds. */
const patience = 15_000

/** Starts the browser. Whoever does closes it. */
export function launch(args = []) {
  // Its own sandbox does not work as root, as tests run in a container.
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid() === 0 ? ['--no-sandbox', ...args] : args })
}

/** Starts a browser whose microphone hears a file once, beginning when it is opened. */
export function launchHearing(file) {
  return launch(['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${file}%noloop`])
}

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }

/**
 * Opens a page in a browser that knows nothing yet, and notes what it says.
 * @returns {Promise<import('playwright-core').Page & {said: string[], broken: string[]}>} said are the lines of its console, broken
 *   those of them that are faults
 */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1180, height: 800 }, ...options })
  context.setDefaultTimeout(patience)
  const page = await context.newPage()
  page.said = []
  page.broken = []
  page.on('console', (message) => {
    page.said.push(message.text())
    if (message.type() === 'error') page.broken.push(message.text())
  })
  page.on('pageerror', (error) => page.broken.push(error.message))
  await page.goto(url)
  return page
}

/** Resolves once nothing moves any more, in shadow trees too, but for what always does. */
function settled(page) {
  return page.evaluate(() => {
    const roots = [document, ...[...document.querySelectorAll('*')].flatMap((e) => e.shadowRoot ?? [])]
    const passing = roots.flatMap((root) => root.getAnimations()).filter((a) => a.effect.getTiming().iterations !== Infinity)
    return Promise.allSettled(passing.map((a) => a.finished)).then(() => {})
  })
}

/** Keeps a picture of a page as it is. */
export async function picture(page, name) {
  await settled(page)
  await page.screenshot({ path: join(output, `${name}.png`) })
}

/** Fails for what hinders people: axe's serious and critical findings, shadow trees too. */
export async function accessible(page, within = 'body') {
  // Evaluated over the debugger, which no policy of the page's stops.
  await page.evaluate(axe + ';undefined')
  await settled(page)
  const { violations } = await page.evaluate((scope) => globalThis.axe.run(scope), within)
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  assert.deepEqual(grave.map(({ id, nodes }) => [id, nodes.map((n) => `${n.target} ${n.failureSummary}`)]), [])
}
