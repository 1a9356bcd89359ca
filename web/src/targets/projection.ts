/** From the sphere to a small chart: the tangent plane at the target, north up, east left. */
import type { FieldObject, Target } from '../api/shapes'

export interface Place {
  ra_deg: number
  dec_deg: number
}

const RADIANS = Math.PI / 180
const ARCSEC = 3600 / RADIANS

/** Offsets from a centre in the tangent plane, in arcseconds, east and north; null behind it. */
export function tangent(star: Place, centre: Place): { east: number; north: number } | null {
  const ra = (star.ra_deg - centre.ra_deg) * RADIANS
  const dec = star.dec_deg * RADIANS
  const dec0 = centre.dec_deg * RADIANS
  const depth = Math.sin(dec0) * Math.sin(dec) + Math.cos(dec0) * Math.cos(dec) * Math.cos(ra)
  if (depth <= 0.01) return null
  return {
    east: ((Math.cos(dec) * Math.sin(ra)) / depth) * ARCSEC,
    north: ((Math.cos(dec0) * Math.sin(dec) - Math.sin(dec0) * Math.cos(dec) * Math.cos(ra)) / depth) * ARCSEC,
  }
}

/** Widths of a chart, in arcminutes. */
export const widths = [5, 15, 60] as const
export type Width = (typeof widths)[number]

/** The smallest width, from 15 arcminutes on, that shows the whole error circle. */
export function usualWidth(target: Target): Width {
  return (target.error_arcsec ?? 0) * 4 > 15 * 60 ? 60 : 15
}

/** The radius of the cone that holds the whole square of a chart, in arcminutes. */
export function coneArcmin(width: Width): number {
  return Math.ceil(width * Math.SQRT1_2 * 100) / 100
}

export function widthText(arcmin: number): string {
  if (arcmin >= 60) return `${arcmin / 60}°`
  return arcmin < 1 ? `${arcmin * 60}″` : `${arcmin}′`
}

/** An object on the chart. */
export interface Placed {
  object: FieldObject
  /** Pixels from the upper left corner. */
  x: number
  y: number
  /** From the centre, along a great circle. */
  arcsec: number
  /** Position angle from north to east, in degrees, as seen from the centre. */
  angleDeg: number
}

/** Place what lies inside the square of a chart, in the given order. */
export function place(objects: readonly FieldObject[], centre: Place, width: Width, size: number): Placed[] {
  const half = width * 30
  return objects.flatMap((object) => {
    const offset = tangent(object, centre)
    if (!offset || Math.max(Math.abs(offset.east), Math.abs(offset.north)) > half) return []
    const { east, north } = offset
    return [
      {
        object,
        x: (size / 2) * (1 - east / half),
        y: (size / 2) * (1 - north / half),
        arcsec: Math.atan(Math.hypot(east, north) / ARCSEC) * ARCSEC,
        angleDeg: (Math.atan2(east, north) / RADIANS + 360) % 360,
      },
    ]
  })
}

/** `8.4″`, `4.2′`. */
export function angleText(arcsec: number): string {
  return arcsec < 59.95 ? `${arcsec.toFixed(1)}″` : `${(arcsec / 60).toFixed(1)}′`
}
