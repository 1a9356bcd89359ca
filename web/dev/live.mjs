// A short turn that is played when somebody asks: waits in milliseconds, and events.
import { calls, ends, gives, says, started, thinks, used } from './recordings.mjs'

export function answerFor(message) {
  const words = 'The demonstration server has one answer for every question: it shows how a turn looks while it runs.'.split(' ')
  return [
    [50, started(message)],
    [600, thinks('This server knows nothing. ')],
    [500, thinks('It can still show how work looks.')],
    [400, calls('x1', 'rag_search', { query: message })],
    [700, { type: 'tool_progress', id: 'x1', progress: 'passage 3 of 9', fraction: 0.33 }],
    [900, gives('x1', 'rag_search', 'Nothing was found.', { passages: [] })],
    [300, used(5200, 140)],
    ...words.map((word) => [60, says(`${word} `, { step: 2 })]),
    [200, { type: 'answer', step: 2, text: words.join(' '), citations: [], unsupported: [], answered: false, dropped_quotes: 0, searched: { papers_in_library: 42, papers: [], passages: 0, pages: {}, unreadable: [], near_misses: [], queries: [message] }, degraded: ['demonstration'] }],
    [50, ends()],
  ]
}
