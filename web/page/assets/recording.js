// The page that plays a recording: its sound, with the face and the captions that went with
// it, and what was said. Its link stands behind the "#", where no server sees it.

import { Face } from './face.js'
import { named, Pair } from './pair.js'
import { itemsOf, Replay } from './replay.js'
import { loadFace } from './rig.js'
import { Speech } from './speech.js'
import { Transcript } from './transcript.js'

const at = (id) => document.getElementById(id)
const page = at('talk').dataset
const words = JSON.parse(page.words)
const say = (key, value = '') => (words[key] ?? '').replace('%s', value)

/** How often the captions are brought up to date, in milliseconds. */
const often = 80

const link = location.hash.slice(1)
const address = (what) => `${page.base}/${link}/${what}`

begin().catch(() => complain(say('recording.failed')))

async function begin() {
  const answer = link && await fetch(address('about'))
  if (!answer || answer.status === 404) return complain(say('recording.unknown'))
  const about = await answer.json()
  const track = await fetch(address('track'))
  if (!track.ok) return complain(say('recording.failed'))
  const replay = new Replay(itemsOf(await track.text()))
  const speech = new Speech(replay)
  speech.follow(replay)
  describe(about)
  const pair = about.hosts?.length ? seat(about, speech) : null
  if (!pair) await show(about, speech)
  const speakers = { avatar: about.speaker, user: say('talk.you'), staff: say('talk.staff'), sources: say('talk.sources'), interrupted: say('talk.interrupted') }
  const transcript = new Transcript(at('log'), { words: speakers })
  for (const turn of replay.turns()) transcript.turn(turn)
  at('log').scrollTop = 0
  const sound = at('sound')
  sound.src = address('sound')
  sound.addEventListener('error', () => complain(say('recording.failed')))
  const follow = () => {
    replay.seek(sound.currentTime * 1000 + about.offsetMs)
    pair?.look()
    caption(speech.caption())
  }
  sound.addEventListener('seeked', follow)
  setInterval(() => sound.paused || follow(), often)
}

function describe({ speaker, startedAt, missingMs }) {
  document.title = say('talk.title', speaker)
  document.querySelector('.about h1').textContent = document.title
  at('likeness').setAttribute('aria-label', speaker)
  at('when').textContent = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'long', timeStyle: 'short' }).format(new Date(startedAt))
  at('missing').hidden = !missingMs
  at('missing').textContent = say('recording.missing', new Intl.NumberFormat(document.documentElement.lang, { style: 'unit', unit: 'second', unitDisplay: 'long' }).format(Math.ceil(missingMs / 1000)))
}

/** Shows who speaks: their living face, or a picture. */
async function show({ face }, speech) {
  const canvas = at('face')
  if (face) {
    try {
      const { width, height } = canvas.parentElement.getBoundingClientRect()
      const living = new Face(canvas, await loadFace(face, Math.max(height, width * 0.8) * devicePixelRatio))
      canvas.hidden = false
      living.speech = () => speech.mouth()
      speech.ongesture = (name) => living.gesture(name)
      living.start()
      return
    } catch {
      // The picture is shown instead.
    }
  }
  const picture = await fetch(address('portrait'))
  if (!picture.ok) return
  at('portrait').src = URL.createObjectURL(await picture.blob())
  at('portrait').hidden = false
}

/** Shows the two hosts of a duo side by side, as pictures and then as faces that live. */
function seat({ hosts }, speech) {
  const likeness = at('likeness'), pair = new Pair(hosts, speech)
  likeness.removeAttribute('role') // each has a name of its own
  likeness.removeAttribute('aria-label')
  likeness.replaceChildren(pair.element)
  likeness.classList.add('two')
  pair.state = 'idle'
  speech.ongesture = (name, host) => pair.gesture(name, host)
  for (const { seat, portrait, face } of hosts) {
    const picture = new Image()
    picture.alt = ''
    picture.src = portrait
    pair.picture(seat, picture)
    if (face) loadFace(face, pair.sizeOf(seat) * devicePixelRatio).then((loaded) => pair.live(seat, loaded)).catch(() => {}) // the picture stays
  }
  return pair
}

function caption({ text, said, by }) {
  const shown = at('caption')
  const key = `${said}/${by}/${text}`
  if (shown.dataset.shown === key) return
  shown.dataset.shown = key
  shown.hidden = !text
  const rest = document.createElement('span')
  rest.textContent = text.slice(said)
  shown.replaceChildren(...named(by), text.slice(0, said), rest)
}

function complain(message) {
  at('wrong').textContent = message
  at('wrong').hidden = !message
}
