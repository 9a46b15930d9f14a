"""Opens pages in headless Chromium through chromedriver and writes down what a reader finds: with pointer, with keys alone, on a
narrow screen, in the dark, on paper, and to a screen reader. Times are only ever given as a ratio to an empty page.

    browse.py read PAGE     every line below          browse.py inert PAGE     hostile names do nothing
    browse.py speed PAGE    load time against an empty page
"""
import base64
import json
import os
import re
import sys

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def start():
    o = Options()
    for a in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-extensions', '--no-first-run',
              '--window-size=1280,1000', '--user-data-dir=' + os.path.abspath('profile')):
        o.add_argument(a)
    o.binary_location = os.environ['BROWSER']
    o.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    return webdriver.Chrome(service=Service(os.environ['DRIVER']), options=o)


def say(what, value):
    print('%s: %s' % (what, ('no', 'yes')[value] if isinstance(value, bool) else value), flush=True)


def media(d, **features):
    d.execute_cdp_cmd('Emulation.setEmulatedMedia', {
        'media': features.pop('media', ''),
        'features': [{'name': k.replace('_', '-'), 'value': v} for k, v in features.items()]})


def width(d, px):
    d.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {'width': px, 'height': 900, 'deviceScaleFactor': 1, 'mobile': False})


LOW_CONTRAST = """
const luminance = (c) => { const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const parse = (css) => css.match(/[\\d.]+/g).map(Number);
const behind = (el) => { for (; el; el = el.parentElement) { const c = parse(getComputedStyle(el).backgroundColor);
  if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
const ratio = (a, b) => { const x = luminance(a), y = luminance(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
let seen = 0; const low = new Set();
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let n; (n = walk.nextNode());) {
  const el = n.parentElement, style = getComputedStyle(el);
  if (!n.data.trim() || !el.getClientRects().length || el.closest('script, style, .skip')) continue;
  const inked = el.closest('svg') ? parse(style.fill) : parse(style.color);
  if (el.closest('svg') && onBar(el)) continue;
  seen++;
  if (ratio(inked.slice(0, 3), behind(el)) < 4.5) low.add(el.tagName + '.' + (el.className.baseVal ?? el.className));
}
function onBar(text) { /* a number inside a coloured bar is held against the bar */
  const box = text.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
  let bar = null;
  for (const p of text.closest('svg').querySelectorAll('polygon')) {
    const b = p.getBoundingClientRect();
    if (b.left <= box.left && b.right >= box.right && b.top <= y && b.bottom >= y && p.isPointInFill(local(p, x, y))) bar = p;
  }
  if (!bar) return false;
  seen++;
  const o = Number(getComputedStyle(bar).fillOpacity), under = behind(text.closest('.plot'));
  const fill = parse(getComputedStyle(bar).fill).slice(0, 3).map((v, i) => o * v + (1 - o) * under[i]);
  if (ratio(parse(getComputedStyle(text).fill).slice(0, 3), fill) < 4.5) low.add('on a bar: ' + text.textContent);
  return true;
}
function local(p, x, y) { return new DOMPoint(x, y).matrixTransform(p.getScreenCTM().inverse()); }
return [seen > 100, Array.from(low).sort().join(' ') || 'none'];
"""


def contrast(d):
    many, low = d.execute_script(LOW_CONTRAST)
    say('many texts looked at', many)
    say('texts under 4.5:1', low)


def plots_in_ink(d):
    return d.execute_script("return getComputedStyle(document.querySelector('svg text').parentElement).fill === getComputedStyle(document.body).color")


def table(d, caption):
    return next(t for t in d.find_elements(By.CSS_SELECTOR, '.scroll > table')
                if d.execute_script('return arguments[0].caption.textContent', t) == caption)


def column(d, t, i):
    return d.execute_script('return Array.from(arguments[0].tBodies[0].rows, (r) => r.hidden ? null : r.cells[arguments[1]].textContent.trim())'
                            '.filter((x) => x !== null)', t, i)


def numbers(texts):
    return [float(t.replace(',', '')) for t in texts]


def heading(d, t, start_of):
    heads = d.execute_script('return Array.from(t.tHead.rows[0].cells)'.replace('t.', 'arguments[0].', 1), t)
    i = next(k for k, h in enumerate(heads) if h.text.replace('\n', ' ').startswith(start_of))
    return i, heads[i]


def sorting(d):
    t = table(d, 'By name')
    i, head = heading(d, t, 'calls before')
    button = head.find_element(By.TAG_NAME, 'button')
    button.click()
    v = numbers(column(d, t, i))
    say('a click sorts down', v == sorted(v, reverse=True) and len(set(v)) > 1 and head.get_attribute('aria-sort'))
    button.send_keys(Keys.ENTER)
    v = numbers(column(d, t, i))
    say('enter sorts up', v == sorted(v) and head.get_attribute('aria-sort'))
    _, names = heading(d, t, 'name')
    names.find_element(By.TAG_NAME, 'button').send_keys(Keys.SPACE)
    v = column(d, t, 0)
    say('space sorts names', v == sorted(v) and names.get_attribute('aria-sort'))
    say('sorted columns', len(t.find_elements(By.CSS_SELECTOR, 'th[aria-sort]')))


def filtering(d):
    t = table(d, 'By name')
    box = d.execute_script("return arguments[0].parentElement.previousElementSibling.querySelector('input')", t)
    every = len(column(d, t, 0))
    box.send_keys('gemm_KERNEL_07')
    say('the filter leaves', ' '.join(column(d, t, 0)))
    box.send_keys(Keys.CONTROL, 'a')
    box.send_keys(Keys.DELETE)
    say('emptied, it leaves all', len(column(d, t, 0)) == every)


def stacks(d):
    fold = next(x for x in d.find_elements(By.TAG_NAME, 'details') if x.find_element(By.TAG_NAME, 'summary').text == 'Wait ledger by stack')
    fold.find_element(By.TAG_NAME, 'summary').click()
    stack = fold.find_element(By.CSS_SELECTOR, '.stack')
    say('a stack shows', stack.text.replace('\u203a', '>'))
    stack.find_element(By.TAG_NAME, 'summary').send_keys(Keys.ENTER)
    say('opened', ' | '.join(li.text for li in stack.find_elements(By.TAG_NAME, 'li')))


def links(d):
    say('a place leads to', d.execute_script("return document.querySelector('td a[href], th a[href]')?.getAttribute('href') ?? 'nowhere'"))


AXIS = """return Array.from(arguments[0].querySelectorAll('text'), (t) => t.textContent.trim()).filter((t) => t !== '' && !isNaN(t)).join(' ')"""
DRAWN = """return Array.from(arguments[0].querySelectorAll('polygon')).pop().getAttribute('points')"""


def numbers_of(points):
    return [float(x) for x in re.findall(r'-?[\d.]+', points)]


def zooming(d):
    plot = d.find_element(By.CSS_SELECTOR, '#timeline ~ figure .plot')
    bar = plot.find_element(By.XPATH, 'preceding-sibling::*[1]')
    axis = lambda: d.execute_script(AXIS, plot)
    all_, drawn = axis(), d.execute_script(DRAWN, plot)
    d.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    say('axis', all_)
    plot.send_keys('+')
    say('key +', axis())
    say('drawn anew', d.execute_script(DRAWN, plot) != drawn)
    plot.send_keys(Keys.ARROW_RIGHT)
    say('key right', axis())
    plot.send_keys('-')
    plot.send_keys('0')
    say('key 0', axis() == all_ and numbers_of(d.execute_script(DRAWN, plot)) == numbers_of(drawn))
    ActionChains(d).double_click(plot).perform()
    say('double click zooms', plot.get_attribute('data-zoom'))
    was = axis()
    ActionChains(d).move_to_element(plot).click_and_hold().move_by_offset(-120, 0).release().perform()
    moved = axis()
    say('dragged to the left it shows later times', float(moved.split()[0]) > float(was.split()[0]))
    plot.send_keys('0')
    box = plot.rect
    x, y = d.execute_script('const b = arguments[0].getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]', plot)
    wheel = {'type': 'mouseWheel', 'x': x, 'y': y, 'deltaX': 0, 'deltaY': -100}
    d.execute_cdp_cmd('Input.dispatchMouseEvent', dict(wheel, modifiers=2))
    say('ctrl and wheel zooms', float(plot.get_attribute('data-zoom')) > 1 and box['width'] > 0)
    plot.send_keys('0')
    d.execute_cdp_cmd('Input.dispatchMouseEvent', wheel)
    say('the wheel alone does not', plot.get_attribute('data-zoom') == '1')
    d.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    for button in bar.find_elements(By.TAG_NAME, 'button'):
        button.click()
        say('button ' + button.get_attribute('aria-label'), plot.get_attribute('data-zoom'))


def keyboard(d):
    """Tab from the top: every control is reached once, in the order of the page, and shows that it has the focus."""
    d.get(d.current_url.split('#')[0])
    d.execute_script("""window.stops = []; document.addEventListener('focusin', (e) => {
        const s = getComputedStyle(e.target); stops.push([e.target, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]); });""")
    wanted = d.execute_script("""return Array.from(document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]'))
        .filter((e) => e.getClientRects().length && e.checkVisibility()).length""")
    ActionChains(d).send_keys(*[Keys.TAB] * wanted).perform()
    got, ordered, shown, first = d.execute_script("""const e = stops.map((s) => s[0]);
        return [new Set(e).size, e.every((x, i) => !i || (e[i - 1].compareDocumentPosition(x) & 4)), stops.every((s) => s[1]), e[0].textContent]""")
    say('every control is reached by tab, in order', got == wanted and ordered)
    say('each shows the focus', shown)
    say('the first is', first)
    d.execute_script("document.querySelector('.skip').focus()")
    ActionChains(d).send_keys(Keys.ENTER).perform()
    say('it leads to', d.current_url.split('#')[-1])


def spoken(d):
    """What the accessibility tree says to a screen reader."""
    nodes = [n for n in d.execute_cdp_cmd('Accessibility.getFullAXTree', {})['nodes'] if not n.get('ignored')]
    role = lambda n: n.get('role', {}).get('value')
    name = lambda n: n.get('name', {}).get('value', '').strip()
    roles = [role(n) for n in nodes]
    say('landmarks', ' '.join(r for r in ('banner', 'navigation', 'main', 'contentinfo') if r in roles))
    for r in ('table', 'button', 'image', 'searchbox', 'region', 'link', 'columnheader'):
        of = [n for n in nodes if role(n) == r]
        say('without a name, of %s' % r, sum(not name(n) for n in of) if of else 'there is none')
    say('language', d.execute_script('return document.documentElement.lang'))


def narrow(d):
    for px in (375, 320):
        width(d, px)
        wide = d.execute_script("""return Array.from(document.querySelectorAll('body *')).filter((e) => !e.closest('.scroll, .plot, .skip')
            && e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.tagName + '.' + e.className).join(' ') || 'nothing'""")
        say('%d px, scrolls sideways' % px, d.execute_script('return document.documentElement.scrollWidth > innerWidth'))
        say('%d px, wider than the page' % px, wide)
    width(d, 1280)


def printed(d):
    width(d, 718)  # A4 within its margins
    media(d, media='print')
    say('on paper, wider than the page', d.execute_script("""return Array.from(document.querySelectorAll('table, svg, h2, p, li')).filter((e) =>
        e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.caption?.textContent ?? e.tagName).join(' | ') || 'nothing'"""))
    say('on paper, controls', d.execute_script("return Array.from(document.querySelectorAll('nav, .filter, .zoom')).some((e) => e.getClientRects().length)"))
    media(d)
    pdf = base64.b64decode(d.execute_cdp_cmd('Page.printToPDF', {})['data'])
    say('pdf', pdf[:5] == b'%PDF-' and len(re.findall(rb'/Type\s*/Page\b', pdf)) > 1)
    width(d, 1280)


def dark(d):
    for scheme in ('light', 'dark'):
        media(d, prefers_color_scheme=scheme)
        say('scheme', scheme)
        say('paper is dark', d.execute_script("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((v) => v < 64)"))
        contrast(d)
        say('plots are in the ink of the page', plots_in_ink(d))
    media(d)


def unscripted(d):
    d.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', {'value': True})
    d.refresh()
    texts = d.find_element(By.TAG_NAME, 'main').text
    say('without scripts: verdict, plots, tables', 'VERDICT' in texts.upper() and len(d.find_elements(By.CSS_SELECTOR, 'figure svg')) > 3 and 'By name' in texts)
    d.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', {'value': False})
    d.refresh()


def silence(d, page):
    say('console', '; '.join(x['message'] for x in d.get_log('browser')) or 'silent')
    urls = set()
    for x in d.get_log('performance'):
        m = json.loads(x['message'])['message']
        if m['method'] == 'Network.requestWillBeSent' and m['params']['documentURL'].split('#')[0] == page:  # not the browser's own first tab
            urls.add(m['params']['request']['url'].split('#')[0])
    say('asked for anything but the page', ' '.join(sorted(u for u in urls if u != page)) or 'no')


def inert(d):
    say('elements out of names', d.execute_script("return document.querySelectorAll('img, iframe, object, embed, link, base, form, body script ~ script').length"))
    say('scripts and styles', d.execute_script("return [document.scripts.length, document.querySelectorAll('style').length].join(' ')"))
    say('handlers', d.execute_script("""return Array.from(document.querySelectorAll('*')).filter((e) =>
        Array.from(e.attributes).some((a) => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value))).length"""))
    say('a script ran', d.execute_script('return !!window.pwned'))
    say('the name is there, as text', d.execute_script("return document.body.textContent.includes('<script>pwned=1</script>')"))
    say('direction marks', d.execute_script(r"return /[\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.outerHTML) ? 'act' : 'are spelled out'"))
    say('longest run of one name, shown', d.execute_script(
        "return Math.max(...Array.from(document.querySelectorAll('td, th, text'), (e) => e.textContent.length)) <= 400"))
    say('width', d.execute_script('return document.documentElement.scrollWidth <= innerWidth'))


LOADED = 'const n = performance.getEntriesByType("navigation")[0]; return n.domComplete - n.startTime'


def speed(d, page):
    """Smallest of several loads each, taken in turn: the page against an empty one."""
    open('empty.html', 'w').write('<!DOCTYPE html><title>empty</title>')
    best = {}
    for _ in range(5):
        for url in ('file://' + os.path.abspath('empty.html'), page):
            d.get(url)
            best[url] = min(best.get(url, 1e9), d.execute_script(LOADED))
    empty, full = best['file://' + os.path.abspath('empty.html')], best[page]
    print('loaded in %.0f ms, an empty page in %.0f ms' % (full, empty), file=sys.stderr)
    say('ready within 20 times an empty page', full <= 20 * max(empty, 5))


def main():
    what, page = sys.argv[1], 'file://' + os.path.abspath(sys.argv[2])
    d = start()
    try:
        if what == 'speed':
            speed(d, page)
            return
        width(d, 1280)
        d.get(page)
        if what == 'inert':
            inert(d)
        else:
            for part in (dark, sorting, filtering, stacks, links, zooming, keyboard, spoken, narrow, printed, unscripted):
                print('--- ' + part.__name__, flush=True)
                part(d)
        silence(d, page)
    finally:
        d.quit()


main()
