// Offers the browser's assistant what it may ask of the portal.
import { offer, toolsOf } from './tools.js'

const { agent } = document.querySelector('script[data-agent]').dataset
// The draft moved it from navigator to document; the older trial has the first.
offer(toolsOf(agent), document.modelContext ?? navigator.modelContext)
