// Elements, made without markup: what a page's policy forbids, and what data
// could break out of, is never used.

/**
 * Makes an element. Of its properties, on… are listeners, those that the element
 * has are set, and others are attributes; null and false leave one out.
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else if (key in element && !key.includes('-') && key !== 'role' && key !== 'list') element[key] = value
    else element.setAttribute(key, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

const paths = {
  chat: 'M4 5.5A2.5 2.5 0 0 1 6.5 3h11A2.5 2.5 0 0 1 20 5.5v8a2.5 2.5 0 0 1-2.5 2.5H11l-4.3 3.9A1 1 0 0 1 5 19.2V16A2.5 2.5 0 0 1 4 13.5z',
  close: 'M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6 10.6 12 5 6.4z',
  down: 'M5.4 8 12 14.6 18.6 8 20 9.4l-8 8-8-8z',
  send: 'M3.4 20.4 22 12 3.4 3.6 3.4 10.2 15 12 3.4 13.8z',
  star: 'M12 2.6l2.9 6 6.6.9-4.8 4.6 1.2 6.5L12 17.5l-5.9 3.1 1.2-6.5L2.5 9.5l6.6-.9z',
  up: 'M2 10h4v11H2zm20 1.2c0-1.1-.9-2-2-2h-5.6l.9-4.3.1-.3c0-.4-.2-.8-.4-1.1L13.9 2.5 7.6 8.8c-.4.4-.6.9-.6 1.4V19c0 1.1.9 2 2 2h8.2c.8 0 1.5-.5 1.8-1.2l2.8-6.6c.1-.2.2-.5.2-.7z',
  captions: 'M5.5 5h13A2.5 2.5 0 0 1 21 7.5v9a2.5 2.5 0 0 1-2.5 2.5h-13A2.5 2.5 0 0 1 3 16.5v-9A2.5 2.5 0 0 1 5.5 5zm.5 5v2h5v-2zm7 0v2h5v-2zm-7 4v2h8v-2zm10 0v2h2v-2z',
  sound: 'M4 9v6h4l5 4V5L8 9zm11.5-1.2v8.4a4.6 4.6 0 0 0 0-8.4zm0-4v2.1a6.6 6.6 0 0 1 0 12.2v2.1a8.6 8.6 0 0 0 0-16.4z',
  mic: 'M12 2a3.5 3.5 0 0 0-3.5 3.5v6a3.5 3.5 0 0 0 7 0v-6A3.5 3.5 0 0 0 12 2zM5 11h2a5 5 0 0 0 10 0h2a7 7 0 0 1-6 6.9V22h-2v-4.1A7 7 0 0 1 5 11z',
  info: 'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1 15h-2v-6h2zm0-8h-2V7h2z',
}

/** A picture that says nothing beyond the words beside it. */
export function icon(name, classes = '') {
  const space = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(space, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  svg.setAttribute('class', `icon ${classes}`.trim())
  const path = document.createElementNS(space, 'path')
  path.setAttribute('d', paths[name])
  svg.append(path)
  return svg
}

/** The persona's face, or its first letter where there is no picture to be had. */
export function portrait(persona, classes = '') {
  const letter = h('span', { className: 'letter', 'aria-hidden': 'true' }, [...persona.name][0] ?? '')
  const frame = h('span', { className: `portrait ${classes}`.trim() }, letter)
  if (persona.pictureUrl) {
    const picture = h('img', { alt: '', decoding: 'async', onload: () => letter.remove(), onerror: () => picture.remove() })
    picture.src = persona.pictureUrl
    frame.append(picture)
  }
  return frame
}
