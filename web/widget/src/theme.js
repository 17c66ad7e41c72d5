// The owner's colours as properties of the stylesheet.

const night = { background: '#14171f', text: '#eef0f6' }

/** How light a colour of the form #1a2b3c is, from 0 to 1 (WCAG 2, relative luminance). */
export function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** How well two colours are told apart, from 1 to 21. */
export function contrast(a, b) {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

/** Black or white, whichever is read better on a colour. */
export function on(colour) {
  return contrast('#ffffff', colour) >= contrast('#000000', colour) ? '#ffffff' : '#000000'
}

/** The colours of a theme, by day or by night. Dark colours of its own it keeps by night. */
export function palette(theme, dark) {
  const { background, text } = dark && luminance(theme.background) > 0.2 ? night : theme
  return { accent: theme.accent, 'on-accent': on(theme.accent), background, text }
}

/** Keeps a stylesheet at a theme, as the day goes. */
export function applyTheme(sheet, theme) {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const write = () => {
    const colours = palette(theme, theme.dark === 'on' || (theme.dark === 'auto' && system.matches))
    const properties = { ...colours, radius: `${theme.radius}px`, font: theme.font || 'inherit' }
    const lines = Object.entries(properties).map(([name, value]) => `--${name}: ${value};`)
    sheet.replaceSync(`:host { ${lines.join(' ')} }`)
  }
  write()
  if (theme.dark === 'auto') system.addEventListener('change', write)
}
