/** One object of a chart in a line: name, type, magnitude, how far from the target and in which direction. */
import type { FieldObject } from '../api/shapes'
import { type Translate, useWords } from '../words'
import { angleText, type Placed } from './projection'

export function typeText(object: FieldObject, t: Translate): string {
  if (object.type_text || object.object_type) return object.type_text || object.object_type
  return object.catalogue === 'Gaia DR3' ? t('field.gaiaSource') : t('target.noType')
}

export function magnitudeText({ magnitude, band }: FieldObject): string {
  return magnitude === null ? '' : `${band} ${magnitude.toFixed(2)}`
}

export function useTold(): (one: Placed) => string {
  const t = useWords()
  return ({ object, arcsec, angleDeg }) =>
    [object.name, typeText(object, t), magnitudeText(object), `${angleText(arcsec)} ${t('field.towards', { angle: Math.round(angleDeg) % 360 })}`]
      .filter(Boolean)
      .join(' · ')
}
