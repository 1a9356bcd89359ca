import { CircleCheck, CircleDashed, CircleDot } from 'lucide-react'
import type { Todo } from '../../session/items'
import { useWords } from '../../words'

const marks = { pending: CircleDashed, in_progress: CircleDot, completed: CircleCheck }

export function TodoList({ todos }: { todos: readonly Todo[] }) {
  const t = useWords()
  return (
    <ul className="todos">
      {todos.map((todo) => {
        const Mark = marks[todo.status]
        return (
          <li key={todo.id} className={`row todo-${todo.status}`}>
            <Mark aria-hidden />
            <span className="hidden-text">{t(`todo.${todo.status}`)}: </span>
            <span>{todo.content}</span>
            {todo.blockedBy.length && todo.status !== 'completed' ? (
              <span className="muted tiny">{t('todo.after', { ids: todo.blockedBy.join(', ') })}</span>
            ) : null}
          </li>
        )
      })}
    </ul>
  )
}
