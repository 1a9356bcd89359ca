import axeCore from 'axe-core'

/** Serious findings of axe in a rendered part; contrast needs a real browser and is looked at there. */
export async function axe(root: Element): Promise<string[]> {
  const { violations } = await axeCore.run(root, { rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } })
  return violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`)
}
