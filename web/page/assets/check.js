// Offers on a page to check microphone and sound before a conversation. What the check is made
// of is loaded once somebody wants it.

/**
 * Has a button open the check in a dialog.
 * @param {HTMLButtonElement} button which is shown from now on
 * @param {{base: string, headers?: Record<string, string>, onvolume?: (value: number) => void, onfailed: (yes: boolean) => void}} options
 *   base is what the page's addresses begin with, and headers what the server must be told of the session, which it keeps meanwhile; onfailed is told whether it could not be loaded
 * @returns {() => Promise<void>} opens it, and resolves once it is closed
 */
export function offerCheck(button, { base, headers, onvolume, onfailed }) {
  let opening = null
  const open = () => opening ??= show({ base, headers, onvolume }).then(() => onfailed(false), () => onfailed(true)).finally(() => {
    opening = null
    button.focus({ preventScroll: true })
  })
  button.addEventListener('click', open)
  button.hidden = false
  return open
}

async function show({ base, headers, onvolume }) {
  const dialog = document.body.appendChild(document.createElement('dialog'))
  dialog.className = 'check-dialog'
  const closed = new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }))
  let check = null
  try {
    const [{ SoundCheck }, answer] = await Promise.all([import('./soundcheck.js'), fetch(`${base}/check?${new URLSearchParams({ lang: document.documentElement.lang })}`, { method: headers ? 'POST' : 'GET', headers })])
    const told = await answer.json()
    if (!answer.ok) throw new Error(told.message)
    const { hears, words } = told
    check = new SoundCheck({ say: (key) => words[key] ?? '', hears, classes: { main: 'button', other: 'quiet' }, ondone: () => dialog.close(), onvolume })
    dialog.setAttribute('aria-labelledby', 'check-title')
    dialog.append(check.element)
    dialog.showModal()
    check.begin()
    check.first.focus()
    await closed
  } finally {
    check?.close()
    dialog.remove()
  }
}
