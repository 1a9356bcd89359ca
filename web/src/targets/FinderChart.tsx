/** A chart of the sky around a target, drawn from catalogue positions. It tells what is pointed at. */
import { type PointerEvent, useEffect, useRef } from 'react'
import type { Target } from '../api/shapes'
import { usePrefs } from '../ui/prefs'
import { useWords } from '../words'
import { draw, radius } from './drawing'
import { brightness, under } from './marks'
import type { Placed, Width } from './projection'

interface Given {
  target: Target
  width: Width
  /** Of the square, in CSS pixels. */
  size: number
  placed: readonly Placed[]
  picked: Placed | null
  onPick: (name: string) => void
}

export function FinderChart({ target, width, size, placed, picked, onPick }: Given) {
  const t = useWords()
  const canvas = useRef<HTMLCanvasElement>(null)
  const { theme } = usePrefs()
  useEffect(() => {
    const node = canvas.current
    const pen = node?.getContext('2d')
    if (!node || !pen) return
    const scale = window.devicePixelRatio || 1
    node.width = Math.round(size * scale)
    node.height = Math.round(size * scale)
    pen.setTransform(scale, 0, 0, scale, 0, 0)
    const style = getComputedStyle(document.documentElement)
    draw(pen, { target, width, size, placed, picked }, (name) => style.getPropertyValue(name).trim())
  }, [target, width, size, placed, picked, theme])
  const point = (event: PointerEvent<HTMLCanvasElement>) => {
    const range = brightness(placed)
    const { offsetX, offsetY } = event.nativeEvent
    onPick(under(placed, offsetX, offsetY, (one) => radius(one, range, size))?.object.name ?? '')
  }
  return (
    <canvas
      ref={canvas}
      className="finder-canvas"
      style={{ width: size, height: size }}
      role="img"
      aria-label={t('target.chart', { name: target.name, field: width, n: placed.length })}
      onPointerMove={point}
      onPointerDown={point}
      // A finger leaves as soon as it is lifted: what it pointed at is to be read after that.
      onPointerLeave={(event) => event.pointerType === 'mouse' && onPick('')}
    />
  )
}
