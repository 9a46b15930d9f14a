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
