/** Small parts that every page uses. */
import { CircleAlert, X, type LucideIcon } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import type { ApiError } from '../api/client'
import { useWords } from '../words'

export function Trouble({ error, onRetry }: { error: Pick<ApiError, 'message' | 'hint'>; onRetry?: () => void }) {
  const t = useWords()
  return (
    <div className="trouble" role="alert">
      <CircleAlert aria-hidden />
      <div className="spread">
        <p>{error.message}</p>
        {error.hint ? <p className="muted">{error.hint}</p> : null}
      </div>
      {onRetry ? (
        <button className="button small" onClick={onRetry}>
          {t('common.retry')}
        </button>
      ) : null}
    </div>
  )
}

interface IconButtonProps {
  icon: LucideIcon
  label: string
  onClick: () => void
  pressed?: boolean
  className?: string
  disabled?: boolean
}

export function IconButton({ icon: Icon, label, onClick, pressed, className = '', disabled }: IconButtonProps) {
  return (
    <button
      type="button"
      className={`button quiet icon ${className}`}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon aria-hidden />
    </button>
  )
}

/** The browser's own modal dialogue: it keeps the focus and closes with Escape. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const t = useWords()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const node = dialog.current
    if (node && !node.open) node.showModal()
  }, [])
  return (
    <dialog ref={dialog} className="dialog" aria-label={title} onClose={onClose}>
      <div className="row">
        <h2 className="spread">{title}</h2>
        <IconButton icon={X} label={t('common.close')} onClick={() => dialog.current?.close()} />
      </div>
      {children}
    </dialog>
  )
}

export function Empty({ title, children, example }: { title: string; children: ReactNode; example?: string }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
      {example ? <p className="example">{example}</p> : null}
    </div>
  )
}

export function Progress({ fraction, label }: { fraction: number | null; label: string }) {
  return fraction === null ? (
    <progress className="progress" aria-label={label} />
  ) : (
    <progress className="progress" aria-label={label} max={1} value={fraction} />
  )
}
