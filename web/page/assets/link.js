// Puts the token of a mailed link, which stands behind the "#" so that no server's log
// has it, into the form. A person presses the button: what only looks at the page uses
// nothing up.

/** The doors that mailed links open, by the name before the token. */
const doors = { member: 'members_link', case: 'case', invite: 'candidates' }

const form = document.querySelector('[data-link]')
const given = new URLSearchParams(location.hash.slice(1))
const name = Object.keys(doors).find((it) => given.get(it))

if (name) {
  form.action = form.dataset.link + doors[name]
  form.elements.token.value = given.get(name)
  form.querySelector('[data-once]').hidden = name === 'invite' // which opens until it is over
  form.hidden = false
} else document.querySelector('[data-broken]').hidden = false
