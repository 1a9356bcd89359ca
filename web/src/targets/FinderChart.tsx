/** A small chart of the sky around a target, drawn from catalogue positions: north up, east left. */
import { useEffect, useRef } from 'react'
import type { Target } from '../api/shapes'
import { usePrefs } from '../ui/prefs'
import { useWords } from '../words'
import { chartOf, type ChartStar } from './projection'

interface Given {
  target: Target
  size: number
  /** Other objects with known positions; those in the field are drawn. */
  others?: readonly ChartStar[]
}

const none: readonly ChartStar[] = []

export function FinderChart({ target, size, others = none }: Given) {
  const t = useWords()
  const canvas = useRef<HTMLCanvasElement>(null)
  const { theme } = usePrefs()
  const { ra_deg: ra, dec_deg: dec } = target
  useEffect(() => {
    const node = canvas.current
    const pen = node?.getContext('2d')
    if (!node || !pen || ra === null || dec === null) return
    const scale = window.devicePixelRatio || 1
    node.width = size * scale
    node.height = size * scale
    pen.setTransform(scale, 0, 0, scale, 0, 0)
    draw(pen, size, target, others, getComputedStyle(document.documentElement))
  }, [target, size, others, theme, ra, dec])
  if (ra === null || dec === null) return null
  const { fieldArcmin } = chartOf(target, others, size)
  return (
    <figure className="finder">
      <canvas
        ref={canvas}
        className="finder-canvas"
        width={size}
        height={size}
        role="img"
        aria-label={t('target.chart', { name: target.name, field: fieldArcmin })}
      />
    </figure>
  )
}

function draw(
  pen: CanvasRenderingContext2D,
  size: number,
  target: Target,
  others: readonly ChartStar[],
  style: CSSStyleDeclaration,
): void {
  const color = (name: string) => style.getPropertyValue(name).trim()
  const { fieldArcmin, stars, arcsecPerPixel, barArcsec, barLabel } = chartOf(target, others, size)
  const middle = size / 2
  pen.fillStyle = color('--sunken')
  pen.fillRect(0, 0, size, size)
  pen.strokeStyle = color('--line')
  pen.lineWidth = 1
  for (const part of [0.25, 0.5, 0.75]) {
    line(pen, size * part, 0, size * part, size)
    line(pen, 0, size * part, size, size * part)
  }
  pen.fillStyle = color('--ink')
  pen.font = `11px ${color('--sans')}`
  for (const star of stars) {
    disc(pen, star.x, star.y, 2)
    pen.fillText(star.name, star.x + 5, star.y + 4, size / 2)
  }
  pen.strokeStyle = color('--gold')
  pen.fillStyle = color('--gold')
  pen.lineWidth = 1.5
  const error = Math.max(0, (target.error_arcsec ?? 0) / arcsecPerPixel)
  if (error > 3 && error < middle) ring(pen, middle, middle, error)
  disc(pen, middle, middle, 2.5)
  // Two short strokes point at the target without covering it, as on a paper chart.
  line(pen, middle + 9, middle, middle + 22, middle)
  line(pen, middle, middle - 9, middle, middle - 22)
  motion(pen, target, middle, arcsecPerPixel, color('--accent'))
  pen.strokeStyle = color('--muted')
  pen.fillStyle = color('--muted')
  pen.lineWidth = 1
  line(pen, 12, size - 12, 12 + barArcsec / arcsecPerPixel, size - 12)
  pen.fillText(barLabel, 12, size - 18)
  pen.textAlign = 'right'
  pen.fillText(`${fieldArcmin}′ × ${fieldArcmin}′`, size - 8, size - 12)
  pen.textAlign = 'left'
  pen.fillText('N', middle - 4, 14)
  pen.fillText('E', 6, middle + 4)
}

/** An arrow for a thousand years of proper motion, where there is any to see. */
function motion(pen: CanvasRenderingContext2D, target: Target, middle: number, arcsecPerPixel: number, color: string): void {
  const east = (target.pm?.ra_mas_yr ?? 0) / arcsecPerPixel
  const north = (target.pm?.dec_mas_yr ?? 0) / arcsecPerPixel
  const length = Math.hypot(east, north)
  if (length < 6) return
  const cut = Math.min(1, (middle * 0.8) / length)
  pen.strokeStyle = color
  line(pen, middle, middle, middle - east * cut, middle - north * cut)
}

function line(pen: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  pen.beginPath()
  pen.moveTo(x1, y1)
  pen.lineTo(x2, y2)
  pen.stroke()
}

function ring(pen: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  pen.beginPath()
  pen.arc(x, y, radius, 0, 2 * Math.PI)
  pen.stroke()
}

function disc(pen: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  pen.beginPath()
  pen.arc(x, y, radius, 0, 2 * Math.PI)
  pen.fill()
}
