'use strict';
/* Opens page.html in a frame and writes down what a reader would find: run with --allow-file-access-from-files --dump-dom. */
const lines = [];
const say = (what, value) => lines.push(what + ': ' + value);

const luminance = (rgb) => {
  const [r, g, b] = rgb.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const parse = (css) => css.match(/[\d.]+/g).map(Number);
const background = (win, el) => {
  for (; el; el = el.parentElement) {
    const c = parse(win.getComputedStyle(el).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c.slice(0, 3);
  }
  return [255, 255, 255];
};
const contrast = (win, el) => {
  const a = luminance(parse(win.getComputedStyle(el).color).slice(0, 3));
  const b = luminance(background(win, el));
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};

const column = (table, index) => Array.from(table.tBodies[0].rows, (r) => r.cells[index].textContent.trim());
const sorted = (values, down) => values.every((v, i) => !i || (down ? values[i - 1] >= v : values[i - 1] <= v));
const numbers = (table, index) => column(table, index).map((t) => Number(t.replace(/,/g, '')));

const sorting = (doc) => {
  const table = Array.from(doc.querySelectorAll('.scroll > table')).find((t) => t.caption.textContent === 'By name');
  const head = Array.from(table.tHead.rows[0].cells);
  const index = head.findIndex((h) => h.textContent.startsWith('calls before'));
  const button = head[index].querySelector('button');
  button.focus();
  say('a heading takes the keyboard', doc.activeElement === button);
  button.click();
  say('first click sorts down', sorted(numbers(table, index), true) && head[index].getAttribute('aria-sort'));
  button.click();
  say('second click sorts up', sorted(numbers(table, index), false) && head[index].getAttribute('aria-sort'));
  head[0].querySelector('button').click();
  say('names sort up', sorted(column(table, 0), false) && head[0].getAttribute('aria-sort'));
  say('one column says it is sorted', head.filter((h) => h.hasAttribute('aria-sort')).length);
};

const filtering = (win, doc) => {
  const input = doc.querySelector('.filter input');
  const rows = Array.from(input.parentElement.nextElementSibling.querySelector('table').tBodies[0].rows);
  input.value = 'GEMM_kernel_07';
  input.dispatchEvent(new win.Event('input'));
  say('filter leaves', rows.filter((r) => r.getClientRects().length).map((r) => r.cells[0].textContent).join(' '));
  input.value = '';
  input.dispatchEvent(new win.Event('input'));
  say('no filter leaves all', rows.every((r) => r.getClientRects().length));
};

const zooming = (win, doc) => {
  const plot = doc.querySelector('#timeline ~ figure .plot');
  const shape = Array.from(plot.querySelectorAll('polygon')).pop();
  const before = shape.getAttribute('points');
  const press = (key) => plot.dispatchEvent(new win.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const axis = () => Array.from(plot.querySelectorAll('text'), (t) => t.textContent.trim()).filter((t) => t !== '' && !isNaN(t)).join(' ');
  say('axis', axis());
  press('+');
  say('twice as large', axis());
  say('drawn anew', shape.getAttribute('points') !== before);
  press('ArrowRight');
  say('moved right', axis());
  press('0');
  say('all again', axis());
  say('as before', JSON.stringify(shape.getAttribute('points').match(/[\d.]+/g).map(Number)) === JSON.stringify(before.match(/[\d.]+/g).map(Number)));
  plot.parentElement.querySelector('.zoom button').click();
  say('a button zooms', plot.dataset.zoom);
};

const narrow = (win, doc) => {
  const wide = Array.from(doc.querySelectorAll('body *')).filter((el) => !el.closest('.scroll, .plot, .skip') && el.getBoundingClientRect().right > win.innerWidth + 0.5);
  say('width', win.innerWidth);
  say('page scrolls sideways', doc.documentElement.scrollWidth > win.innerWidth);
  say('wider than the page', wide.map((el) => el.tagName + '.' + el.className).join(' ') || 'nothing');
  say('tables in a box of their own', Array.from(doc.querySelectorAll('table')).every((t) => win.getComputedStyle(t.parentElement).overflowX === 'auto'));
};

const reading = (win, doc) => {
  say('dark', win.matchMedia('(prefers-color-scheme: dark)').matches);
  const texts = 'h1,h2,p,li,th,td,a,figcaption,caption,summary,label,.word,.notes li';
  const low = Array.from(doc.querySelectorAll(texts)).filter((el) => el.getClientRects().length && contrast(win, el) < 4.5);
  say('texts under 4.5:1', low.map((el) => el.tagName + '.' + el.className).join(' ') || 'none');
  const ink = win.getComputedStyle(doc.querySelector('svg text').parentElement).fill;
  say('plots are in the ink of the page', ink === win.getComputedStyle(doc.body).color);
  say('verdict before any table', !!(doc.querySelector('.verdict').compareDocumentPosition(doc.querySelector('table')) & 4));
  say('links lead to sections', Array.from(doc.querySelectorAll('nav a')).every((a) => doc.getElementById(a.getAttribute('href').slice(1))));
  say('ids are unique', new Set(Array.from(doc.querySelectorAll('[id]'), (e) => e.id)).size === doc.querySelectorAll('[id]').length);
  const fold = doc.querySelector('details');
  fold.querySelector('summary').click();
  say('a fold opens', fold.open);
  say('loaded from elsewhere', win.performance.getEntriesByType('resource').length);
};

const frame = (width, then) => {
  const f = document.createElement('iframe');
  f.style.cssText = 'width:' + width + 'px;height:900px;border:0';
  f.src = 'page.html';
  f.addEventListener('load', () => {
    const win = f.contentWindow;
    const errors = [];
    win.addEventListener('error', (e) => errors.push(e.message));
    f.contentDocument.addEventListener('securitypolicyviolation', (e) => errors.push(e.violatedDirective));
    then(win, f.contentDocument);
    say('errors', errors.join(' ') || 'none');
    f.remove();
  }, { once: true });
  document.body.append(f);
};

frame(1280, (win, doc) => {
  reading(win, doc);
  sorting(doc);
  filtering(win, doc);
  zooming(win, doc);
  frame(375, (w, d) => {
    narrow(w, d);
    setTimeout(() => { document.getElementById('out').textContent = lines.join('\n'); document.title = 'done'; }, 0);
  });
});
