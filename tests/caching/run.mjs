// Runs the public suite for HTTP caches: node run.mjs SUITE TARGET prints how many tests of each kind ended in which way, by the suite's own
// rules, and the names of the required ones that failed, as JSON. SUITE is the folder of its server, its client and its tests.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [suite, target] = process.argv.slice(2)
const own = path => import(pathToFileURL(join(suite, path)).href)
const { default: fetch } = await import(pathToFileURL(createRequire(join(suite, 'cli.mjs')).resolve('node-fetch')).href)
const { default: tests } = await own('tests/index.mjs')
const { default: surrogate } = await own('tests/surrogate-control.mjs')
const { runTests, getResults } = await own('client/runner.mjs')
const { determineTestResult } = await own('lib/display.mjs')

tests.push(surrogate)
await runTests(tests, fetch, false, target)
const results = getResults()
const words = {
  '✅': 'pass', '⛔️': 'fail', '⚠️': 'optional fail', Y: 'yes', N: 'no', '🔹': 'setup', '⁉️': 'harness', '⚪️': 'dependency', '↻': 'retry', '-': 'untested'
}
const counts = {}
const failed = {}
for (const { tests: group } of tests) {
  for (const test of group) {
    const kind = test.kind ?? 'required'
    const word = words[determineTestResult(tests, test.id, results)[2]]
    counts[kind] ??= {}
    counts[kind][word] = (counts[kind][word] ?? 0) + 1
    if (kind === 'required' && !['pass', 'untested'].includes(word)) failed[test.id] = `${word}: ${results[test.id]?.[1]}`
  }
}
console.log(JSON.stringify({ counts, failed }))
