/** Running work at the bottom of the library; a failure says its reason and offers another try. */
import { ChevronDown, ChevronUp, CircleAlert, LoaderCircle } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/client'
import type { Task } from '../api/shapes'
import { asApiError } from '../api/useLoaded'
import { Progress } from '../ui/parts'
import { useWords } from '../words'
import { identifiers } from './AddDialog'
import { fileOf, type Unsent, upload } from './uploads'

interface Given {
  tasks: readonly Task[]
  unsent: readonly Unsent[]
  onRetried: () => void
  onFiles: () => void
  onSend: (again: Unsent) => void
  onLeave: (file: Unsent) => void
}

export function TaskStrip({ tasks, unsent, onRetried, onFiles, onSend, onLeave }: Given) {
  const t = useWords()
  const [open, setOpen] = useState(true)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const running = tasks.filter((task) => task.state === 'waiting' || task.state === 'running')
  const failed = tasks.filter((task) => task.state === 'failed' && !hidden.has(task.id))
  const failures = failed.length + unsent.length
  if (!running.length && !failures) return null
  const hide = (id: string) => {
    setHidden((known) => new Set(known).add(id)) // at once; the server lets go of it for good
    api.delete(`/tasks/${id}`).catch(() => undefined) // gone already, or told again at the next visit
  }
  return (
    <section className="task-strip" aria-label={t('tasks.title')}>
      <button className="row" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span>{[running.length ? t('tasks.running', { n: running.length }) : '', failures ? t('tasks.failed', { n: failures }) : ''].filter(Boolean).join(' · ')}</span>
        <span className="spread" />
        {open ? <ChevronDown aria-hidden /> : <ChevronUp aria-hidden />}
      </button>
      {open ? (
        <ul>
          {running.slice(0, 6).map((task) => (
            <li key={task.id}>
              <div className="row">
                <LoaderCircle aria-hidden className="muted" />
                <span className="clip">{task.what}</span>
                <span className="muted tiny clip">{task.progress || t(`task.${task.state}`)}</span>
              </div>
              <Progress fraction={task.state === 'waiting' ? 0 : task.fraction} label={task.what} />
            </li>
          ))}
          {unsent.map((one) => (
            <li key={one.id}>
              <div className="row">
                <CircleAlert aria-hidden className="bad" />
                <span className="clip">{one.file.name}</span>
                <span className="spread" />
                <button className="button small" onClick={() => onSend(one)}>
                  {t('common.retry')}
                </button>
                <button className="button small quiet" onClick={() => onLeave(one)}>
                  {t('tasks.hide')}
                </button>
              </div>
              <p className="tiny" role="alert">
                {one.message} <span className="muted">{one.hint}</span>
              </p>
            </li>
          ))}
          {failed.map((task) => (
            <Failed key={task.id} task={task} onRetried={onRetried} onFiles={onFiles} onHide={() => hide(task.id)} />
          ))}
        </ul>
      ) : null}
    </section>
  )
}

function Failed({ task, onRetried, onFiles, onHide }: { task: Task; onRetried: () => void; onFiles: () => void; onHide: () => void }) {
  const t = useWords()
  const [trouble, setTrouble] = useState('')
  const retry = () => {
    // An identifier can be asked for again, a file of this tab sent again; others must be chosen anew.
    const file = fileOf(task)
    if (!file && !identifiers(task.what).length) return onFiles()
    const again = file ? upload(file) : api.post('/papers', { id: task.what })
    again.then(
      () => {
        onHide()
        onRetried()
      },
      (error: unknown) => setTrouble(asApiError(error).message),
    )
  }
  return (
    <li>
      <div className="row">
        <CircleAlert aria-hidden className="bad" />
        <span className="clip">{task.what}</span>
        <span className="spread" />
        <button className="button small" onClick={retry}>
          {t('common.retry')}
        </button>
        <button className="button small quiet" onClick={onHide}>
          {t('tasks.hide')}
        </button>
      </div>
      {task.failures.map((failure) => (
        <p key={failure.what + failure.reason} className="tiny">
          {failure.reason} <span className="muted">{failure.hint}</span>
        </p>
      ))}
      {trouble ? <p className="bad tiny">{trouble}</p> : null}
    </li>
  )
}
