// What of the reference needs a script: the language of the samples, copying,
// the search, and the menu of small screens. The pages can be read without.

const root = document.documentElement
root.classList.remove('plain')

/** What the reader chose before, where the browser keeps such things. */
function remembered() {
  try {
    return localStorage.getItem('visavis-language')
  } catch {
    return null
  }
}

function remember(language) {
  try {
    localStorage.setItem('visavis-language', language)
  } catch {
    // It is chosen for this page alone.
  }
}

/** Shows the samples of a language, of every operation. */
function choose(language) {
  root.dataset.language = language
  for (const button of document.querySelectorAll('[data-to]')) button.setAttribute('aria-pressed', String(button.dataset.to === language))
}

choose(['curl', 'go', 'typescript', 'python'].includes(remembered()) ? remembered() : 'curl')
for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('button')
  if (button?.dataset.to) {
    // What is read stays where it is while samples above it change their height.
    const before = button.getBoundingClientRect().top
    choose(button.dataset.to)
    remember(button.dataset.to)
    scrollBy({ top: button.getBoundingClientRect().top - before })
  }
  if (button?.classList.contains('copy')) {
    const sample = [...button.closest('.samples').querySelectorAll('pre')].find((pre) => pre.offsetParent)
    await navigator.clipboard.writeText(sample.textContent)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 1500)
  }
  // The other contract's page opens at the same place.
  const link = target.closest('.contracts a')
  if (link) link.hash = location.hash
})

/** Opens what a link leads to. */
function unfold() {
  const place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (place) for (const details of place.classList.contains('object') ? place.querySelectorAll(':scope > details') : []) details.open = true
}
addEventListener('hashchange', unfold)
unfold()

const menu = document.querySelector('.menu')
const nav = document.getElementById('nav')
function show(shown) {
  nav.classList.toggle('shown', shown)
  menu.setAttribute('aria-expanded', String(shown))
}
menu.addEventListener('click', (event) => {
  event.preventDefault()
  show(!nav.classList.contains('shown'))
  scrollTo({ top: 0 })
})
nav.addEventListener('click', ({ target }) => target.closest('a') && show(false))

const dialog = document.querySelector('.search')
const input = dialog.querySelector('input')
const list = dialog.querySelector('ul')
const told = dialog.querySelector('[role="status"]')
const most = 30
let index
let selected = 0

/** Everything that can be found; asked for until it is had. */
function load() {
  index ??= fetch(`${document.body.dataset.base}/search.json`).then((answer) => {
    if (!answer.ok) throw new Error(`search.json: ${answer.status}`)
    return answer.json()
  }).catch((error) => {
    index = undefined
    throw error
  })
  return index
}

/** How well something fits the words that are looked for; 0 for not at all. */
function score(hit, words) {
  let sum = 0
  for (const word of words) {
    const places = [hit.title, hit.text, hit.words, hit.group]
    const at = places.findIndex((place) => place.toLowerCase().includes(word))
    if (at < 0) return 0
    sum += 8 >> at
  }
  return sum
}

async function search() {
  const text = input.value
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  let all
  try {
    all = await load()
  } catch {
    told.textContent = 'The search could not be loaded. Type on to try again.'
    return
  }
  if (input.value !== text) return
  const found = all.map((hit) => [score(hit, words), hit]).filter(([s]) => s > 0 && words.length)
  found.sort(([a], [b]) => b - a)
  list.replaceChildren(...found.slice(0, most).map(([, hit], i) => {
    const item = document.createElement('li')
    const title = document.createElement('code')
    const what = document.createElement('p')
    item.id = `hit-${i}`
    item.setAttribute('role', 'option')
    item.dataset.url = hit.url
    title.textContent = hit.title
    what.className = 'soft'
    what.textContent = hit.text
    item.append(title, what)
    return item
  }))
  told.textContent = !words.length ? '' : found.length ? `${found.length} found` : 'Nothing found.'
  select(0)
}

function select(i) {
  const items = [...list.children]
  selected = Math.max(0, Math.min(i, items.length - 1))
  items.forEach((item, n) => item.setAttribute('aria-selected', String(n === selected)))
  input.setAttribute('aria-activedescendant', items.length ? items[selected].id : '')
  items[selected]?.scrollIntoView({ block: 'nearest' })
}

function open() {
  if (dialog.open) return
  dialog.showModal()
  input.select()
  search()
}

function go(item) {
  if (!item) return
  dialog.close()
  location.assign(item.dataset.url)
}

document.querySelector('.find').addEventListener('click', open)
input.addEventListener('input', search)
input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') select(selected + 1)
  else if (event.key === 'ArrowUp') select(selected - 1)
  else if (event.key === 'Enter') go(list.children[selected])
  else if (event.key === 'Escape') dialog.close() // which a search field takes for its own clearing
  else return
  event.preventDefault()
})
list.addEventListener('click', ({ target }) => go(target.closest('li')))
dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
document.addEventListener('keydown', (event) => {
  const writes = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
  if (event.key === '/' && !writes || event.key === 'k' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    open()
  }
})
