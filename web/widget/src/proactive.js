// When the widget speaks up by itself.

/** Whether a path is among patterns, in which * stands for any part. None means every path. */
export function matchesPath(path, patterns) {
  return !patterns.length || patterns.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`).test(path)
  })
}

/** How far a page is scrolled down, in percent. */
function scrolled() {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement
  return scrollHeight <= clientHeight ? 100 : (scrollTop / (scrollHeight - clientHeight)) * 100
}

/** Calls speak once, when the page was read for as long or as far as is said. It answers how to call that off. */
export function whenRead({ afterS, scrollPercent, urls }, speak) {
  let timer = 0
  const stop = () => {
    clearTimeout(timer)
    removeEventListener('scroll', look)
  }
  const once = () => {
    stop()
    speak()
  }
  const look = () => { if (scrolled() >= scrollPercent) once() }
  if (matchesPath(location.pathname, urls)) {
    if (afterS !== null) timer = setTimeout(once, afterS * 1000)
    if (scrollPercent !== null) addEventListener('scroll', look, { passive: true })
  }
  return stop
}
