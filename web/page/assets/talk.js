// The conversation's page: mints a session, or opens the one that its address has the
// token of, shows what is said, and asks in the end how it was. Who speaks is shown and
// heard by stage.js.

import { offerCheck } from './check.js'
import { Ear } from './ear.js'
import { Invitation } from './invitation.js'
import { Direct } from './direct.js'
import { Conversation } from './live.js'
import { Consent } from './consent.js'
import { chosen } from './devices.js'
import { together } from './pair.js'
import { Stage } from './stage.js'
import { Timer } from './timer.js'
import { Transcript } from './transcript.js'
import { Watch } from './watch.js'

const at = (id) => document.getElementById(id)
const page = at('talk').dataset
const words = JSON.parse(page.words)
const say = (key, value = '') => (words[key] ?? '').replace('%s', () => value) // a name may have a dollar

/** Under this a tab keeps the way back into its conversation after a reload. */
const kept = `talk:${page.base}:${page.subject}${page.assignment ? `:${page.assignment}` : ''}`

/** The tab's memory; a browser may refuse one in a frame. */
const memory = (() => {
  try { return sessionStorage } catch { return null }
})()

const speakers = { avatar: page.speaker, user: say('talk.you'), staff: say('talk.staff'), sources: say('talk.sources'), interrupted: say('talk.interrupted') }
const transcript = new Transcript(at('log'), { words: speakers })
/** The two of a duo; null where one alone speaks, and on the page of a session until it is known. */
const hosts = page.hosts ? JSON.parse(page.hosts) : null
const stage = new Stage(at, { face: page.face, hosts, onspeaking: () => state(serverState), onunplugged: () => complain(say('sound.unplugged')) })

const parts = Object.fromEntries(['mic', 'asks', 'explained', 'allow', 'later', 'manual', 'hold'].map((id) => [id, at(id)]))
const ear = new Ear(parts, {
  say: (key) => say(key, speakers.avatar), complain, hush: () => stage.hush(), onhearing: () => state(serverState),
  onlevel: (level) => parts.mic.style.setProperty('--level', level.toFixed(2)), worklet: new URL('./worklet.js', import.meta.url),
})

const consent = new Consent(at, { say, speaker: () => speakers.avatar, notice: (text) => transcript.notice(text), onchange: (recording) => { ear.recording = recording } })

// What is written when the time is up is the answer.
const timer = new Timer(at, { say, duration, onup: () => at('message').value.trim() && at('composer').requestSubmit() })

/** The one session that this page is for; null where it mints one. */
const invitation = 'joins' in page ? new Invitation(at, { base: page.base, memory, kept, say, stage }) : null

/** What notes what the page sees beside the words, of a candidate who was told that it does; null else. */
const watch = 'watches' in page ? new Watch(at('message'), saw) : null

/** Tells what the page saw. It goes out also where the page is being left; where it cannot be told, nothing is lost but that. */
function saw(kind, fields = {}) {
  fetch(`${page.base}/interview/signal`, { method: 'POST', keepalive: true, body: new URLSearchParams({ kind, ...fields }) }).catch(() => {})
}

/** @type {Conversation | null} */
let conversation = null
/** What the server says that is going on. */
let serverState = ''
/** Whether somebody came here to check microphone and sound first, which they did not yet. */
let checks = 'check' in page

begin()

/** Goes on with what was under way before a reload, or else starts a new conversation. */
async function begin() {
  at('over').hidden = at('wrong').hidden = true
  state('connecting')
  const ticket = await (invitation ? invited() : takeKept() ?? checked() ?? mint())
  if (!ticket) return
  try {
    await follow(ticket)
  } catch { // what is loaded only now is not there
    refuse(say('ended.connection_lost'))
  }
}

/** Waits until somebody begins the one session; null where that cannot be. */
async function invited() {
  const found = await invitation.open()
  if (!found.ticket) {
    refuse(found.message || say('ended.connection_lost'))
    return null
  }
  const { ticket } = found
  speakers.avatar = ticket.speaker
  if (ticket.endReason) {
    conversation = new Conversation(ticket, { ratingUrl: ratingOf(ticket) })
    end({ endReason: ticket.endReason, ratingAllowed: ticket.began })
    return null
  }
  state('')
  if (!ticket.began) await pressed(ticket.channel !== 'chat' && { headers: invitation.headers })
  state('connecting')
  return ticket
}

/** Has them check first, and mints a session then; null for who did not ask for it. */
function checked() {
  if (!checks) return null
  checks = false
  state('')
  at('ready').textContent = hosts ? say('join.ready_two', together(hosts, document.documentElement.lang)) : say('join.ready', speakers.avatar)
  return pressed({}, true).then(() => {
    state('connecting')
    return mint()
  })
}

/**
 * Offers to begin, and resolves once somebody does: until then nothing costs anything.
 * @param {{headers?: Record<string, string>} | false} check how microphone and sound can be checked; false where nothing is said aloud
 * @param {boolean} [opened] whether the check is opened at once
 */
async function pressed(check, opened = false) {
  at('lobby').hidden = false
  at('start').focus({ preventScroll: true })
  if (check) {
    const open = offerCheck(at('check'), { base: page.base, ...check, onvolume: (value) => { stage.volume = value }, onfailed: (yes) => complain(yes ? say('refused.other') : '') })
    if (opened) open().then(() => at('start').focus({ preventScroll: true }))
  }
  await new Promise((resolve) => at('start').addEventListener('click', resolve, { once: true }))
  complain('')
  at('lobby').hidden = true
}

const ratingOf = ({ session }) => invitation ? `${page.base}/rating` : `${page.base}/sessions/${session.id}/rating`

async function mint() {
  try {
    const answer = await fetch(`${page.base}/sessions`, { method: 'POST', body: new URLSearchParams({
      subject: page.subject, assignment: page.assignment ?? '', page: location.href.slice(0, 2048), referrer: document.referrer.slice(0, 2048),
    }) })
    const body = await answer.json()
    if (answer.ok) return body
    refuse(body.message)
  } catch {
    refuse(say('ended.connection_lost'))
  }
  return null
}

function takeKept() {
  const found = memory?.getItem(kept)
  memory?.removeItem(kept)
  return found && { ...JSON.parse(found), again: true }
}

/** The room of a media server where a session takes place in one, whose client is loaded only then; null else. */
async function roomOf(ticket) {
  if (ticket.transport.kind !== 'livekit') return null
  const [{ RoomClock, Stay }] = await Promise.all([import('./livekit.js'), import('./livekit-client.umd.js')])
  const stay = new Stay(ticket, {
    Room: globalThis.LivekitClient.Room, video: at('video'), loudspeaker: chosen().loudspeaker, renew: () => invitation.transport(conversation.resumeToken),
  })
  return { stay, clock: new RoomClock() }
}

async function follow(ticket) {
  const room = await roomOf(ticket)
  const talk = conversation = new Conversation(ticket, { audio: await stage.formats, Direct, Socket: room?.stay.Socket, ratingUrl: ratingOf(ticket) })
  let met = false
  transcript.follow(talk)
  stage.follow(talk, room)
  ear.follow(talk)
  consent.follow(talk)
  timer.follow(talk)
  talk.addEventListener('ready', () => {
    met = true
    if (at('pause')) talk.pause(paused) // a page that was loaded again waits no more
    watch?.start()
    memory?.setItem(kept, JSON.stringify({ ...ticket, token: talk.resumeToken }))
    at('composer').hidden = at('end').hidden = at('controls').hidden = false
    if (document.activeElement === document.body) at('message').focus()
  })
  talk.addEventListener('state', ({ detail }) => state(detail.state))
  talk.addEventListener('notice', ({ detail }) => notice(detail))
  talk.addEventListener('pause', ({ detail }) => waits(detail))
  talk.addEventListener('answer-time', ({ detail }) => { // a question with a limit does not wait
    if (at('pause')) at('pause').disabled = !paused && detail.question !== null && detail.limitS !== null
  })
  talk.addEventListener('error', ({ detail }) => detail.fatal || complain(ear.explain(detail.code) || detail.message))
  talk.addEventListener('ended', ({ detail }) => {
    if (!invitation) memory?.removeItem(kept) // else a page that is loaded again says why it is over
    // What was kept is over by now: a new conversation begins in its place.
    if (ticket.again && !met) begin()
    else end(detail)
  })
  talk.connect()
}

function state(name) {
  serverState = name
  // Sound comes ahead of its time: it speaks for as long as it is heard.
  let shown = stage.speaking && (name === 'listening' || name === 'idle') ? 'speaking' : name
  if (ear.hearing && shown === 'listening') shown = 'hearing'
  const text = shown === 'speaking' && stage.speaker ? say('state.speaks', stage.speaker) : say(`state.${shown}`)
  if (at('state').textContent !== text) at('state').textContent = text
  at('talk').dataset.state = shown
  at('talk').dataset.hears = String(ear.hearing)
  stage.state = shown === 'hearing' ? 'listening' : shown
  at('stop').hidden = shown !== 'speaking'
}

/** Whether a candidate has the interview wait. */
let paused = false

/** Shows that the interview waits, or goes on. */
function waits({ on, endsInS }) {
  if (on === paused) return
  paused = on
  at('pause').setAttribute('aria-pressed', String(on))
  at('pause').textContent = say(on ? 'talk.go_on' : 'talk.pause')
  at('composer').hidden = on
  if (on) {
    ear.stop()
    transcript.notice(say('notice.paused', duration(endsInS)))
  } else {
    transcript.notice(say('notice.goes_on'))
    at('message').focus()
  }
}

at('pause')?.addEventListener('click', () => {
  stage.hush()
  conversation.pause(!paused)
})

/** The team members who speak in the avatar's place. */
const instead = new Set()

function notice({ kind, text, name, endsInS, staffId, mode }) {
  if (kind === 'ai_notice') return // it stands above the conversation
  const before = instead.size
  if (staffId) instead[kind !== 'staff_left' && mode === 'takeover' ? 'add' : 'delete'](staffId)
  if (kind === 'staff_mode') {
    if (instead.size && !before) transcript.notice(say('notice.staff_takeover', name))
    else if (!instead.size && before) transcript.notice(say('notice.staff_returned', speakers.avatar))
    return
  }
  transcript.notice(text || say(`notice.${kind}`, name || duration(endsInS)))
}

/** A time in words of the page's language. */
function duration(seconds = 0) {
  const [value, unit] = seconds >= 90 ? [Math.round(seconds / 60), 'minute'] : [seconds, 'second']
  return new Intl.NumberFormat(document.documentElement.lang, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
}

function complain(message) {
  at('wrong').textContent = message
  at('wrong').hidden = !message
}

/** Says why no conversation can begin. */
function refuse(message) {
  complain(message || say('refused.other'))
  if (invitation) at('talk').dataset.refused = ''
  at('why').hidden = true
  over(say('ended.other'), false)
}

function end({ endReason, ratingAllowed }) {
  watch?.stop()
  at('why').hidden = false
  at('thanks').textContent = ''
  over(say(`ended.${endReason}`) || say('ended.other'), ratingAllowed)
}

function over(why, ratingAllowed) {
  state('')
  at('composer').hidden = at('end').hidden = at('controls').hidden = true
  at('rating').hidden = !ratingAllowed
  at('why').textContent = why
  at('over').hidden = false
  at('over').focus({ preventScroll: true })
  // With what stands below it, where a short screen has room for only one.
  at('over').scrollIntoView({ block: 'end' })
}

at('composer').addEventListener('submit', (e) => {
  e.preventDefault()
  const box = at('message')
  if (!box.value.trim()) return
  complain('')
  conversation.say(box.value, writing)
  writing = undefined
  box.value = ''
  fit(box)
  box.focus()
})

at('message').addEventListener('keydown', (e) => {
  if (e.key !== 'Enter' || e.shiftKey || e.isComposing) return
  e.preventDefault()
  at('composer').requestSubmit()
})

/** The question that could be answered when what is in the box was begun; undefined for nothing in it. @type {string | undefined} */
let writing

at('message').addEventListener('input', ({ target }) => {
  fit(target)
  writing = target.value ? writing ?? conversation?.question : undefined
})

/** Lets a box grow with its text, up to what the style sheet allows. */
function fit(box) {
  box.rows = Math.min(6, box.value.split('\n').length + Math.floor(box.value.length / 60))
}

function interrupt() {
  stage.hush()
  conversation.interrupt()
}

at('stop').addEventListener('click', interrupt)
document.addEventListener('keydown', (e) => {
  if (e.key === 'Escape' && !at('stop').hidden) interrupt()
})
at('end').addEventListener('click', () => conversation.end())
at('again')?.addEventListener('click', begin)

at('rating').addEventListener('submit', async (e) => {
  e.preventDefault()
  const score = Number(new FormData(e.target).get('score'))
  try {
    await conversation.rate({ score, scale: 5, comment: at('comment').value.trim() })
    at('rating').hidden = true
    at('thanks').textContent = say('rating.thanks')
  } catch {
    at('thanks').textContent = say('refused.other')
  }
})
