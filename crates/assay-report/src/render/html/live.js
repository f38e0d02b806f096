(() => {
  'use strict';
  const byId = id => document.getElementById(id);
  const say = (part, text) => { if (part.textContent !== text) part.textContent = text; };
  // The whole run in at most this many slots, each of as many points as it takes: memory does not grow with time.
  const SLOTS = 600, WIDE = 600, HIGH = 120, SVG = 'http://www.w3.org/2000/svg';
  const OPERATIONS = ['read', 'write', 'sync'];
  let slots = [], each = 1, first = null, last = null, isPaused = false, hasEnded = false, isDue = false;

  const count = value => Math.round(value).toLocaleString('en-US');
  const scaled = (value, units) => {
    const [factor, name] = units.find(([factor]) => Math.abs(value) >= factor * .9995) ?? units[units.length - 1];
    const shown = value / factor;
    return `${shown.toFixed(shown >= 99.95 || shown < 1e-9 ? 0 : shown >= 9.995 ? 1 : 2)} ${name}`;
  };
  // Of devices that others load the kernel keeps no quantiles.
  const time = ns => ns === 0 ? '–' : scaled(ns, [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']]);
  const throughput = bytes => scaled(bytes, [[2 ** 30, 'GiB/s'], [2 ** 20, 'MiB/s'], [1024, 'KiB/s'], [1, 'B/s']]);
  const percent = share => `${(100 * share).toFixed(share < .1 ? 2 : 0)}%`;
  const span = s => s < 99.5 ? `${Math.round(s)} s` : s < 5970 ? `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`
    : `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min`;

  // Parts of the page are made once and changed: what is thrown away, a browser gives back late.
  const table = point => {
    const body = byId('now');
    while (body.rows.length > point.operations.length) body.deleteRow(-1);
    point.operations.forEach((of, number) => {
      const row = body.rows[number] ?? body.insertRow();
      const cells = [of.operation, count(of.iops), throughput(of.bytes_per_s), ...of.service_time_ns.map(time), count(of.errors)];
      cells.forEach((text, index) => {
        const cell = row.cells[index] ?? row.appendChild(document.createElement(index ? 'td' : 'th'));
        if (index) cell.className = 'n'; else cell.scope = 'row';
        say(cell, text);
      });
    });
  };

  // The mean of rates, the highest of times, because quantiles have no mean.
  const joined = (one, other) => ({
    count: one.count + other.count,
    iops: one.iops.map((sum, index) => sum + other.iops[index]),
    high: one.high.map((time, index) => Math.max(time, other.high[index])),
    busy: one.busy + other.busy,
  });
  const slot = point => {
    const of = name => point.operations.find(each => each.operation === name);
    return {
      count: 1,
      iops: OPERATIONS.map(name => of(name)?.iops ?? 0),
      high: OPERATIONS.map(name => of(name)?.service_time_ns[1] ?? 0),
      busy: point.cpu_busy_share ?? 0,
    };
  };
  const keep = point => {
    const place = slots.length - 1;
    if (place >= 0 && slots[place].count < each) slots[place] = joined(slots[place], slot(point)); else slots.push(slot(point));
    [first, last] = [first ?? point, point];
    if (slots.length <= SLOTS) return;
    each *= 2;
    slots = slots.flatMap((one, index) => index % 2 ? [] : [slots[index + 1] ? joined(one, slots[index + 1]) : one]);
  };
  const highest = values => values.reduce((most, value) => Math.max(most, value), 0);

  const draw = (id, series, show) => {
    const lines = series.filter(([, values]) => values.some(value => value > 0));
    const most = highest(lines.map(([, values]) => highest(values)));
    const group = byId(id).querySelector('g');
    while (group.childElementCount > lines.length) group.lastElementChild.remove();
    lines.forEach(([name, values], number) => {
      const line = group.children[number] ?? group.appendChild(document.createElementNS(SVG, 'polyline'));
      const x = index => WIDE * index / Math.max(values.length - 1, 1), y = value => HIGH - 1 - (HIGH - 4) * value / (most || 1);
      line.setAttribute('points', values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' '));
      line.setAttribute('class', name);
    });
    say(byId(id).querySelector('title'), lines.map(([name]) => `${name}, from 0 to ${show(most)}`).join('; ') || 'nothing yet');
    say(byId(`${id}-most`), most ? `top: ${show(most)}` : '');
  };

  const show = () => {
    isDue = false;
    if (hasEnded || isPaused || !last) return;
    table(last);
    const of = value => OPERATIONS.map((name, index) => [name, slots.map(one => value(one, index))]);
    draw('rate', of((one, index) => one.iops[index] / one.count), value => `${count(value)}/s`);
    draw('p99', of((one, index) => one.high[index]), time);
    draw('busy', [['mix', slots.map(one => one.busy / one.count)]], percent);
    const joint = each > 1 ? `${each} intervals a point` : 'interval by interval';
    say(byId('span'), `${span(first.at_s)} to ${span(last.at_s)} of measured time; ${joint}`);
  };
  // A page that nobody sees is not drawn, and no faster than it can be seen.
  const due = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(show);
  };

  const take = event => {
    say(byId('subject'), event.subject || 'Nothing has begun yet');
    say(byId('doing'), event.doing || 'between two parts');
    say(byId('left'), event.left_s === null ? '' : `${span(event.left_s)} left`);
    byId('done').value = event.share;
    say(byId('cost'), `showing it costs ${percent(event.cost)} of a core`);
    say(byId('tasks'), event.runnable === null ? '' : `${event.runnable} tasks ready to run;`);
    event.notes.forEach(words => {
      const note = document.createElement('li');
      note.textContent = words;
      byId('notes').append(note);
      byId('noted').hidden = false;
    });
    while (byId('notes').childElementCount > 200) byId('notes').firstElementChild.remove();
    event.points.forEach(keep);
    if (event.points.length) due();
  };

  // The page so far takes the place of the one before once it is there, without a flicker.
  const renew = () => {
    if (isPaused || hasEnded || document.hidden) return;
    const next = byId('so-far').cloneNode();
    next.style.height = '0';
    next.addEventListener('load', () => {
      const inner = next.contentDocument?.documentElement;
      const isPage = inner?.querySelector('main');
      if (!isPage) { next.remove(); return; }
      next.style.height = `${inner.scrollHeight}px`;
      byId('so-far').remove();
      next.id = 'so-far';
      next.hidden = false;
    });
    next.removeAttribute('id');
    next.hidden = false;
    next.src = 'page';
    byId('frame').append(next);
  };

  const state = words => say(byId('state'), words);
  byId('pause').addEventListener('click', () => {
    isPaused = !isPaused;
    say(byId('pause'), isPaused ? 'Go on' : 'Pause');
    due();
  });
  const source = new EventSource('events');
  source.addEventListener('open', () => { [slots, each, first, last] = [[], 1, null, null]; byId('notes').replaceChildren(); state('Live'); });
  source.addEventListener('message', event => take(JSON.parse(event.data)));
  source.addEventListener('error', () => { if (!hasEnded) state('No connection: the run has ended, or this machine cannot reach it'); });
  source.addEventListener('page', event => {
    hasEnded = true;
    source.close();
    const page = JSON.parse(event.data);
    if (!page) { state('The run has ended, and nothing was measured'); return; }
    document.open();
    document.write(page);
    document.close();
  });
  // Every page costs the browser memory that it gives back late: the longer the run, the rarer a new one.
  const later = pause => setTimeout(() => { renew(); later(Math.max(15000, pause * 1.15)); }, pause);
  later(2000);
})();
