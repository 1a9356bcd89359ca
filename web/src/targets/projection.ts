/** From the sphere to a small chart: the tangent plane at the target. */
import type { Target } from '../api/shapes'

export interface ChartStar {
  name: string
  ra_deg: number
  dec_deg: number
}

const RADIANS = Math.PI / 180
const ARCSEC = 3600 / RADIANS

/** Offsets from a centre in the tangent plane, in arcseconds, east and north; null behind it. */
export function tangent(star: { ra_deg: number; dec_deg: number }, raDeg: number, decDeg: number): { east: number; north: number } | null {
  const ra = (star.ra_deg - raDeg) * RADIANS
  const dec = star.dec_deg * RADIANS
  const dec0 = decDeg * RADIANS
  const depth = Math.sin(dec0) * Math.sin(dec) + Math.cos(dec0) * Math.cos(dec) * Math.cos(ra)
  if (depth <= 0.01) return null
  return {
    east: ((Math.cos(dec) * Math.sin(ra)) / depth) * ARCSEC,
    north: ((Math.cos(dec0) * Math.sin(dec) - Math.sin(dec0) * Math.cos(dec) * Math.cos(ra)) / depth) * ARCSEC,
  }
}

const fields = [2, 5, 10, 30, 60, 180, 600]

export interface Chart {
  fieldArcmin: number
  arcsecPerPixel: number
  stars: { name: string; x: number; y: number }[]
  barArcsec: number
  barLabel: string
}

/** Choose the smallest field that holds the error circle and the nearest other object. */
export function chartOf(target: Target, others: readonly ChartStar[], size: number): Chart {
  const ra = target.ra_deg ?? 0
  const dec = target.dec_deg ?? 0
  const placed = others.flatMap((star) => {
    const offset = tangent(star, ra, dec)
    return offset && Math.hypot(offset.east, offset.north) > 0.5 ? [{ name: star.name, ...offset }] : []
  })
  const nearest = Math.min(...placed.map((star) => Math.max(Math.abs(star.east), Math.abs(star.north))), Infinity)
  const needed = Math.max((target.error_arcsec ?? 0) * 4, nearest < 18_000 ? nearest * 2.6 : 0, 600)
  const fieldArcmin = fields.find((field) => field * 60 >= needed) ?? 600
  const arcsecPerPixel = (fieldArcmin * 60) / size
  const inside = placed.filter((star) => Math.max(Math.abs(star.east), Math.abs(star.north)) < fieldArcmin * 30)
  const barArcmin = fieldArcmin / 5
  return {
    fieldArcmin,
    arcsecPerPixel,
    stars: inside.map((star) => ({
      name: star.name,
      x: size / 2 - star.east / arcsecPerPixel,
      y: size / 2 - star.north / arcsecPerPixel,
    })),
    barArcsec: barArcmin * 60,
    barLabel: barArcmin >= 60 ? `${barArcmin / 60}°` : `${barArcmin}′`,
  }
}
