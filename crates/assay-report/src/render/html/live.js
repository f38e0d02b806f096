(() => {
  'use strict';
  const byId = id => document.getElementById(id);
  // An hour of seconds is kept, and no more than a point for each pixel is drawn.
  const KEPT = 3600, WIDE = 600, HIGH = 120, SVG = 'http://www.w3.org/2000/svg';
  const OPERATIONS = ['read', 'write', 'sync'];
  let points = [], isPaused = false, hasEnded = false;

  const count = value => Math.round(value).toLocaleString('en-US');
  const scaled = (value, units) => {
    const [factor, name] = units.find(([factor]) => Math.abs(value) >= factor * .9995) ?? units[units.length - 1];
    const shown = value / factor;
    return `${shown.toFixed(shown >= 99.95 || shown < 1e-9 ? 0 : shown >= 9.995 ? 1 : 2)} ${name}`;
  };
  // Of devices that others load the kernel keeps no quantiles.
  const time = ns => ns === 0 ? '–' : scaled(ns, [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']]);
  const throughput = bytes => scaled(bytes, [[2 ** 30, 'GiB/s'], [2 ** 20, 'MiB/s'], [1024, 'KiB/s'], [1, 'B/s']]);
  const percent = share => `${(100 * share).toFixed(share < .1 ? 2 : 0)} %`;
  const span = s => s < 99.5 ? `${Math.round(s)} s` : s < 5970 ? `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`
    : `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min`;

  const table = point => {
    const rows = point.operations.map(of => {
      const row = document.createElement('tr');
      const cells = [of.operation, count(of.iops), throughput(of.bytes_per_s), ...of.service_time_ns.map(time), count(of.errors)];
      cells.forEach((text, index) => {
        const cell = document.createElement(index ? 'td' : 'th');
        if (index) cell.className = 'n'; else cell.scope = 'row';
        cell.textContent = text;
        row.append(cell);
      });
      return row;
    });
    byId('now').replaceChildren(...rows);
  };

  // Values by pixel: the mean of rates, the highest of times, because quantiles have no mean.
  const thinned = (values, join) => {
    const each = Math.ceil(values.length / WIDE) || 1, thin = [];
    for (let from = 0; from < values.length; from += each) thin.push(join(values.slice(from, from + each)));
    return thin;
  };
  const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
  const highest = values => values.reduce((most, value) => Math.max(most, value), 0);

  const draw = (id, series, join, show) => {
    const lines = series.filter(([, values]) => values.some(value => value > 0)).map(([name, values]) => [name, thinned(values, join)]);
    const most = highest(lines.map(([, values]) => highest(values)));
    const drawn = lines.map(([name, values]) => {
      const line = document.createElementNS(SVG, 'polyline');
      const x = index => WIDE * index / Math.max(values.length - 1, 1), y = value => HIGH - 1 - (HIGH - 4) * value / (most || 1);
      line.setAttribute('points', values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' '));
      line.setAttribute('class', name);
      return line;
    });
    const picture = byId(id);
    picture.querySelector('g').replaceChildren(...drawn);
    picture.querySelector('title').textContent = lines.map(([name]) => `${name}, from 0 to ${show(most)}`).join('; ') || 'nothing yet';
    byId(`${id}-most`).textContent = most ? `top: ${show(most)}` : '';
  };

  const charts = () => {
    const of = (name, value) => [name, points.map(point => value(point.operations.find(each => each.operation === name)))];
    draw('rate', OPERATIONS.map(name => of(name, found => found?.iops ?? 0)), mean, value => `${count(value)}/s`);
    draw('p99', OPERATIONS.map(name => of(name, found => found?.service_time_ns[1] ?? 0)), highest, time);
    draw('busy', [['mix', points.map(point => point.cpu_busy_share ?? 0)]], mean, percent);
    const [first, last] = [points[0].at_s, points[points.length - 1].at_s];
    byId('span').textContent = `${span(first)} to ${span(last)} of measured time; interval by interval`;
  };

  const take = event => {
    byId('subject').textContent = event.subject || 'Nothing has begun yet';
    byId('doing').textContent = event.doing || 'between two parts';
    byId('left').textContent = event.left_s === null ? '' : `${span(event.left_s)} left`;
    byId('done').value = event.share;
    byId('cost').textContent = `showing it costs ${percent(event.cost)} of a core`;
    byId('tasks').textContent = event.runnable === null ? '' : `${event.runnable} tasks ready to run;`;
    event.notes.forEach(words => {
      const note = document.createElement('li');
      note.textContent = words;
      byId('notes').append(note);
      byId('noted').hidden = false;
    });
    while (byId('notes').childElementCount > 200) byId('notes').firstElementChild.remove();
    points = points.concat(event.points).slice(-KEPT);
    if (isPaused || !event.points.length) return;
    table(points[points.length - 1]);
    charts();
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

  const say = words => { byId('state').textContent = words; };
  byId('pause').addEventListener('click', () => {
    isPaused = !isPaused;
    byId('pause').textContent = isPaused ? 'Go on' : 'Pause';
    if (!isPaused && points.length) { table(points[points.length - 1]); charts(); }
  });
  const source = new EventSource('events');
  source.addEventListener('open', () => { points = []; byId('notes').replaceChildren(); say('Live'); });
  source.addEventListener('message', event => take(JSON.parse(event.data)));
  source.addEventListener('error', () => { if (!hasEnded) say('No connection: the run has ended, or this machine cannot reach it'); });
  source.addEventListener('page', event => {
    hasEnded = true;
    source.close();
    const page = JSON.parse(event.data);
    if (!page) { say('The run has ended, and nothing was measured'); return; }
    document.open();
    document.write(page);
    document.close();
  });
  setTimeout(renew, 2000);
  setInterval(renew, 15000);
})();
