import { cpSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

const pdfjs = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))

/** Chinese papers need pdf.js's character maps, old ones its stand-in fonts: they come from our own host. */
function pdfParts(): Plugin {
  let outDir = ''
  return {
    name: 'pdf-parts',
    apply: 'build',
    configResolved(config) {
      outDir = join(config.root, config.build.outDir)
    },
    closeBundle() {
      for (const part of ['cmaps', 'standard_fonts']) {
        cpSync(join(pdfjs, part), join(outDir, 'assets', 'pdf', part), { recursive: true })
      }
    },
  }
}

/** Every browser that can run this reads woff2: KaTeX's other copies of its fonts stay out of the package. */
function oneFontFormat(): Plugin {
  return {
    name: 'one-font-format',
    enforce: 'pre',
    transform(code, id) {
      if (!id.includes('katex.min.css')) return null
      return code.replace(/,url\([^)]*\.(?:woff|ttf)\)\s*format\("[a-z]+"\)/g, '')
    },
  }
}

export default defineConfig({
  // Relative: the page also works below a path, behind a tunnel or a notebook server's proxy.
  base: './',
  plugins: [react(), oneFontFormat(), pdfParts()],
  build: {
    outDir: '../src/nuncius/web',
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL in a style sheet would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8765' } },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test/setup.ts'],
    restoreMocks: true,
  },
})
