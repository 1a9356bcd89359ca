/** Notes of people and of the agent, in the order of their pages. */
import { Bot, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/client'
import type { Note } from '../api/shapes'
import { asApiError } from '../api/useLoaded'
import { Quoted } from '../markdown/Markdown'
import { IconButton } from '../ui/parts'
import { useWords } from '../words'

interface Given {
  paperId: string
  notes: readonly Note[]
  chosen: string
  onChoose: (note: Note) => void
  onChanged: () => void
}

export function Notes({ paperId, notes, chosen, onChoose, onChanged }: Given) {
  const t = useWords()
  const ordered = [...notes].sort((one, other) => (one.page ?? 0) - (other.page ?? 0) || one.id - other.id)
  return (
    <>
      {notes.length ? null : <p className="muted tiny">{t('reader.noNotes')}</p>}
      <ul>
        {ordered.map((note) => (
          <NoteItem
            key={note.id}
            path={`/papers/${paperId}/notes/${note.id}`}
            note={note}
            chosen={chosen === `note-${note.id}`}
            onChoose={() => onChoose(note)}
            onChanged={onChanged}
          />
        ))}
      </ul>
    </>
  )
}

function NoteItem({ path, note, chosen, onChoose, onChanged }: { path: string; note: Note; chosen: boolean; onChoose: () => void; onChanged: () => void }) {
  const t = useWords()
  const [editing, setEditing] = useState(false)
  const [text, setText] = useState(note.note)
  const [trouble, setTrouble] = useState('')
  const [sure, setSure] = useState(false)
  const act = (work: Promise<unknown>) =>
    void work.then(
      () => {
        setEditing(false)
        onChanged()
      },
      (error: unknown) => setTrouble(asApiError(error).message),
    )
  return (
    <li className="note" data-chosen={chosen}>
      <button className="note-quote" onClick={onChoose}>
        <Quoted text={note.quote} />
      </button>
      {editing ? (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            act(api.patch(path, { note: text }))
          }}
        >
          <textarea className="field" autoFocus rows={3} value={text} aria-label={t('reader.note')} onChange={(event) => setText(event.target.value)} />
          <button className="button small primary">{t('common.save')}</button>
        </form>
      ) : note.note ? (
        <p>{note.note}</p>
      ) : null}
      <div className="row tiny muted">
        {note.agent !== 'user' ? <Bot aria-hidden /> : null}
        <span className="spread">{note.page ? t('cite.page', { page: note.page }) : ''}</span>
        <IconButton icon={Pencil} label={t('reader.edit')} onClick={() => setEditing(!editing)} />
        {sure ? (
          <button className="button small bad" autoFocus onBlur={() => setSure(false)} onClick={() => act(api.delete(path))}>
            {t('reader.removeSure')}
          </button>
        ) : (
          <IconButton icon={Trash2} label={t('reader.remove')} onClick={() => setSure(true)} />
        )}
      </div>
      {trouble ? <p className="bad tiny">{trouble}</p> : null}
    </li>
  )
}
