// What the page measures of itself once it is laid out: a list of complaints, empty if all is well.
() => {
  const complaints = [];
  const say = text => { if (complaints.length < 20 && !complaints.includes(text)) complaints.push(text); };
  const shown = e => e.checkVisibility() && e.getClientRects().length > 0;
  const short = e => e.textContent.trim().slice(0, 40);

  // --- Colours, by WCAG's definition of contrast
  const channels = color => (color.match(/[\d.]+/g) || []).map(Number);
  const luminance = color => {
    const [r, g, b] = channels(color).map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const background = e => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if ((channels(color)[3] ?? 1) > 0.99) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const require_contrast = (least, color, paper, what) => {
    const c = contrast(color, paper);
    if (c < least) say(`contrast ${c.toFixed(2)} < ${least}: ${what}: ${color} on ${paper}`);
  };

  // --- Width and text
  const least_size = matchMedia('print').matches ? 9 : 11;  // px
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) say(`the page is ${root.scrollWidth} wide in a window of ${innerWidth}`);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.data.trim() || !shown(e) || e.closest('svg')) continue;
    const size = parseFloat(getComputedStyle(e).fontSize);
    if (size < least_size) say(`text of ${size} px: ${short(e)}`);
    require_contrast(4.5, getComputedStyle(e).color, background(e), short(e));
  }

  // --- Charts
  const charts = [...document.querySelectorAll('figure svg')].filter(shown);
  const figures = document.querySelectorAll('figure');
  if (charts.length !== figures.length) say(`${charts.length} drawings are shown of ${figures.length} charts`);
  for (const figure of figures) {
    if (!figure.querySelector('figcaption h3') || !figure.querySelector('table td')) say('a chart without title or numbers');
  }
  for (const svg of charts) {
    const title = svg.closest('figure').querySelector('h3').textContent;
    const frame = svg.getBoundingClientRect();
    const paper = getComputedStyle(svg.querySelector('.paper')).fill;
    if (svg.getAttribute('role') !== 'img' || (svg.getAttribute('aria-label') || '').length < 30)
      say(`${title}: no text says what is drawn`);
    if (!(frame.width > 280 && frame.height > 100) ||
        ![...svg.querySelectorAll('polyline,g>rect')].some(p => p.getBoundingClientRect().width > 40))
      say(`${title}: nothing is drawn`);
    const texts = [...svg.querySelectorAll('text')].map(e => ({e, box: e.getBoundingClientRect()}));
    for (const {e, box} of texts) {
      const m = e.getScreenCTM(), size = parseFloat(getComputedStyle(e).fontSize) * Math.sqrt(Math.abs(m.a * m.d - m.b * m.c));
      if (size < least_size) say(`${title}: text of ${size.toFixed(1)} px: ${short(e)}`);
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        say(`${title}: text is cut: ${short(e)}`);
      if (e.classList.contains('ink')) require_contrast(4.5, getComputedStyle(e).fill, paper, `${title}: ${short(e)}`);
    }
    for (let i = 0; i < texts.length; ++i) {
      for (let j = 0; j < i; ++j) {
        const a = texts[i].box, b = texts[j].box;
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
          say(`${title}: '${short(texts[i].e)}' lies on '${short(texts[j].e)}'`);
      }
    }
    for (const mark of svg.querySelectorAll('g[color]')) require_contrast(3, getComputedStyle(mark).color, paper, `${title}: a mark`);
    for (const line of svg.querySelectorAll('.axis')) require_contrast(3, getComputedStyle(line).stroke, paper, `${title}: an axis`);
    for (const text of svg.querySelectorAll('.on-bar')) {
      const bar = [...svg.querySelectorAll('g>rect')].find(r => {
        const a = r.getBoundingClientRect(), b = text.getBoundingClientRect();
        return Math.abs((a.top + a.bottom) - (b.top + b.bottom)) < 8 && a.left <= b.left && b.right <= a.right + 1;
      });
      if (!bar) say(`${title}: '${short(text)}' is on no bar`);
      else require_contrast(4.5, getComputedStyle(text).fill, getComputedStyle(bar).fill, `${title}: ${short(text)}`);
    }
    // Curves differ by dashes and by the shape of their marks.
    const looks = [...svg.querySelectorAll('polyline')].filter(p => p.parentElement.querySelector('.halo')).map(p =>
      p.getAttribute('stroke-dasharray') + '|' + (p.parentElement.querySelector('path.halo')?.getAttribute('d') ?? 'circle'));
    for (const part of [0, 1]) {
      const those = looks.map(l => l.split('|')[part]);
      if (new Set(those).size < those.length) say(`${title}: two curves differ by colour alone`);
    }
  }

  // --- Headers stay in sight
  for (const table of document.querySelectorAll('table')) {
    if (!shown(table) || matchMedia('print').matches) continue;
    const box = table.parentElement, head = table.tHead.rows[0].cells[0];
    const scrolls = getComputedStyle(box).overflowY === 'auto';
    if (scrolls ? box.scrollHeight < box.clientHeight + 60 : table.offsetHeight < innerHeight) continue;
    if (scrolls) box.scrollTop = (box.scrollHeight - box.clientHeight) / 2;
    else scrollTo(0, table.getBoundingClientRect().top + scrollY + table.offsetHeight / 2);
    const off = head.getBoundingClientRect().top - (scrolls ? box.getBoundingClientRect().top : 0);
    if (Math.abs(off) > 2) say(`the header of '${short(table.caption)}' is ${off.toFixed(0)} px from where it should stick`);
    if (scrolls) box.scrollTop = 0; else scrollTo(0, 0);
  }
  for (const table of document.querySelectorAll('table')) {
    if (!table.caption || [...table.querySelectorAll('th')].some(h => !h.scope)) say('a table without caption or scope');
  }
  if (performance.getEntriesByType('resource').length) say('something was loaded');
  return complaints;
}
