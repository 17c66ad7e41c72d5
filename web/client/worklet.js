// Runs beside the page, on the audio thread: passes on what the microphone hears.

/* global AudioWorkletProcessor, registerProcessor */
registerProcessor('microphone', class extends AudioWorkletProcessor {
  process([[samples]]) {
    if (samples?.length) this.port.postMessage(samples.slice())
    return true
  }
})
