/** One thing that happened, as a line that opens to all there is of it. */
import {
  Archive, Ban, Bot, ChevronRight, CircleAlert, CircleCheck, CircleStop, Info, ListTodo, type LucideIcon, MessageCircleQuestionMark,
  MessageSquareText, RotateCw, ShieldCheck, ShieldX, Sparkle, TriangleAlert,
} from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { Markdown } from '../markdown/Markdown'
import type { Item, ToolItem, ToolState } from '../session/items'
import { Progress } from '../ui/parts'
import { duration, since, tokens } from '../ui/format'
import { isWord, type Translate, useWords } from '../words'
import { ArgumentList } from './cards/ArgumentList'
import { TodoList } from './cards/TodoList'
import { ToolCard } from './cards/ToolCard'
import { toolIcon, toolSubject, toolWords } from './toolWords'

interface Given {
  item: Item
  depth: number
  open: boolean
  onToggle: (key: string, open: boolean) => void
}

export const ItemLine = memo(function ItemLine({ item, depth, open, onToggle }: Given) {
  const t = useWords()
  const line = describe(item, t)
  const body = open ? bodyOf(item) : null
  const Icon = line.icon
  const content = (
    <>
      {line.opens ? <ChevronRight aria-hidden className="turns" /> : <span className="no-turn" />}
      <Icon aria-hidden className={line.tone} />
      <span className="item-words">{line.words}</span>
      {line.subject ? <span className="muted clip spread">{line.subject}</span> : <span className="spread" />}
      {line.state}
    </>
  )
  return (
    <div className="item" style={{ paddingLeft: depth * 20 }}>
      {line.opens ? (
        <button className="item-line" aria-expanded={open} onClick={() => onToggle(item.key, !open)}>
          {content}
        </button>
      ) : (
        <div className="item-line">{content}</div>
      )}
      {item.kind === 'tool' && item.state === 'running' && item.progress ? (
        <Progress fraction={item.fraction} label={item.progress} />
      ) : null}
      {body ? <div className="item-body">{body}</div> : null}
    </div>
  )
})

interface Line {
  icon: LucideIcon
  tone?: string
  words: string
  subject?: string
  state?: ReactNode
  opens: boolean
}

function describe(item: Item, t: Translate): Line {
  switch (item.kind) {
    case 'thinking': {
      const took = since(item.startedAt, item.endedAt)
      return { icon: Sparkle, words: t('item.thought'), subject: firstLine(item.text), state: took ? <Time text={duration(took)} /> : null, opens: true }
    }
    case 'text':
      return { icon: MessageSquareText, words: t('item.said'), subject: firstLine(item.text), opens: true }
    case 'tool':
      return {
        icon: toolIcon(item.name),
        words: toolWords(item, t),
        subject: item.state === 'failed' ? firstLine(item.output) : toolSubject(item),
        state: <State tool={item} />,
        opens: true,
      }
    case 'subagent':
      return {
        icon: Bot,
        words: item.name,
        subject: item.task,
        state: item.endedAt ? (
          <span className="muted tiny item-state">
            {t('work.tools', { n: item.toolCalls })} · <Time text={duration(since(item.startedAt, item.endedAt))} />
          </span>
        ) : (
          <span className="muted tiny">{t('state.running')}</span>
        ),
        opens: true,
      }
    case 'todos': {
      const done = item.todos.filter((todo) => todo.status === 'completed').length
      return { icon: ListTodo, words: t('item.plan'), subject: t('item.planDone', { done, all: item.todos.length }), opens: true }
    }
    case 'permission': {
      const { resolved } = item
      const scope = resolved ? `permission.${resolved.decision === 'deny' ? 'denied' : 'allowed'}.${resolved.scope}` : ''
      return {
        icon: resolved?.decision === 'deny' ? ShieldX : ShieldCheck,
        words: isWord(scope) ? t(scope) : t('permission.open'),
        subject: `${item.tool}${resolved ? ` · ${t('permission.by', { who: resolved.by })}` : ''}`,
        opens: true,
      }
    }
    case 'question':
      return {
        icon: MessageCircleQuestionMark,
        words: item.resolved?.outcome === 'answered' ? t('item.answered') : t('item.asked'),
        subject: item.resolved?.answer ? `${item.resolved.answer} ← ${item.question}` : item.question,
        opens: true,
      }
    case 'compaction':
      return {
        icon: Archive,
        words: t('item.compacted'),
        subject: `${tokens(item.before)} → ${tokens(item.after)} · ${isWord(`compaction.${item.outcome}`) ? t(`compaction.${item.outcome}` as never) : item.outcome}`,
        opens: false,
      }
    case 'retry':
      return { icon: RotateCw, words: t('item.retried'), subject: item.reason, opens: false }
    case 'notice':
      return {
        icon: item.level === 'info' ? Info : TriangleAlert,
        tone: item.level === 'error' ? 'bad' : item.level === 'warning' ? 'caution' : 'muted',
        words: t(`notice.${item.level}`),
        subject: firstLine(item.text),
        opens: item.text.length > 80,
      }
  }
}

const stateIcons: Record<Exclude<ToolState, 'running'>, [LucideIcon, string]> = {
  done: [CircleCheck, 'good'],
  failed: [CircleAlert, 'bad'],
  denied: [Ban, 'caution'],
  stopped: [CircleStop, 'muted'],
}

function State({ tool }: { tool: ToolItem }) {
  const t = useWords()
  if (tool.state === 'running') return <span className="muted tiny">{tool.progress || t('state.running')}</span>
  const [Icon, tone] = stateIcons[tool.state]
  const reason = `error.${tool.errorKind}`
  return (
    <span className={`row item-state ${tool.state === 'done' ? 'muted' : tone}`}>
      {tool.state === 'done' ? null : <span className="tiny">{isWord(reason) ? t(reason) : t(`state.${tool.state}`)}</span>}
      <Time text={duration(tool.durationMs)} />
      <Icon aria-hidden className={tone} />
      <span className="hidden-text">{t(`state.${tool.state}`)}</span>
    </span>
  )
}

function Time({ text }: { text: string }) {
  return <span className="number tiny muted">{text}</span>
}

function bodyOf(item: Item): ReactNode {
  switch (item.kind) {
    case 'thinking':
    case 'text':
      return <Markdown text={item.text} className={item.kind === 'thinking' ? 'thought' : ''} />
    case 'tool':
      return <ToolCard tool={item} />
    case 'todos':
      return <TodoList todos={item.todos} />
    case 'permission':
      return (
        <>
          {item.reason ? <p>{item.reason}</p> : null}
          <ArgumentList given={item.arguments} />
        </>
      )
    case 'subagent':
      return item.summary ? <Markdown text={item.summary} /> : null
    case 'notice':
      return <p className="whole">{item.text}</p>
    case 'question':
      return (
        <>
          <p className="whole">{item.question}</p>
          {item.resolved?.answer ? <p className="whole">→ {item.resolved.answer}</p> : null}
        </>
      )
    case 'compaction':
    case 'retry':
      return null
  }
}

function firstLine(text: string): string {
  return (text.trim().split('\n', 1)[0] ?? '').slice(0, 200)
}
