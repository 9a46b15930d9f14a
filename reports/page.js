'use strict';
/* Sorting by heading and a filter for long tables. The page is whole without it. */
(() => {
  const scale = { ns: 1e-9, us: 1e-6, ms: 1e-3 };
  const number = (s) => {
    const t = s.trim().replace(/,/g, '');
    if (t === '-') return null;
    const m = t.match(/^([<>]?)([-+]?[\d.]+(?:e[-+]?\d+)?)(?: (ns|us|ms|s|%|points))?$/);
    return m ? Number(m[2]) * (m[1] ? 0.5 : 1) * (scale[m[3]] || 1) : t;
  };
  const compare = (a, b, down) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const c = typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
    return down ? -c : c;
  };
  const sort = (table, th) => {
    const down = th.getAttribute('aria-sort') !== 'descending' && (th.classList.contains('n') || th.getAttribute('aria-sort') === 'ascending');
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, i) => ({ row, i, key: number(row.cells[th.cellIndex].textContent) }));
    rows.sort((x, y) => compare(x.key, y.key, down) || x.i - y.i);
    for (const h of table.tHead.rows[0].cells) h.removeAttribute('aria-sort');
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    body.append(...rows.map((r) => r.row));
  };
  const filter = (table, box) => {
    const label = document.createElement('label');
    const input = document.createElement('input');
    label.className = 'filter';
    label.textContent = 'Filter';
    input.type = 'search';
    input.setAttribute('aria-label', 'Filter the rows of: ' + table.caption.textContent);
    label.append(input);
    box.before(label);
    input.addEventListener('input', () => {
      const want = input.value.toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(want);
    });
  };
  for (const table of document.querySelectorAll('.scroll > table')) {
    const rows = table.tBodies[0].rows;
    if (rows.length < 2) continue;
    for (const th of table.tHead.rows[0].cells) {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener('click', () => sort(table, th));
    }
    if (rows.length > 16) filter(table, table.parentElement);
  }
})();
/* The timeline zooms: keys + - 0 and arrows, buttons, double click, ctrl and wheel; dragging moves it. The drawn points are
 * moved along the axis and the axis is numbered anew. */
(() => {
  const pairs = (text) => (text.match(/-?[\d.]+,-?[\d.]+/g) || []).map((p) => p.split(',').map(Number));
  const zoomable = (plot) => {
    const svg = plot.querySelector('svg');
    const frame = Array.from(svg.querySelectorAll('path'), (p) => pairs(p.getAttribute('d'))).flat();
    const tics = Array.from(svg.querySelectorAll('text')).filter((t) => t.textContent.trim() !== '' && !isNaN(t.textContent) && t.parentNode.previousElementSibling)
      .map((text) => ({ text, x: pairs(text.parentNode.getAttribute('transform'))[0][0], value: Number(text.textContent) }));
    if (tics.length < 2 || !frame.length) return;
    const left = Math.min(...frame.map((p) => p[0])), right = Math.max(...frame.map((p) => p[0])), top = Math.min(...frame.map((p) => p[1]));
    const perPixel = (tics[1].value - tics[0].value) / (tics[1].x - tics[0].x);
    const shapes = Array.from(svg.querySelectorAll('polygon'), (shape) => ({ shape, points: pairs(shape.getAttribute('points')) }))
      .filter((s) => s.points.some((p) => p[1] > top));
    let times = 1, from = left;
    const show = () => {
      from = Math.max(left, Math.min(from, right - (right - left) / times));
      const place = (x) => Math.max(left, Math.min(right, left + (x - from) * times)).toFixed(2);
      for (const s of shapes) s.shape.setAttribute('points', s.points.map((p) => place(p[0]) + ',' + p[1]).join(' '));
      for (const t of tics) t.text.textContent = Number((t.value + ((from - left) - (t.x - left) * (1 - 1 / times)) * perPixel).toPrecision(4));
      plot.dataset.zoom = times;
      plot.style.cursor = times > 1 ? 'grab' : '';
    };
    const zoom = (by, at) => {
      const share = (at - left) / (right - left), held = from + share * (right - left) / times;
      times = Math.max(1, Math.min(64, times * by));
      from = held - share * (right - left) / times;
      show();
    };
    const middle = (left + right) / 2;
    const move = (share) => { from += share * (right - left) / times; show(); };
    const all = () => { times = 1; show(); };
    const at = (e) => (e.clientX - svg.getBoundingClientRect().left) * svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
    const keys = { '+': () => zoom(2, middle), '=': () => zoom(2, middle), '-': () => zoom(0.5, middle), 0: all, ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) };
    plot.addEventListener('keydown', (e) => {
      if (!Object.hasOwn(keys, e.key) || e.ctrlKey || e.altKey || e.metaKey || (times === 1 && e.key.startsWith('Arrow'))) return;
      e.preventDefault();
      keys[e.key]();
    });
    plot.addEventListener('dblclick', (e) => zoom(2, at(e)));
    plot.addEventListener('wheel', (e) => {
      if (!e.ctrlKey) return;
      e.preventDefault();
      zoom(e.deltaY < 0 ? 1.25 : 0.8, at(e));
    }, { passive: false });
    let last = null;
    plot.addEventListener('pointerdown', (e) => { last = times > 1 ? at(e) : null; });
    plot.addEventListener('pointermove', (e) => {
      if (last === null || !e.buttons) return;
      const now = at(e);
      from -= (now - last) / times;
      last = now;
      show();
    });
    const bar = document.createElement('div');
    bar.className = 'zoom';
    bar.setAttribute('role', 'group');
    bar.setAttribute('aria-label', 'Zoom the timeline');
    for (const [word, name, act] of [['+', 'Zoom in', () => zoom(2, middle)], ['\u2212', 'Zoom out', () => zoom(0.5, middle)], ['\u2190', 'Earlier', () => move(-0.25)],
      ['\u2192', 'Later', () => move(0.25)], ['All', 'Show all', all]]) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = word;
      button.setAttribute('aria-label', name);
      button.addEventListener('click', act);
      bar.append(button);
    }
    plot.before(bar);
  };
  const head = document.getElementById('timeline');
  for (let el = head && head.nextElementSibling; el && el.tagName !== 'H2'; el = el.nextElementSibling)
    if (el.tagName === 'FIGURE') zoomable(el.querySelector('.plot'));
})();
