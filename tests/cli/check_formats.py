"""Holds the gate's outputs against what their readers accept: check_formats.py FOLDER_OF_SCHEMAS NAME...
NAME.sarif against a JSON schema (the few words of JSON Schema that it uses), NAME.md against the grammar of pipe tables of GitHub's markdown,
NAME.github against that of workflow commands, NAME.junit's counts against its cases (its form is xmllint's business)."""
import json
import re
import sys
import xml.etree.ElementTree as ET

KINDS = {'object': dict, 'array': list, 'string': str, 'integer': int}


def schema(v, s, defs, at):
    """Every way in which v is not what s says."""
    if '$ref' in s:
        yield from schema(v, defs[s['$ref']], defs, at)
        return
    if 'enum' in s and v not in s['enum']:
        yield '%s: %r is none of %s' % (at, v, s['enum'])
    if 'type' in s and (not isinstance(v, KINDS[s['type']]) or isinstance(v, bool)):
        yield '%s: not of type %s' % (at, s['type'])
        return
    if isinstance(v, str) and (len(v) < s.get('minLength', 0) or not re.search(s.get('pattern', ''), v)):
        yield '%s: %r is too short or of another form' % (at, v)
    if isinstance(v, int) and v < s.get('minimum', v):
        yield '%s: %d is under %d' % (at, v, s['minimum'])
    if isinstance(v, list):
        if len(v) < s.get('minItems', 0) or s.get('uniqueItems') and len({json.dumps(x) for x in v}) < len(v):
            yield '%s: too few, or twice the same' % at
        for i, x in enumerate(v):
            yield from schema(x, s.get('items', {}), defs, '%s[%d]' % (at, i))
    if isinstance(v, dict):
        for k in s.get('required', []):
            if k not in v:
                yield '%s: %s is wanted' % (at, k)
        for k, x in v.items():
            if k in s.get('properties', {}):
                yield from schema(x, s['properties'][k], defs, at + '.' + k)
            elif s.get('additionalProperties') is False:
                yield '%s: %s is not known' % (at, k)


def sarif(text, folder):
    s = json.load(open(folder + '/sarif-2.1.0.subset.json'))
    v = json.loads(text)
    yield from schema(v, s, s['definitions'], 'sarif')
    for run in v['runs']:  # what a schema cannot say
        rules = run['tool']['driver'].get('rules', [])
        for r in run['results']:
            if rules[r['ruleIndex']]['id'] != r['ruleId']:
                yield 'sarif: ruleIndex is not that of ruleId'
            if r['kind'] != 'fail' and r['level'] != 'none':
                yield 'sarif: a level without a failure (3.27.10)'
            for place in r['locations']:
                where = place['physicalLocation']['artifactLocation']
                if where['uri'].startswith('file:') and 'uriBaseId' in where:
                    yield 'sarif: an absolute address has no base (3.4.4)'


def markdown(text, folder):
    """Tables: a row of heads, a row of dashes, rows of as many cells. Outside of them: text, where nothing is markup but our own."""
    cells = lambda line: re.findall(r'\|((?:[^|\\]|\\.)*)(?=\|)', line)
    lines = text.split('\n')
    tables = 0
    for i, line in enumerate(lines):
        if re.fullmatch(r'\|( -{3}| -{3}:)( \|( -{3}| -{3}:))* \|', line):
            tables += 1
            n = len(cells(line))
            rows = [lines[i - 1]]
            while i + 1 < len(lines) and lines[i + 1].startswith('|'):
                i += 1
                rows.append(lines[i])
            for row in rows:
                if len(cells(row)) != n or not row.endswith('|'):
                    yield 'markdown: %d cells wanted: %s' % (n, row)
        elif line.startswith('|') and not re.match(r'\| -{3}', line) and not any(lines[k].startswith('| ---') for k in (i + 1, i - 1)) \
                and not lines[i - 1].startswith('|'):
            yield 'markdown: a row outside of a table: ' + line
        if re.search(r'[<>`\[\]~@]|[\x00-\x08\x0b-\x1f\x7f]|(^|\s)#', line):
            yield 'markdown: markup in a name: ' + line
    if not tables:
        yield 'markdown: no table'


def github(text, folder):
    escaped = r'(?:[^%\r\n:,]|%[0-9A-F]{2})'
    for line in text.split('\n')[:-1]:
        if not re.fullmatch(r'::(error|warning|notice) (file=%s+,line=[1-9][0-9]*,)?title=%s+::(?:[^%%\r\n]|%%[0-9A-F]{2})+' % (escaped, escaped), line):
            yield 'github: not a workflow command: ' + line
    if not text.endswith('\n'):
        yield 'github: the last line does not end'


def junit(text, folder):
    for suite in [ET.fromstring(text), *ET.fromstring(text).iter('testsuite')]:
        for kind, tag in (('tests', 'testcase'), ('failures', 'failure'), ('errors', 'error')):
            if int(suite.get(kind)) != len(list(suite.iter(tag))):
                yield 'junit: %s=%s, but there are %d' % (kind, suite.get(kind), len(list(suite.iter(tag))))


bad = 0
for name in sys.argv[2:]:
    for check, suffix in ((sarif, 'sarif'), (markdown, 'md'), (github, 'github'), (junit, 'junit')):
        for what in check(open('%s.%s' % (name, suffix), encoding='utf-8', newline='').read(), sys.argv[1]):
            print('%s: %s' % (name, what))
            bad += 1
print('%d outputs, %d complaints' % (4 * len(sys.argv[2:]), bad))
