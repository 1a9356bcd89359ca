import { fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { emptyLog } from '../session/log'
import { Composer } from './Composer'

afterEach(() => sessionStorage.clear())

function draw(sessionId: string, onSend = vi.fn(() => Promise.resolve(true))) {
  const shown = render(
    <Composer
      sessionId={sessionId}
      running={false}
      models={['a', 'b']}
      initial={{ model: 'a', mode: 'ask', thinking: false }}
      draft=""
      timeline={emptyLog.timeline}
      contextTokens={null}
      onSend={onSend}
      onCancel={() => undefined}
      onThinking={() => undefined}
    />,
  )
  return { ...shown, onSend }
}

test('what was typed and chosen is there again after a look elsewhere, for its session alone', async () => {
  const first = draw('one')
  fireEvent.change(screen.getByLabelText('Ask…'), { target: { value: 'How old?' } })
  fireEvent.change(screen.getByLabelText('Permission mode'), { target: { value: 'plan' } })
  fireEvent.change(screen.getByLabelText('Model'), { target: { value: 'b' } })
  fireEvent.click(screen.getByRole('switch'))
  first.unmount()
  draw('two').unmount()
  const { onSend } = draw('one')
  expect(screen.getByLabelText<HTMLTextAreaElement>('Ask…').value).toBe('How old?')
  fireEvent.click(screen.getByLabelText('Send'))
  expect(onSend).toHaveBeenCalledWith({ message: 'How old?', model: 'b', mode: 'plan', thinking: true })
  await vi.waitFor(() => expect(screen.getByLabelText<HTMLTextAreaElement>('Ask…').value).toBe(''))
  expect(screen.getByLabelText<HTMLSelectElement>('Permission mode').value).toBe('ask')
})

test('a question that the server would refuse is told before it is sent', () => {
  const { onSend } = draw('one')
  fireEvent.change(screen.getByLabelText('Ask…'), { target: { value: 'x'.repeat(32_001) } })
  expect(screen.getByRole('alert').textContent).toContain('32,001')
  fireEvent.keyDown(screen.getByLabelText('Ask…'), { key: 'Enter' })
  expect(onSend).not.toHaveBeenCalled()
})
