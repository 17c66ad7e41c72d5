// The page on which a team member joins a visitor's conversation. The token stands behind the
// "#" of its address, so that no server's log has it, and is taken out of the address at once.
// What visitors and members say is only ever set as text.

import { Conversation } from './live.js'
import { Transcript } from './transcript.js'

const at = (id) => document.getElementById(id)
const page = at('staffing').dataset
const words = JSON.parse(page.words)
const say = (key, value = '') => (words[key] ?? '').replace('%s', () => value)

/** Under this the tab keeps the token for when it is loaded again. */
const kept = `staff:${page.base}`
const memory = (() => {
  try { return sessionStorage } catch { return null }
})()

/** What the token opens. @type {any} */
let ticket = null
/** @type {Conversation | null} */
let conversation = null
/** Who is here besides the visitor and the avatar, by id, with their modes. */
const members = new Map()
let me = '', mode = '', modes = []
/** What the avatar does, and what is known of the visitor. */
let avatar = '', visitorHere = true, visitorSpeaks = false
/** Whether this page has a connection, and whether its member left by themselves. */
let connected = false, left = false

const speakers = { avatar: '', user: say('staff.visitor'), staff: say('talk.staff'), sources: say('talk.sources'), interrupted: say('talk.interrupted') }
const transcript = new Transcript(at('log'), { words: speakers, own: ({ speaker, staffId }) => speaker === 'staff' && staffId === me })

open()

addEventListener('hashchange', () => { if (location.hash.length > 1) location.reload() })

function takeToken() {
  const token = location.hash.slice(1)
  if (!token) return memory?.getItem(kept) ?? ''
  history.replaceState(null, '', location.pathname + location.search)
  return token
}

/** Asks what the token opens, and shows it. */
async function open() {
  const token = takeToken()
  try {
    const answer = await fetch(`${page.base}/ticket`, { method: 'POST', headers: { 'X-Session-Token': token } })
    const body = await answer.json()
    if (!answer.ok) {
      ticket = null
      const attended = body.code === 'staff.attended' // the token lets in once they have left
      if (attended) memory?.setItem(kept, token)
      else memory?.removeItem(kept)
      return over(body.message, attended)
    }
    ticket = body
  } catch {
    return over(say('staff.ended.offline'), true)
  }
  if (ticket.endReason) return over(ended(ticket.endReason), false)
  memory?.setItem(kept, token)
  speakers.avatar = ticket.speaker
  const { name } = ticket.visitor
  document.title = at('heading').textContent = name ? say('staff.with', name) : say('staff.with_visitor')
  facts(ticket.visitor)
  at('as').textContent = say(`staff.as_${ticket.mode}`, ticket.speaker)
  at('back').textContent = say('staff.give_back', ticket.speaker)
  phase('lobby')
  at('join').focus({ preventScroll: true })
}

/** Shows a part of the page. */
function phase(name) {
  page.phase = name
  at('lobby').hidden = name !== 'lobby'
  at('about').hidden = name !== 'lobby' && name !== 'in'
  at('modes').hidden = name !== 'in'
  at('log').hidden = name !== 'in' && !(name === 'over' && at('log').childElementCount)
  at('over').hidden = name !== 'over'
  if (name !== 'in') at('composer').hidden = at('quiet').hidden = true
}

/** Shows who the visitor is, as far as the session says. */
function facts(visitor) {
  const time = (text) => text && new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: 'short' }).format(new Date(text))
  const language = (code) => {
    try { return new Intl.DisplayNames([document.documentElement.lang], { type: 'language' }).of(code) } catch { return code }
  }
  const rows = [
    ['reason', visitor.reason], ['waiting', time(visitor.waitingSince)], ['name', visitor.name], ['email', visitor.email], ['phone', visitor.phone],
    ['company', visitor.company], ['began', time(visitor.beganAt)], ['language', language(visitor.language)],
    ['source', say(`staff.source.${visitor.source}`) || visitor.source], ['external', visitor.externalId],
  ].map(([key, value]) => [say(`staff.fact.${key}`), value])
  for (const { name, value } of visitor.told) rows.push([name, value])
  at('facts').replaceChildren(...rows.filter(([, value]) => value).map(([key, value]) => {
    const row = document.createElement('div')
    for (const [tag, text] of [['dt', key], ['dd', value]]) {
      const cell = document.createElement(tag), words = document.createElement('bdi')
      words.textContent = text
      cell.append(words)
      row.append(cell)
    }
    return row
  }))
}

function follow() {
  left = connected = false
  phase('in')
  complain('')
  const talk = conversation = new Conversation({ ...ticket, token: memory?.getItem(kept) ?? conversation?.resumeToken ?? ticket.token })
  transcript.follow(talk)
  talk.addEventListener('ready', ({ detail }) => {
    memory?.setItem(kept, talk.resumeToken)
    connected = true
    me = detail.staffId
    members.clear()
    for (const { staffId, name, mode } of detail.staff) members.set(staffId, { name, mode })
    modes = detail.modes
    avatar = detail.state
    visitorHere = detail.visitor
    visitorSpeaks = false
    become(detail.mode)
    if (document.activeElement === document.body || document.activeElement === at('join')) (at('composer').hidden ? at('log') : at('message')).focus()
  })
  talk.addEventListener('state', ({ detail }) => {
    if (detail.state === 'connecting' || detail.state === 'reconnecting') {
      connected = false
      at('state').textContent = say(`staff.${detail.state}`)
      return
    }
    avatar = detail.state
    state()
  })
  for (const [type, yes] of [['user-started-speaking', true], ['user-stopped-speaking', false]]) {
    talk.addEventListener(type, () => { visitorSpeaks = yes; state() })
  }
  talk.addEventListener('turn', ({ detail }) => {
    if (detail.speaker !== 'user') return
    visitorSpeaks = !detail.final
    state()
  })
  talk.addEventListener('notice', ({ detail }) => notice(detail))
  talk.addEventListener('error', ({ detail }) => detail.fatal || complain(say(`staff.error.${detail.code}`) || say('refused.other')))
  talk.addEventListener('ended', ({ detail }) => {
    if (talk !== conversation) return
    if (detail.endReason === 'bad_token' && !me) return open() // it opened the session a moment ago: the page says why not now
    // A connection of our own was lost; where the visitor's was, the server said so.
    const ours = detail.endReason === 'connection_lost' && !connected
    const again = left || ours || detail.endReason === 'superseded'
    over(left ? say('staff.ended.own') : ours ? say('staff.ended.offline') : ended(detail.endReason), again)
    if (!again) memory?.removeItem(kept)
  })
  talk.connect()
}

const ended = (reason) => say(`staff.ended.${reason}`) || say(`ended.${reason}`) || say('ended.other')

/** Says what is going on. */
function state() {
  if (!connected) return
  const visitor = !visitorHere ? 'away' : visitorSpeaks ? 'speaking' : 'here'
  const text = `${say(`staff.visitor_${visitor}`)} ${say(`staff.avatar_${avatar || 'idle'}`, speakers.avatar)}`
  if (at('state').textContent !== text) at('state').textContent = text
  page.visitor = visitor
}

/** Shows the mode that this member is in. */
function become(name) {
  mode = name
  const others = [...members.values()]
  for (const button of document.querySelectorAll('[data-mode]')) {
    button.hidden = !modes.includes(button.dataset.mode)
    button.setAttribute('aria-pressed', String(button.dataset.mode === mode))
  }
  const by = others.find((m) => m.mode === 'takeover')
  at('now').textContent = mode !== 'takeover' && by ? say('staff.now_other', by.name) : say(`staff.now_${mode}`, speakers.avatar)
  at('back').hidden = mode !== 'takeover'
  at('composer').hidden = mode === 'listen'
  at('quiet').hidden = mode !== 'listen'
  at('others').hidden = !others.length
  at('others').textContent = say('staff.others', new Intl.ListFormat(document.documentElement.lang).format(others.map((m) => m.name)))
  state()
}

function notice({ kind, staffId, name, mode: as, endsInS }) {
  if (kind === 'visitor_away' || kind === 'visitor_here') {
    visitorHere = kind === 'visitor_here'
    visitorSpeaks = false
    state()
    return
  }
  if (staffId) {
    if (staffId === me) {
      if (kind === 'staff_mode') become(as)
      return
    }
    if (kind === 'staff_left') members.delete(staffId)
    else members.set(staffId, { name, mode: as })
    become(mode)
    if (kind === 'staff_mode') return
  }
  if (kind === 'ai_notice') return
  transcript.notice(say(kind === 'idle_warning' ? 'staff.idle_warning' : `notice.${kind}`, name || duration(endsInS)))
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

/** Says why it is over here. */
function over(why, again) {
  at('state').textContent = ''
  at('why').textContent = why
  at('again').hidden = !again
  complain('')
  phase('over')
  at('log').scrollTop = at('log').scrollHeight
  at('over').focus({ preventScroll: true })
  at('over').scrollIntoView({ block: 'nearest' })
}

at('join').addEventListener('click', follow)
at('again').addEventListener('click', () => ticket ? follow() : open())
at('leave').addEventListener('click', () => {
  left = true
  conversation.leave()
})
const wish = (name) => { if (name !== mode && !conversation.mode(name)) complain(say('staff.error.offline')) }
for (const button of document.querySelectorAll('[data-mode]')) button.addEventListener('click', () => { complain(''); wish(button.dataset.mode) })
at('back').addEventListener('click', () => {
  complain('')
  wish('speak')
  at('message').focus()
})

at('composer').addEventListener('submit', (e) => {
  e.preventDefault()
  const box = at('message')
  if (!box.value.trim()) return
  complain('')
  conversation.say(box.value)
  box.value = ''
  fit(box)
  box.focus()
})

at('message').addEventListener('keydown', (e) => {
  if (e.key !== 'Enter' || e.shiftKey || e.isComposing) return
  e.preventDefault()
  at('composer').requestSubmit()
})

at('message').addEventListener('input', ({ target }) => fit(target))

/** Lets a box grow with its text, up to what the style sheet allows. */
function fit(box) {
  box.rows = Math.min(6, box.value.split('\n').length + Math.floor(box.value.length / 60))
}
