/** pdf.js, loaded with the first PDF. It runs nothing that a file brings and loads from our own host only. */
import type { PDFDocumentProxy } from 'pdfjs-dist'
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'

export async function openPdf(bytes: ArrayBuffer): Promise<PDFDocumentProxy> {
  const { getDocument, GlobalWorkerOptions } = await import('pdfjs-dist')
  GlobalWorkerOptions.workerSrc = workerUrl
  const parts = new URL('assets/pdf/', document.baseURI).toString()
  return getDocument({
    // The worker takes the buffer away; the page may want it again.
    data: new Uint8Array(bytes.slice(0)),
    cMapUrl: `${parts}cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${parts}standard_fonts/`,
    // The page fetches for the worker: it has the cookie and the policy for that.
    useWorkerFetch: false,
    enableXfa: false,
    // WebAssembly would need a wider Content-Security-Policy.
    useWasm: false,
  }).promise
}
