// The page that checks a candidate's record.

import { Broken, check, checkKeys } from './recordcheck.js'

const at = (id) => document.getElementById(id)
const words = JSON.parse(at('check').dataset.words)
const say = (key, ...values) => values.reduce((text, value) => text.replace('%s', value), words[`recordcheck.${key}`])

/** The largest file that is read, in bytes. */
const largest = 64 << 20

at('check').addEventListener('change', run)

async function run() {
  const [record] = at('file').files
  const [keys] = at('keys').files
  for (const id of ['verdict', 'more', 'entries']) at(id).hidden = true
  if (!record) return
  try {
    for (const file of [record, keys]) if (file?.size > largest) throw new Broken('form')
    const found = await check(await record.text())
    if (keys) {
      if (found.anchors.length === 0) throw new Broken('unsigned')
      checkKeys(await keys.text(), found.anchors)
    }
    tell('valid', say('holds'))
    describe(found, Boolean(keys))
  } catch (e) {
    tell('revoked', e instanceof Broken ? say(e.key, e.number) : say('form'))
  }
}

function tell(kind, text) {
  const line = at('verdict')
  line.className = `verdict ${kind}`
  line.textContent = text
  line.hidden = false
}

function describe({ entries, anchors, signatures, erased, candidate, asked }, keys) {
  const last = anchors.at(-1)
  const lines = [candidate, say('count', entries.length, erased)]
  lines.push(last ? say('anchored', anchors.length, shown(last.at), last.length) : say('unsigned'))
  if (last && !signatures) lines.push(say('unsupported'))
  if (last && signatures && !keys) lines.push(say('whose'))
  for (const { version, keys: named } of asked) lines.push(named ? say('asked', version, named.join(', ')) : say('unasked', version))
  at('more').replaceChildren(...lines.map((text) => element('li', text)))
  at('more').hidden = false
  at('rows').replaceChildren(...entries.map((e) => {
    const row = document.createElement('tr')
    row.append(element('td', e.number), element('td', shown(e.at)), element('td', e.action), element('td', e.actor))
    return row
  }))
  at('entries').hidden = false
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

const shown = (time) => `${time.slice(0, 19).replace('T', ' ')} UTC`
