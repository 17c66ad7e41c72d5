// A candidate's page: they check microphone and sound before the interview, as early as they like.

import { offerCheck } from './check.js'

const place = document.getElementById('checks')
const wrong = document.getElementById('check-wrong')
offerCheck(document.getElementById('check'), { base: place.dataset.base, onfailed: (yes) => { wrong.hidden = !yes } })
place.hidden = false
