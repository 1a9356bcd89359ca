/** The finder chart: where things are, how large, which names; when the services are asked, and what is said. */
import { act, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { FieldObject, SkyField, Target } from '../api/shapes'
import { TargetCard } from '../research/cards/TargetCard'
import { axe } from '../test/axe'
import { setPrefs } from '../ui/prefs'
import { brightness, discRadius, ellipse, labels, magnitudeSteps, motion, reach, shortName, under } from './marks'
import { angleText, coneArcmin, place, tangent, usualWidth, widthText } from './projection'
import { StarField } from './StarField'

const object = (more: Partial<FieldObject>): FieldObject => ({
  name: 'X', catalogue: 'SIMBAD', ra_deg: 10, dec_deg: 0, object_type: '', type_text: '', is_star: true, magnitude: null, band: '',
  pm_ra_mas_yr: null, pm_dec_mas_yr: null, major_arcmin: null, minor_arcmin: null, angle_deg: null, ...more,
})
const target = (more: Partial<Target> = {}): Target => ({
  asked: 'M 1', name: 'M 1', kind: 'object', ra_deg: 10, dec_deg: 0, frame: 'ICRS', epoch: 'J2000', error_arcsec: null, object_type: 'SNR', type_text: '', resolver: 'SIMBAD',
  aliases: [], pm: null, parallax_mas: null, velocity_km_s: null, redshift: null, magnitudes: {}, measured: {}, spectral_type: '', references: 1, cached_at: null, notes: [], ...more,
})

test('the tangent plane has north up and east left, across the meridian and near the pole', () => {
  expect(tangent({ ra_deg: 0.01, dec_deg: 0 }, { ra_deg: 359.99, dec_deg: 0 })?.east).toBeCloseTo(72, 3)
  expect(tangent({ ra_deg: 180, dec_deg: 89.99 }, { ra_deg: 0, dec_deg: 89.99 })?.north).toBeCloseTo(72, 3)
  expect(tangent({ ra_deg: 180, dec_deg: 0 }, { ra_deg: 0, dec_deg: 0 })).toBeNull()
  const [east] = place([object({ ra_deg: 10.05, dec_deg: 0.05 })], { ra_deg: 10, dec_deg: 0 }, 15, 200)
  expect(east?.x).toBeLessThan(100)
  expect(east?.y).toBeLessThan(100)
  expect(east?.angleDeg).toBeCloseTo(45, 2)
  expect(east?.arcsec).toBeCloseTo(Math.SQRT2 * 180, 2)
})

test.each([[0, 0], [359.999, 60], [90, 89.99], [200, -89.99]])('around %d %d each direction has its place', (ra, dec) => {
  // From a position angle and a distance to the sphere, and back.
  for (const [angle, arcsec] of [[0, 100], [90, 200], [200, 300], [359, 400]] as const) {
    const [a, d, pa] = [(ra * Math.PI) / 180, (dec * Math.PI) / 180, (angle * Math.PI) / 180]
    const r = (arcsec / 3600) * (Math.PI / 180)
    const sin = Math.sin(d) * Math.cos(r) + Math.cos(d) * Math.sin(r) * Math.cos(pa)
    const alpha = a + Math.atan2(Math.sin(pa) * Math.sin(r) * Math.cos(d), Math.cos(r) - Math.sin(d) * sin)
    const there = { ra_deg: ((alpha * 180) / Math.PI + 360) % 360, dec_deg: (Math.asin(sin) * 180) / Math.PI }
    const [placed] = place([object(there)], { ra_deg: ra, dec_deg: dec }, 15, 300)
    expect(placed?.arcsec).toBeCloseTo(arcsec, 1)
    expect(Math.cos(((placed?.angleDeg ?? 0) - angle) * (Math.PI / 180))).toBeCloseTo(1, 4)
  }
})

test('at a pole itself the directions are those of the meridian of its right ascension', () => {
  const angle = (ra: number, pole: 90 | -90) => Math.round(place([object({ ra_deg: ra, dec_deg: pole - Math.sign(pole) * 0.05 })], { ra_deg: 120, dec_deg: pole }, 15, 300)[0]?.angleDeg ?? -1)
  expect([120, 210, 300, 30].map((ra) => angle(ra, 90))).toEqual([180, 90, 0, 270])
  expect([120, 210, 300, 30].map((ra) => angle(ra, -90))).toEqual([0, 90, 180, 270])
})

test('what lies outside the square is not on the chart, and the cone holds all of it', () => {
  const centre = { ra_deg: 10, dec_deg: 0 }
  const at = (arcmin: number) => place([object({ dec_deg: arcmin / 60 })], centre, 15, 200).length
  expect([at(7.4), at(7.6)]).toEqual([1, 0])
  for (const width of [5, 15, 60] as const) {
    expect(coneArcmin(width)).toBeGreaterThanOrEqual(width * Math.SQRT1_2)
    expect(coneArcmin(width)).toBeLessThanOrEqual(60)
  }
})

test('a wide error circle begins with the widest chart', () => {
  expect([null, 1, 200, 300].map((error_arcsec) => usualWidth(target({ error_arcsec })))).toEqual([15, 15, 15, 60])
  expect([5, 15, 60, 3, 0.5].map(widthText)).toEqual(['5′', '15′', '1°', '3′', '30″'])
  expect([4.04, 59.97, 252].map(angleText)).toEqual(['4.0″', '1.0′', '4.2′'])
})

const star = (magnitude: number | null, x = 0, y = 0, more: Partial<FieldObject> = {}) => ({ object: object({ magnitude, band: 'G', ...more }), x, y, arcsec: 0, angleDeg: 0 })

test('the area of a disc grows evenly with brightness', () => {
  const range = { bright: 5, faint: 20, band: 'G' }
  const area = (magnitude: number) => discRadius(magnitude, range, 400) ** 2
  expect(area(10) - area(15)).toBeCloseTo(area(15) - area(20), 9)
  expect([discRadius(-1, range, 400), discRadius(99, range, 400)]).toEqual([400 / 60, 0.7])
  // stars that are all alike are not blown up
  expect(discRadius(14, { bright: 14, faint: 14.5, band: 'G' }, 400)).toBeLessThan(2.5)
  expect(brightness([star(null), star(12), star(19.5), star(7)])).toEqual({ bright: 7, faint: 19.5, band: 'G' })
  expect(brightness([star(null), star(3, 0, 0, { is_star: false })])).toBeNull()
  // SIMBAD's faint ones tell nothing of how deep the chart is
  expect(brightness([star(5), star(21), star(14, 0, 0, { catalogue: 'Gaia DR3' })])).toEqual({ bright: 5, faint: 14, band: 'G' })
  expect(magnitudeSteps({ bright: 6.2, faint: 19.8, band: 'G' })).toEqual([7, 11, 15, 19])
  expect(magnitudeSteps({ bright: 14.2, faint: 14.8, band: 'G' })).toEqual([])
})

test('an extended object has its shape: the position angle goes from north to east', () => {
  const galaxy = (angle_deg: number | null, major_arcmin = 4) => star(null, 0, 0, { is_star: false, major_arcmin, minor_arcmin: 2, angle_deg })
  expect(ellipse(galaxy(0), 2)).toEqual({ major: 60, minor: 30, rotation: Math.PI / 2 })
  expect(ellipse(galaxy(90), 2)?.rotation).toBeCloseTo(0)
  expect(ellipse(galaxy(null), 2)?.minor).toBe(60)
  expect(ellipse(galaxy(0, 0.1), 2)).toBeNull()
  expect(reach(galaxy(0), 2, 3)).toEqual({ x: expect.closeTo(30) as number, y: expect.closeTo(60) as number })
  expect(reach(star(9), 2, 3)).toEqual({ x: 3, y: 3 })
})

test('few names are written, the first first, and none over another or over the edge', () => {
  const named = (name: string, x: number, y: number) => star(10, x, y, { name })
  const options = { size: 200, most: 3, taken: [], spared: [], widthOf: (text: string) => text.length * 6, reachOf: () => ({ x: 3, y: 3 }) }
  const found = labels([named('V* RR Lyr', 100, 100), named('NAME Second', 102, 101), named('Gaia DR3 1', 50, 50), named('M 31', 195, 195), named('late', 20, 20)], options)
  expect(found.map((label) => label.text)).toEqual(['RR Lyr', 'Second', 'Gaia DR3 1'])
  const boxes = found.map(({ text, x, y }) => ({ left: x, right: x + text.length * 6, top: y - 10, bottom: y }))
  for (const [place, a] of boxes.entries()) {
    expect(Math.min(a.left, a.top)).toBeGreaterThanOrEqual(0)
    expect(Math.max(a.right, a.bottom)).toBeLessThanOrEqual(200)
    for (const b of boxes.slice(place + 1)) expect(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).toBe(false)
  }
  expect(labels([star(9, 50, 50, { name: 'Gaia DR3 1', catalogue: 'Gaia DR3' }), named('SDSS J123456.78+123456.7', 90, 90)], options)).toEqual([])
  expect(['* alf Lyr', '** STF 1', 'NAME Proxima', 'NGC 224', 'V*'].map(shortName)).toEqual(['alf Lyr', 'STF 1', 'Proxima', 'NGC 224', 'V*'])
})

test('the arrow is as many years long as fit on the chart', () => {
  const moving = (ra_mas_yr: number, dec_mas_yr: number) => motion(target({ pm: { ra_mas_yr, dec_mas_yr } }), 2, 400)
  expect(moving(100, 0)).toEqual({ x: -50, y: -0, years: 1000 })
  expect(moving(-800, 10_300)?.years).toBe(10)
  expect(moving(1, 1)).toBeNull()
  expect(motion(target(), 2, 400)).toBeNull()
})

test('a pointer finds the nearest object in reach', () => {
  const [near, far] = [star(9, 50, 50), star(9, 58, 50)]
  expect([under([near, far], 53, 50, () => 1), under([near, far], 56, 50, () => 1), under([near, far], 90, 90, () => 1)]).toEqual([near, far, null])
})

const field: SkyField = {
  frame: 'ICRS', epoch: 'J2000.0',
  catalogues: [{ name: 'Gaia DR3', epoch: 2016, truncated: true }, { name: 'SIMBAD', epoch: 2000, truncated: false }],
  objects: [
    object({ name: '<img src=x>', ra_deg: 10.02, magnitude: 9.123, band: 'V', object_type: 'V*', type_text: 'variable star' }),
    object({ name: 'Gaia DR3 7', catalogue: 'Gaia DR3', ra_deg: 10.01, magnitude: 17.5, band: 'G' }),
    object({ name: 'far away', ra_deg: 11 }),
  ],
  errors: [],
}
const asked: string[] = []
let answer: () => Response

beforeEach(() => {
  asked.length = 0
  answer = () => Response.json(field)
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null)
  vi.stubGlobal('fetch', (url: string) => {
    asked.push(url.slice(url.indexOf('/targets')))
    return Promise.resolve(answer())
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
  setPrefs({ language: 'en' })
})

async function settled(): Promise<void> {
  await act(() => new Promise((resolve) => setTimeout(resolve, 20)))
}

test('the field is asked for, named by source and epoch, and listed by distance', async () => {
  const { container } = render(<StarField target={target()} size={400} />)
  expect(screen.getByText(/Asking Gaia and SIMBAD/)).toBeTruthy()
  await settled()
  expect(asked).toEqual(['/targets/field?ra_deg=10&dec_deg=0&radius_arcmin=10.61'])
  expect(container.textContent).toContain('2 objects of Gaia DR3 + SIMBAD. Stars down to G 17.5. Gaia DR3 has fainter ones.')
  expect(container.textContent).toContain('epoch J2000.0. Those of Gaia DR3 were moved there from J2016.0 by proper motion. 1 has no known motion and stays.')
  const list = screen.getByText('Objects in the chart (2)').closest('details') as HTMLDetailsElement
  list.open = true
  fireEvent(list, new Event('toggle'))
  const rows = [...container.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))
  expect(rows).toEqual([
    ['Gaia DR3 7', 'source of Gaia', 'G 17.50', '36.0″', '90°'],
    ['<img src=x>', 'variable star', 'V 9.12', '1.2′', '90°'],
  ])
  expect(container.querySelector('img')).toBeNull()
  const link = screen.getByRole('link', { name: '<img src=x>' })
  expect(link.getAttribute('href')).toBe('#/targets?name=%3Cimg+src%3Dx%3E')
  fireEvent.focus(link)
  expect(container.querySelector('.finder-told')?.textContent).toBe('<img src=x> · variable star · V 9.12 · 1.2′ at 90°')
  fireEvent.blur(link)
  expect(container.querySelector('.finder-told')?.textContent).toBe('Point at an object to see what it is.')
  expect(await axe(container)).toEqual([])
  act(() => setPrefs({ language: 'zh' }))
  expect(container.textContent).toContain('2 个天体，来自 Gaia DR3 + SIMBAD。 恒星最暗 G 17.5。')
})

test('another width asks again', async () => {
  render(<StarField target={target()} size={400} />)
  await settled()
  fireEvent.click(screen.getByRole('button', { name: '1°' }))
  await settled()
  expect(asked.at(-1)).toContain('radius_arcmin=42.43')
  expect(screen.getByRole('button', { name: '1°' }).getAttribute('aria-pressed')).toBe('true')
})

test('a catalogue that failed is said, and the chart is drawn', async () => {
  answer = () => Response.json({ ...field, catalogues: field.catalogues.slice(0, 1), errors: [{ source: 'SIMBAD', message: 'no answer within 25 s', hint: '' }] })
  render(<StarField target={target()} size={400} />)
  await settled()
  expect(screen.getByText(/SIMBAD gave nothing: no answer within 25 s/)).toBeTruthy()
  expect(screen.getByRole('img').getAttribute('aria-label')).toContain('2 objects')
})

test('without any answer the chart stays, with what is known, and can be tried again', async () => {
  answer = () => Response.json({ error: { code: 'access_denied', message: 'NUNCIUS_OFFLINE is set.', hint: 'Unset it.' } }, { status: 403 })
  render(<StarField target={target()} size={400} known={[object({ name: 'M 1' }), object({ name: 'seen before', catalogue: '' })]} />)
  await settled()
  expect(screen.getByText(/Drawn without stars\. NUNCIUS_OFFLINE is set\. Unset it\./)).toBeTruthy()
  expect(screen.getByRole('img').getAttribute('aria-label')).toContain('1 object,')
  answer = () => Response.json(field)
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }))
  await settled()
  expect(screen.queryByText(/Drawn without stars/)).toBeNull()
})

test('in the timeline nothing is asked for before a person wants it', async () => {
  render(<TargetCard target={target()} />)
  await settled()
  expect(asked).toEqual([])
  fireEvent.click(screen.getByRole('button', { name: 'Show stars' }))
  await settled()
  expect(asked).toHaveLength(1)
  expect(screen.queryByRole('button', { name: 'Show stars' })).toBeNull()
  expect(screen.queryByText(/Objects in the chart/)).toBeNull()
})

test('a target without a position has no chart and asks for nothing', async () => {
  const { container } = render(<StarField target={target({ ra_deg: null, dec_deg: null })} size={400} />)
  await settled()
  expect([container.innerHTML, asked]).toEqual(['', []])
})
