// When the widget can be talked with. The server decides; this only spares a
// visitor the question.

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** Whether it can be talked with at a moment. Without times of the week it always can. */
export function openAt({ timezone, open }, now) {
  if (!open.length) return true
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: timezone, weekday: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    .formatToParts(now).reduce((all, { type, value }) => ({ ...all, [type]: value }), {})
  const [day, clock] = [parts.weekday.toLowerCase(), `${parts.hour}:${parts.minute}`]
  return open.some((o) => o.day === day && o.from <= clock && clock < o.to)
}

/** The times of the week by day, in a language: [['Monday', '09:00–17:00'], …]. */
export function listed({ open }, language) {
  const name = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' })
  return days.flatMap((day, i) => {
    const times = open.filter((o) => o.day === day).map((o) => `${o.from}–${o.to}`)
    // The first of January 2024 was a Monday.
    return times.length ? [[name.format(new Date(Date.UTC(2024, 0, 1 + i))), times.join(', ')]] : []
  })
}
