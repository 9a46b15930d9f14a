"""Prints what a reader of a report sees first, and what a browser would do with it. Indented lines are content.
With captions behind the page's name: those tables, cell by cell."""
import base64
import hashlib
import html
import html.parser
import re
import sys


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.outside, self.handlers, self.at, self.text = {}, [], [], [], {}

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for k, v in attrs:
            if k.startswith('on'):
                self.handlers.append(k)
            if k in ('src', 'href', 'xlink:href', 'srcset', 'action', 'data') and not (v or '').startswith('#'):
                self.outside.append((tag, k))
        if tag in ('h1', 'h2', 'caption', 'li', 'p'):
            self.at.append(tag)
            self.text.setdefault(tag, []).append('')

    def handle_endtag(self, tag):
        if self.at and self.at[-1] == tag:
            self.at.pop()

    def handle_data(self, data):
        if self.at:
            self.text[self.at[-1]][-1] += data


def table(raw, caption):
    start = raw.index('<caption>' + caption + '</caption>')
    for row in re.findall('<tr>(.*?)</tr>', raw[start:raw.index('</table>', start)], re.S):
        cells = re.findall('<t[hd][^>]*>(.*?)</t[hd]>', row, re.S)
        print('  ' + ' | '.join(html.unescape(re.sub('<[^>]*>', '', re.sub('<(summary|li)>', r' [\1] ', c))) for c in cells))


path = sys.argv[1]
raw = open(path, encoding='utf-8').read()
if len(sys.argv) > 2:
    for name in sys.argv[2:]:
        print(name)
        table(raw, name)
    sys.exit()
p = Page()
p.feed(raw)
verdict = raw[raw.index('class="verdict'):raw.index('</section>')]
v = Page()
v.feed('<section ' + verdict)
for line in v.text['p'] + v.text['h2'] + v.text.get('li', []):
    print('  ' + line)
for name in ('h2', 'caption'):
    print('  ' + name + ': ' + ' | '.join(t for t in p.text[name] if t not in v.text['h2']))
print('outside references', p.outside, 'handlers', p.handlers, 'scripts', p.tags['script'], 'styles', p.tags['style'])
print('closing tags of styles and scripts match', len(re.findall('</style', raw, re.I)) == p.tags['style'], len(re.findall('</script', raw, re.I)) == p.tags['script'])
print('loose direction marks', any(ord(c) in range(0x202A, 0x202F) or ord(c) in range(0x2066, 0x206A) for c in raw))
print('headers with scope', len(re.findall('<th scope=', raw)) == p.tags['th'], 'landmarks', all(p.tags.get(t) for t in ('header', 'nav', 'main', 'footer')))
script = raw[raw.index('<script>') + 8:raw.index('</script>')].encode()
print('the policy lets exactly this script run', 'sha256-' + base64.b64encode(hashlib.sha256(script).digest()).decode() in raw)
print('under 2 MB', len(raw) < 2_000_000)
