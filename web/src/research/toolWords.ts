/** Tool calls in words: what was done, and to what. */
import {
  BookOpen, Bot, Brain, Crosshair, Download, FileCode2, FilePen, FileSearch, FileText, Files, type LucideIcon,
  ListTodo, MessageCircleQuestionMark, NotebookPen, PackageOpen, Quote, Search, Sparkles, Table2, Terminal, Users, Wrench,
} from 'lucide-react'
import type { ToolItem } from '../session/items'
import { isWord, type Translate } from '../words'

const icons: Record<string, LucideIcon> = {
  read_file: FileText, grep_files: FileSearch, glob_files: Files, run_bash: Terminal, file_write: FilePen,
  file_edit: FileCode2, search_papers: Search, get_paper_metadata: FileText, download_paper: Download,
  parse_paper: PackageOpen, get_paper_content: BookOpen, rag_search: Quote, query_target: Crosshair,
  query_catalog: Table2, save_note: NotebookPen, todo_write: ListTodo, compress_context: PackageOpen,
  load_skill: Sparkles, save_memory: Brain, ask_user: MessageCircleQuestionMark, subagent: Bot,
  spawn_teammate: Users, send_teammate_message: Users, team_broadcast: Users, check_team_inbox: Users,
}

export function toolIcon(name: string): LucideIcon {
  return icons[name] ?? Wrench
}

/** `Searched ADS and arXiv`, `Searching ADS and arXiv`; a tool nobody told us of has its own name. */
export function toolWords(tool: Pick<ToolItem, 'name' | 'state'>, t: Translate): string {
  const word = `${tool.state === 'running' ? 'doing' : 'tool'}.${tool.name}`
  return isWord(word) ? t(word) : tool.name
}

const subjects: Record<string, readonly string[]> = {
  run_bash: ['description', 'command'],
  subagent: ['name'],
  get_paper_content: ['section', 'paper_id'],
  query_catalog: ['service'],
  save_note: ['quote'],
  ask_user: ['question'],
}
const usual = ['query', 'pattern', 'path', 'name', 'paper_id', 'task_id', 'to', 'content']

export function toolSubject(tool: Pick<ToolItem, 'name' | 'arguments'>): string {
  for (const field of [...(subjects[tool.name] ?? []), ...usual]) {
    const value = tool.arguments[field]
    if (typeof value === 'string' && value.trim()) return value.trim().replace(/\s+/g, ' ').slice(0, 200)
  }
  return ''
}
