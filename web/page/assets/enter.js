// Opens the portal with the token of a link, which stands behind the "#" so that no
// server's log has it: the script hands it over and takes it out of the address.

/** The doors that links open, by the name before the token. */
const doors = { embed: 'embed', customer: 'customers', case: 'case', escalation: 'escalation', invite: 'candidates' }

const place = document.querySelector('[data-enter]')
const given = new URLSearchParams(location.hash.slice(1))

const name = Object.keys(doors).find((it) => given.get(it))
if (name) open(place.dataset.enter + doors[name], given.get(name))
else if (place.dataset.home) location.replace(place.dataset.home)

function open(action, token) {
  history.replaceState(null, '', location.pathname + location.search)
  const form = document.createElement('form')
  form.method = 'post'
  form.action = action
  form.hidden = true
  for (const [name, value] of [['token', token], ['subject', new URLSearchParams(location.search).get('subject')]]) {
    if (!value) continue
    const input = document.createElement('input')
    input.type = 'hidden'
    input.name = name
    input.value = value
    form.append(input)
  }
  document.body.append(form)
  form.submit()
}
