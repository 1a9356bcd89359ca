/** One small plot over time: drawn by hand, for a plotting library would weigh more than the page. */
import { day } from '../ui/format'

export interface Series {
  name: string
  points: readonly { time: number; value: number }[]
  color: string
  dash: string
}

const WIDTH = 248
const HEIGHT = 110
const LEFT = 42
const BOTTOM = 20
const TOP = 8

/** The next of 1, 2, 5 times a power of ten: an axis that ends on a number one can read. */
export function roundUp(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return (([1, 2, 5, 10].find((step) => step * power >= value * 0.9999) ?? 10) * power)
}

export function TimePlot({ title, series, format }: { title: string; series: readonly Series[]; format: (value: number) => string }) {
  const all = series.flatMap((one) => one.points)
  const times = all.map((point) => point.time)
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const top = roundUp(Math.max(...all.map((point) => point.value), 0))
  const x = (time: number) => LEFT + ((time - first) / Math.max(1, last - first)) * (WIDTH - LEFT - 8)
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM)
  return (
    <figure className="plot card">
      <figcaption className="tiny">{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}: 0 – ${format(top)}, ${day(new Date(first).toISOString())} – ${day(new Date(last).toISOString())}`}>
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line x1={LEFT} x2={WIDTH - 8} y1={y(value)} y2={y(value)} stroke="var(--line)" />
            <text x={LEFT - 6} y={y(value) + 3.5} textAnchor="end">
              {format(value)}
            </text>
          </g>
        ))}
        <text x={LEFT} y={HEIGHT - 4}>
          {day(new Date(first).toISOString())}
        </text>
        <text x={WIDTH - 8} y={HEIGHT - 4} textAnchor="end">
          {day(new Date(last).toISOString())}
        </text>
        {series.map((one) => (
          <polyline
            key={one.name}
            points={one.points.map((point) => `${x(point.time).toFixed(1)},${y(point.value).toFixed(1)}`).join(' ')}
            fill="none"
            stroke={one.color}
            strokeWidth="1.5"
            strokeDasharray={one.dash}
            strokeLinejoin="round"
          />
        ))}
      </svg>
    </figure>
  )
}
