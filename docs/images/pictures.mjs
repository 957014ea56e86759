// Takes the pictures: a comment as GitHub shows it, light and dark, and the HTML report, light, dark and on a phone.
// usage: node pictures.mjs CHROMIUM REPORTS TARGET, beside a node_modules as make.py installs it
import {readFileSync} from 'node:fs'
import {pathToFileURL} from 'node:url'
import path from 'node:path'
import {chromium} from 'playwright-core'
import {unified} from 'unified'
import remarkParse from 'remark-parse'
import remarkGfm from 'remark-gfm'
import remarkRehype from 'remark-rehype'
import rehypeRaw from 'rehype-raw'
import rehypeSanitize from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'

const [program, reports, target] = process.argv.slice(2)
const COLOURS = {'-': 'pl-md', '+': 'pl-mi1', '!': 'pl-mc'} // GitHub's names for the lines of a diff

// GitHub colours a `diff` block after it has removed what is not allowed, so this comes after the sanitizer.
function colourDiffs() {
  const visit = (node) => {
    if (node.tagName === 'code' && String(node.properties?.className).includes('language-diff')) {
      const lines = node.children.map((child) => child.value).join('').split('\n')
      node.children = lines.map((line, number) => ({
        type: 'element', tagName: 'span', properties: {className: [COLOURS[line[0]] ?? 'plain']},
        children: [{type: 'text', value: number < lines.length - 1 ? `${line}\n` : line}],
      }))
    } else (node.children ?? []).forEach(visit)
  }
  return visit
}

const markdown = readFileSync(path.join(reports, 'comment.md'), 'utf8')
const comment = String(await unified().use(remarkParse).use(remarkGfm).use(remarkRehype, {allowDangerousHtml: true})
  .use(rehypeRaw).use(rehypeSanitize).use(colourDiffs).use(rehypeStringify).process(markdown))
const page = (theme) => `<!doctype html><meta charset="utf-8">
<style>${readFileSync(`node_modules/github-markdown-css/github-markdown-${theme}.css`, 'utf8')}
body {margin: 0; background: ${theme === 'dark' ? '#0d1117' : '#fff'}}
main {width: 790px; margin: 12px; border: 1px solid ${theme === 'dark' ? '#3d444d' : '#d1d9e0'}; border-radius: 6px}
.markdown-body {font-size: 14px; padding: 16px}</style>
<main><div class="markdown-body">${comment}</div></main>`

const browser = await chromium.launch({executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage']})
async function take(name, colorScheme, width, height, scale, open) {
  const view = await browser.newPage({colorScheme, viewport: {width, height}, deviceScaleFactor: scale})
  await open(view)
  const shown = await view.$('main')
  const file = path.join(target, `${name}.png`)
  if (name.startsWith('comment')) {
    const {height: whole} = await shown.boundingBox()
    await view.screenshot({path: file, clip: {x: 0, y: 0, width, height: Math.ceil(whole) + 24}})
  } else await view.screenshot({path: file})
  await view.close()
}

for (const theme of ['light', 'dark']) {
  await take(`comment-${theme}`, theme, 816, 1400, 1.5, (view) => view.setContent(page(theme)))
}
const report = pathToFileURL(path.resolve(reports, 'report.html')).href
await take('report-light', 'light', 1280, 1336, 1, (view) => view.goto(report))
await take('report-dark', 'dark', 1280, 1336, 1, (view) => view.goto(report))
await take('report-phone', 'light', 390, 1300, 1, (view) => view.goto(report))
await browser.close()
