/** What a tool was given and what it gave, drawn by the family that it belongs to. */
import { memo } from 'react'
import { asTodo, type ToolItem } from '../../session/items'
import { revealed } from '../../ui/format'
import { useWords } from '../../words'
import { ArgumentList } from './ArgumentList'
import { DiffCard } from './DiffCard'
import { PassagesCard } from './PassagesCard'
import { FoundPapers } from './SearchCard'
import { TargetCard } from './TargetCard'
import { TodoList } from './TodoList'
import { asTarget, foundPapers, isFacts, listOf, numberOf, shownPassages, textOf } from './shapes'
import './cards.css'

export const ToolCard = memo(function ToolCard({ tool }: { tool: ToolItem }) {
  const t = useWords()
  return (
    <div className="tool-card">
      {tool.original ? (
        <details>
          <summary className="caution tiny">{t('card.changed')}</summary>
          <ArgumentList given={tool.original} />
        </details>
      ) : null}
      <Family tool={tool} />
    </div>
  )
})

function Family({ tool }: { tool: ToolItem }) {
  const { arguments: given, metadata } = tool
  if (tool.state !== 'done') return <Plain tool={tool} />
  switch (tool.name) {
    case 'search_papers':
      return 'papers' in metadata ? <SearchResult tool={tool} /> : <Plain tool={tool} />
    case 'query_target':
      return 'ra_deg' in metadata ? <TargetCard target={asTarget(metadata)} /> : <Plain tool={tool} />
    case 'rag_search':
    case 'get_paper_content': {
      const passages = shownPassages(tool.output)
      return passages.length ? <PassagesCard passages={passages} /> : <Plain tool={tool} />
    }
    case 'todo_write': {
      const todos = listOf(metadata, 'todos').filter(isFacts)
      return todos.length ? <TodoList todos={todos.map(asTodo)} /> : <Plain tool={tool} />
    }
    case 'file_edit':
      return <DiffCard path={textOf(given, 'path')} before={textOf(given, 'old_string')} after={textOf(given, 'new_string')} />
    case 'file_write':
      return <DiffCard path={textOf(given, 'path')} before="" after={textOf(given, 'content')} />
    case 'run_bash':
      return <Command tool={tool} />
    default:
      return <Plain tool={tool} />
  }
}

function SearchResult({ tool }: { tool: ToolItem }) {
  const t = useWords()
  const errors = listOf(tool.metadata, 'errors').filter(isFacts)
  const queries = isFacts(tool.metadata.queries) ? Object.entries(tool.metadata.queries) : []
  return (
    <>
      {errors.map((error, place) => (
        <p key={place} className="caution tiny">
          {textOf(error, 'source')}: {textOf(error, 'message')} {textOf(error, 'hint')}
        </p>
      ))}
      <FoundPapers papers={foundPapers(tool.metadata)} />
      <details>
        <summary className="tiny muted">{t('card.queries')}</summary>
        <ArgumentList given={Object.fromEntries(queries)} />
      </details>
    </>
  )
}

function Command({ tool }: { tool: ToolItem }) {
  const t = useWords()
  const code = numberOf(tool.metadata, 'exit_code')
  return (
    <>
      <pre className="terminal command" tabIndex={0} aria-label={t('card.command')}>
        <span className="prompt" aria-hidden>
          ${' '}
        </span>
        {revealed(textOf(tool.arguments, 'command'))}
      </pre>
      <pre className="terminal" tabIndex={0} aria-label={t('card.output')}>
        {tool.output}
      </pre>
      <p className="tiny muted">
        {code === null ? t('card.noExit') : t('card.exit', { code })}
        {tool.metadata.sandboxed === false ? <span className="caution"> · {t('card.unsandboxed')}</span> : null}
      </p>
    </>
  )
}

function Plain({ tool }: { tool: ToolItem }) {
  const t = useWords()
  return (
    <>
      <ArgumentList given={tool.arguments} />
      {tool.output ? (
        <pre className="terminal" tabIndex={0} aria-label={t('card.output')}>
          {tool.output}
        </pre>
      ) : null}
    </>
  )
}
