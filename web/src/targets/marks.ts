/** What a chart shows of each object: how large a star is, which names are written, and where. */
import type { Target } from '../api/shapes'
import type { Placed } from './projection'

export interface Brightness {
  bright: number
  faint: number
  /** Of the faintest. */
  band: string
}

/**
 * The magnitudes of the brightest star and of the faintest; null where none is known. Where Gaia's stars are
 * there the faintest is one of them: they are all there down to it, while SIMBAD's are chosen by their papers.
 */
export function brightness(placed: readonly Placed[]): Brightness | null {
  const known = placed.flatMap(({ object: { is_star: isStar, magnitude, band, catalogue } }) =>
    isStar && magnitude !== null ? [{ magnitude, band, catalogue }] : [],
  )
  known.sort((a, b) => a.magnitude - b.magnitude)
  const [first, last] = [known[0], known.findLast((one) => one.catalogue === 'Gaia DR3') ?? known.at(-1)]
  return first && last ? { bright: first.magnitude, faint: last.magnitude, band: last.band } : null
}

const SMALLEST = 0.7
/** A field whose stars are all alike is drawn as if they spanned so much. */
const LEAST_SPAN = 5

/** The radius of a star's disc in pixels: its area grows evenly with brightness in magnitudes. */
export function discRadius(magnitude: number, { bright, faint }: Brightness, size: number): number {
  const largest = size / 60
  const part = Math.min(1, Math.max(0, (faint - magnitude) / Math.max(LEAST_SPAN, faint - bright)))
  return Math.sqrt(SMALLEST ** 2 + part * (largest ** 2 - SMALLEST ** 2))
}

/** Up to four whole magnitudes that tell what the discs mean, the brightest first. */
export function magnitudeSteps({ bright, faint }: Brightness): number[] {
  const first = Math.ceil(bright)
  const last = Math.floor(faint)
  const step = Math.max(1, Math.ceil((last - first) / 3))
  return Array.from({ length: 4 }, (_, place) => last - place * step).filter((magnitude) => magnitude >= first).reverse()
}

/** Half the major and the minor axis in pixels, and the canvas's angle of the major one; null: too small or unknown. */
export function ellipse({ object }: Placed, arcsecPerPixel: number): { major: number; minor: number; rotation: number } | null {
  const { major_arcmin: major, minor_arcmin: minor, angle_deg: angle } = object
  const half = ((major ?? 0) * 30) / arcsecPerPixel
  if (half < 4) return null
  const known = minor !== null && angle !== null
  return { major: half, minor: known ? Math.max(1.5, (minor * 30) / arcsecPerPixel) : half, rotation: Math.PI / 2 - ((angle ?? 0) * Math.PI) / 180 }
}

/** How far a mark goes to the side and up, in pixels: of an ellipse, or of a disc or ring of this radius. */
export function reach(one: Placed, arcsecPerPixel: number, radius: number): { x: number; y: number } {
  const shape = one.object.is_star ? null : ellipse(one, arcsecPerPixel)
  if (!shape) return { x: radius, y: radius }
  const [cos, sin] = [Math.cos(shape.rotation), Math.sin(shape.rotation)]
  return { x: Math.hypot(shape.major * cos, shape.minor * sin), y: Math.hypot(shape.major * sin, shape.minor * cos) }
}

export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

export interface Label {
  text: string
  x: number
  y: number
}

const HEIGHT = 12
const LONGEST = 18
/** A name that is made of a place in the sky says nothing that the chart does not show. */
const COORDINATES = /J\d{6}/

/** SIMBAD's name as one would write it beside a mark: without the prefix that says what kind of name it is. */
export function shortName(name: string): string {
  return name.replace(/^(?:NAME|V\*|\*{1,2}|Cl\*?|EM\*) +/, '')
}

interface Room {
  size: number
  most: number
  /** What no name may cover, and what names cover only where there is no other place. */
  taken: readonly Box[]
  spared: readonly Box[]
  widthOf: (text: string) => number
  /** How far an object's mark goes to the side and up, in pixels. */
  reachOf: (one: Placed) => { x: number; y: number }
}

/** Write names, the first objects' first, where they cover neither each other nor what must be seen. */
export function labels(placed: readonly Placed[], { size, most, taken, spared, widthOf, reachOf }: Room): Label[] {
  const boxes = [...taken]
  const found: Label[] = []
  for (const one of placed) {
    if (found.length >= most) break
    const text = shortName(one.object.name)
    if (one.object.catalogue === 'Gaia DR3' || text.length > LONGEST || COORDINATES.test(text)) continue
    const wide = widthOf(text)
    const reach = reachOf(one)
    const corners = [
      { x: one.x + reach.x + 3, y: one.y + HEIGHT / 3 },
      { x: one.x - reach.x - 3 - wide, y: one.y + HEIGHT / 3 },
      { x: one.x - wide / 2, y: one.y - reach.y - 3 },
      { x: one.x - wide / 2, y: one.y + reach.y + HEIGHT },
    ]
    const boxOf = ({ x, y }: { x: number; y: number }) => ({ left: x - 2, top: y - HEIGHT, right: x + wide + 2, bottom: y + 3 })
    const free = corners.filter((corner) => {
      const box = boxOf(corner)
      return box.left >= 0 && box.top >= 0 && box.right <= size && box.bottom <= size && !boxes.some((other) => overlap(box, other))
    })
    const covered = (corner: { x: number; y: number }) => spared.filter((other) => overlap(boxOf(corner), other)).length
    const spot = free.sort((a, b) => covered(a) - covered(b))[0]
    if (!spot) continue
    boxes.push(boxOf(spot))
    found.push({ text, ...spot })
  }
  return found
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

/** Where a target gets to in `years`, in pixels: the longest of some round times that stays on the chart. */
export function motion(target: Target, arcsecPerPixel: number, size: number): { x: number; y: number; years: number } | null {
  const { ra_mas_yr: ra, dec_mas_yr: dec } = target.pm ?? { ra_mas_yr: null, dec_mas_yr: null }
  if (ra === null || dec === null) return null
  const perYear = Math.hypot(ra, dec) / 1000 / arcsecPerPixel
  const years = [1000, 100, 10].find((one) => perYear * one <= size * 0.4)
  if (!years || perYear * years < 8) return null
  return { x: -(ra / 1000 / arcsecPerPixel) * years, y: -(dec / 1000 / arcsecPerPixel) * years, years }
}

/** The object under a point, or the nearest within a finger's or a pointer's reach. */
export function under(placed: readonly Placed[], x: number, y: number, radiusOf: (one: Placed) => number): Placed | null {
  let found: Placed | null = null
  let nearest = Infinity
  for (const one of placed) {
    const away = Math.hypot(one.x - x, one.y - y) - radiusOf(one)
    if (away < 6 && away < nearest) {
      found = one
      nearest = away
    }
  }
  return found
}
