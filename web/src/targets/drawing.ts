/** Draws a finder chart on a canvas, as on paper: stars as discs, other objects as rings, few names. */
import type { Target } from '../api/shapes'
import { type Box, brightness, type Brightness, discRadius, ellipse, labels, motion, reach } from './marks'
import { type Placed, type Width, widthText } from './projection'

export interface Chart {
  target: Target
  width: Width
  /** Of the square, in CSS pixels. */
  size: number
  placed: readonly Placed[]
  picked: Placed | null
}

const RING = 3.5
/** Pixels around the middle that belong to the mark of the target. */
const TARGET = { gap: 9, end: 24 }

/** How far an object's mark reaches, in pixels. */
export function radius(one: Placed, range: Brightness | null, size: number): number {
  const { is_star: isStar, magnitude } = one.object
  return isStar && magnitude !== null && range ? discRadius(magnitude, range, size) : RING
}

export function draw(pen: CanvasRenderingContext2D, chart: Chart, color: (name: string) => string): void {
  const { target, width, size, placed, picked } = chart
  const arcsecPerPixel = (width * 60) / size
  const middle = size / 2
  const range = brightness(placed)
  const radiusOf = (one: Placed) => radius(one, range, size)
  pen.fillStyle = color('--sunken')
  pen.fillRect(0, 0, size, size)
  pen.lineWidth = 1
  pen.strokeStyle = color('--accent')
  for (const one of placed) if (!one.object.is_star) outline(pen, one, arcsecPerPixel)
  // The faint ones first: a bright star does not hide what lies on it. A thin edge keeps neighbours apart.
  const stars = placed.filter((one) => one.object.is_star)
  pen.fillStyle = color('--ink')
  for (const one of [...stars].sort((a, b) => (b.object.magnitude ?? 99) - (a.object.magnitude ?? 99))) {
    if (one.object.magnitude === null) {
      pen.strokeStyle = color('--muted')
      ring(pen, one.x, one.y, RING - 1)
      continue
    }
    pen.strokeStyle = color('--sunken')
    disc(pen, one.x, one.y, radiusOf(one))
    if (radiusOf(one) > 1.5) ring(pen, one.x, one.y, radiusOf(one) + 0.5)
  }
  pen.font = `11px ${color('--sans')}`
  writeNames(pen, chart, arcsecPerPixel, range, color)
  markTarget(pen, target, middle, arcsecPerPixel, color)
  if (picked) {
    pen.strokeStyle = color('--accent')
    pen.lineWidth = 2
    ring(pen, picked.x, picked.y, radiusOf(picked) + 4)
  }
  frame(pen, width, size, arcsecPerPixel, color)
}

function outline(pen: CanvasRenderingContext2D, one: Placed, arcsecPerPixel: number): void {
  const shape = ellipse(one, arcsecPerPixel)
  if (!shape) {
    ring(pen, one.x, one.y, RING)
    return
  }
  pen.beginPath()
  pen.ellipse(one.x, one.y, shape.major, shape.minor, shape.rotation, 0, 2 * Math.PI)
  pen.stroke()
}

function writeNames(pen: CanvasRenderingContext2D, { size, placed }: Chart, arcsecPerPixel: number, range: Brightness | null, color: (name: string) => string): void {
  const middle = size / 2
  const radiusOf = (one: Placed) => radius(one, range, size)
  const taken: Box[] = [
    square(middle, middle, TARGET.end),
    { left: 0, top: size - 36, right: size * 0.3, bottom: size },
    square(middle, 10, 12),
    square(10, middle, 12),
  ]
  // A name close to another object's ring would be read as that one's.
  const spared = placed.filter((one) => radiusOf(one) > 1.5).map((one) => square(one.x, one.y, radiusOf(one) + (one.object.is_star ? 0 : 5)))
  const elsewhere = placed.filter((one) => Math.hypot(one.x - middle, one.y - middle) > 4)
  const widthOf = (text: string) => pen.measureText(text).width
  const reachOf = (one: Placed) => reach(one, arcsecPerPixel, radiusOf(one))
  const names = labels(elsewhere, { size, most: Math.floor(size / 55), taken, spared, widthOf, reachOf })
  pen.lineJoin = 'round'
  for (const { text, x, y } of names) written(pen, text, x, y, color('--ink'), color)
}

/** Two strokes that point at the target without covering it, its error circle, and where it moves. */
function markTarget(pen: CanvasRenderingContext2D, target: Target, middle: number, arcsecPerPixel: number, color: (name: string) => string): void {
  pen.strokeStyle = color('--gold')
  pen.lineWidth = 2
  line(pen, middle + TARGET.gap, middle, middle + TARGET.end, middle)
  line(pen, middle, middle - TARGET.gap, middle, middle - TARGET.end)
  pen.lineWidth = 1.5
  const error = (target.error_arcsec ?? 0) / arcsecPerPixel
  if (error > 3 && error < middle) ring(pen, middle, middle, error)
  const moved = motion(target, arcsecPerPixel, middle * 2)
  if (!moved) return
  pen.strokeStyle = color('--accent')
  const along = Math.atan2(moved.y, moved.x)
  pen.beginPath()
  pen.moveTo(middle, middle)
  pen.lineTo(middle + moved.x, middle + moved.y)
  for (const side of [-0.45, 0.45]) {
    pen.moveTo(middle + moved.x, middle + moved.y)
    pen.lineTo(middle + moved.x - 7 * Math.cos(along + side), middle + moved.y - 7 * Math.sin(along + side))
  }
  pen.stroke()
}

function frame(pen: CanvasRenderingContext2D, width: Width, size: number, arcsecPerPixel: number, color: (name: string) => string): void {
  const middle = size / 2
  const bar = width / 5
  pen.strokeStyle = color('--muted')
  pen.lineWidth = 1.5
  const end = 12 + (bar * 60) / arcsecPerPixel
  line(pen, 12, size - 12, end, size - 12)
  line(pen, 12, size - 15, 12, size - 9)
  line(pen, end, size - 15, end, size - 9)
  written(pen, widthText(bar), 12, size - 19, color('--muted'), color)
  written(pen, 'N', middle - 4, 14, color('--ink'), color)
  written(pen, 'E', 6, middle + 4, color('--ink'), color)
}

/** Text with an edge of the ground's colour, so that it can be read over stars. */
function written(pen: CanvasRenderingContext2D, text: string, x: number, y: number, ink: string, color: (name: string) => string): void {
  pen.strokeStyle = color('--sunken')
  pen.lineWidth = 3
  pen.strokeText(text, x, y)
  pen.fillStyle = ink
  pen.fillText(text, x, y)
}

function square(x: number, y: number, half: number): Box {
  return { left: x - half, top: y - half, right: x + half, bottom: y + half }
}

function line(pen: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  pen.beginPath()
  pen.moveTo(x1, y1)
  pen.lineTo(x2, y2)
  pen.stroke()
}

function ring(pen: CanvasRenderingContext2D, x: number, y: number, r: number): void {
  pen.beginPath()
  pen.arc(x, y, r, 0, 2 * Math.PI)
  pen.stroke()
}

function disc(pen: CanvasRenderingContext2D, x: number, y: number, r: number): void {
  pen.beginPath()
  pen.arc(x, y, r, 0, 2 * Math.PI)
  pen.fill()
}
