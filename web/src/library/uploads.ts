/** Files that were sent from this tab: another try needs no second choice of the file. */
import { api } from '../api/client'
import type { Task } from '../api/shapes'

/** A file that the server did not take, and why. */
export interface Unsent {
  id: number
  file: File
  message: string
  hint: string
}

let last = 0

export function nextId(): number {
  return ++last
}

const sent = new Map<string, File>()

export async function upload(file: File): Promise<Task> {
  const task = await api.upload<Task>(`/papers/files?name=${encodeURIComponent(file.name)}`, file)
  sent.set(task.id, file)
  return task
}

export function fileOf(task: Task): File | undefined {
  return sent.get(task.id)
}

/** Let go of the files that have become papers. */
export function forgetDone(tasks: readonly Task[]): void {
  for (const task of tasks) if (task.state === 'done') sent.delete(task.id)
}
