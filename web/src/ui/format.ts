/** Numbers, times and names as people read them. */
import { locale } from '../words'

/** `800 ms`, `4.2 s`, `42 s`, `3 min 05 s`, `2 h 10 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = ms / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  if (Math.round(seconds) < 60) return `${Math.round(seconds)} s`
  const whole = Math.round(seconds)
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `912`, `6.1k`, `61k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(count)
  if (count < 9_950) return `${(count / 1000).toFixed(1)}k`
  if (count < 999_500) return `${Math.round(count / 1000)}k`
  return `${(count / 1e6).toFixed(1)}M`
}

export function cost(usd: number | null): string {
  if (usd === null) return '–'
  return usd > 0 && usd < 0.01 ? '< $0.01' : `$${usd.toFixed(2)}`
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`
  if (count < 1e6) return `${Math.round(count / 1000)} kB`
  return `${(count / 1e6).toFixed(1)} MB`
}

export function whole(count: number): string {
  return count.toLocaleString(locale())
}

export function since(from: string, to: string | number): number {
  const start = Date.parse(from)
  const end = typeof to === 'number' ? to : Date.parse(to)
  return Number.isNaN(start) || Number.isNaN(end) ? 0 : Math.max(0, end - start)
}

export function clock(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return ''
  return date.toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit' })
}

export function day(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return ''
  return date.toLocaleDateString(locale(), { year: 'numeric', month: 'short', day: 'numeric' })
}

/** `Riess et al. 2024`: who and when, for people. */
export function shortReference(authors: readonly string[], year: number | null, title = ''): string {
  const names = authors.map(lastName)
  const [one = title, two] = names
  const who = names.length > 2 ? `${one} et al.` : two ? `${one} & ${two}` : one
  return year ? `${who} ${year}` : who
}

const particles = new Set(['van', 'von', 'de', 'der', 'den', 'di', 'da', 'del', 'la', 'le', 'ter', 'dos'])

/** The family name, as the server finds it: of `Last, F.`, of `First van Last Jr.`, of a group its whole name. */
export function lastName(name: string): string {
  if (name.includes(',')) return name.slice(0, name.indexOf(',')).trim()
  if (/[\u4e00-\u9fff]/.test(name)) return name.trim()
  const words = name.split(/\s+/).filter((word) => word.replaceAll('.', ''))
  const last = words.at(-1) ?? ''
  if (!last || /^\p{Ll}/u.test(last) || /\b(?:Collaboration|Consortium|Team|Group|Project|Survey)\b/.test(name)) return name
  if (words.length > 1 && /^(?:jr|sr|ii|iii|iv)\.?$/i.test(last)) words.pop()
  let start = words.length - 1
  while (start > 1 && particles.has((words[start - 1] ?? '').toLowerCase())) start--
  return words.slice(start).join(' ')
}

/** Right ascension and declination in sexagesimal, rounded as a whole so that no 60 is ever shown. */
export function sexagesimal(raDeg: number, decDeg: number): { ra: string; dec: string } {
  const two = (count: number) => String(count).padStart(2, '0')
  const raHundredths = Math.round((((raDeg % 360) + 360) % 360) * 240 * 100) % 8_640_000
  const raSeconds = raHundredths / 100
  const ra = `${two(Math.floor(raSeconds / 3600))}h ${two(Math.floor(raSeconds / 60) % 60)}m ${(raSeconds % 60).toFixed(2).padStart(5, '0')}s`
  const decSeconds = Math.round(Math.abs(decDeg) * 36_000) / 10
  const dec = `${decDeg < 0 ? '−' : '+'}${two(Math.floor(decSeconds / 3600))}° ${two(Math.floor(decSeconds / 60) % 60)}′ ${(decSeconds % 60).toFixed(1).padStart(4, '0')}″`
  return { ra, dec }
}

/** Characters that change what others look like are shown by their number, or dropped where they say nothing. */
export function revealed(text: string): string {
  return text
    .replace(/[\u{e0000}-\u{e007f}]/gu, '')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (char) => {
      return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
}
