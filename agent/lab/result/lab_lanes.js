// Draws lanes: bars, areas, ticks and labels on a time axis. All text becomes textContent or an
// attribute, never markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const view = {from: 0, to: Math.max(data.duration, 0.001), node: null};

// State -> [class, what it means]. One meaning has one colour.
const looks = new Map([
  ["cut", ["s-cut", "link cut"]], ["degraded", ["s-degraded", "link degraded"]],
  ["off", ["s-off", "powered off"]], ["True", ["s-ready", "Ready"]],
  ["ready", ["s-ready", "ready"]], ["False", ["s-notready", "not Ready"]],
  ["Unknown", ["s-unknown", "Ready unknown"]],
  ["unreachable", ["s-tainted", "unreachable:NoExecute"]],
  ["not-ready", ["s-tainted", "not-ready:NoExecute"]],
  ["starting", ["s-starting", "starting"]], ["stopping", ["s-stopping", "stopping"]]]);

function make(tag, look, text) {
  const made = document.createElement(tag);
  if (look) made.className = look;
  if (text !== undefined) made.textContent = text;
  return made;
}

function button(look, text, act) {
  const made = make("button", look, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

// The text's width in the labels' font.
const pen = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  pen.font = "11px system-ui, \"DejaVu Sans\", sans-serif";
  return Math.ceil(pen.measureText(text).width * 1.06) + 2;
}

// "2d4h30m10.5s": all units down to that of `step` seconds.
function clock(seconds, step) {
  const digits = step < 0.1 ? 2 : step < 1 ? 1 : 0;
  let rest = Number(seconds.toFixed(digits));
  let text = "";
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "m"]]) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += count + unit;
    if (step >= size && text) return text;
  }
  const left = Number(rest.toFixed(digits));
  return left > 0 || !text ? text + left + "s" : text;
}

function fine(seconds) { return clock(seconds, view.to - view.from < 120 ? 0.1 : 1); }

const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
               21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

// Ticks so far apart that their labels, which begin at the tick, do not touch.
function ticks(width) {
  const span = view.to - view.from;
  for (const step of steps.concat([span])) {
    const room = textWidth(clock(view.to, step)) + 28;
    if (step / span * width < room && step < span) continue;
    const made = [];
    for (let at = Math.ceil(view.from / step - 1e-9) * step; at <= view.to; at += step) {
      made.push([at, clock(at, step)]);
    }
    return made;
  }
  return [];
}

function share(at) { return (at - view.from) / (view.to - view.from) * 100; }

// A lane with its name. Returns its track.
function lane(into, name, look) {
  const row = make("div", "row " + (look || ""));
  const label = make("div", "label", name);
  label.title = name;
  const track = make("div", "track");
  row.append(label, track);
  into.append(row);
  return track;
}

// A bar from `begin` to `end`, with its label if that fits into it. Returns nothing if it is out of
// sight.
function bar(track, begin, end, look, label, hint, width) {
  if (end < view.from || begin > view.to || end <= begin) return null;
  const left = Math.max(share(begin), 0);
  const right = Math.min(share(end), 100);
  const made = make("div", "bar " + look);
  made.style.left = left + "%";
  made.style.width = "max(2px, " + (right - left) + "%)";
  made.title = hint + ": " + fine(begin) + " to " + fine(end) + " (" + fine(end - begin) + ")";
  if (label && (right - left) / 100 * width > textWidth(label) + 10) {
    made.append(make("span", "t", label));
  }
  track.append(made);
  return made;
}

function mark(track, at, look, hint) {
  if (at < view.from || at > view.to) return;
  const made = make("div", "mark " + look);
  made.style.left = share(at) + "%";
  made.title = hint + " at " + fine(at);
  track.append(made);
}

// The spans of a lane: [begin, end, state, begin, end, state, ...].
function spans(track, list, width, suffix) {
  for (let at = 0; at + 2 < list.length; at += 3) {
    const state = data.states[list[at + 2]];
    const [look, meaning] = looks.get(state) || ["s-other", state];
    bar(track, list[at], list[at + 1], look, meaning + (suffix || ""), meaning, width);
  }
}

function path(track, points, look, height) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 1000 " + height);
  svg.setAttribute("preserveAspectRatio", "none");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", points);
  shape.setAttribute("class", look);
  svg.append(shape);
  track.append(svg);
}

// An area under steps [time, value, time, value, ...], each of which lasts until the next.
function area(track, list, highest, look, height) {
  let drawn = "";
  for (let at = 0; at < list.length; at += 2) {
    const value = list[at + 1];
    const end = at + 2 < list.length ? list[at + 2] : data.duration;
    if (value <= 0 || end <= view.from || list[at] >= view.to) continue;
    const left = Math.max(share(list[at]), 0) * 10;
    const right = Math.min(share(end), 100) * 10;
    const top = height - Math.max(value / highest * height, 1.5);
    drawn += "M" + left.toFixed(1) + " " + height + "V" + top.toFixed(1) + "H" +
             Math.max(right, left + 1.5).toFixed(1) + "V" + height + "Z";
  }
  if (drawn) path(track, drawn, look, height);
}

// Puts each label into the first row in which it touches no other. Labels: {left, right (of what
// they name, in pixels), text}. Returns how many found no room.
function arrange(labels, width, rows) {
  const ends = [];
  let homeless = 0;
  for (const label of labels) {
    const need = textWidth(label.text) + 8;
    const inside = label.right - label.left >= need;
    const after = label.right + need <= width;
    const from = after || inside ? label.left : Math.max(Math.min(label.left, width) - need, 0);
    const to = inside ? label.right : after ? label.right + need : Math.max(label.right, from + need);
    label.x = inside ? label.left + 4 : after ? label.right + 4 : from;
    label.room = inside ? label.right - label.left - 8 : need;
    label.inside = inside;
    let row = 0;
    while (row < ends.length && ends[row] > from - 4) ++row;
    if (row >= rows) {
      label.row = -1;
      ++homeless;
      continue;
    }
    label.row = row;
    ends[row] = to;
  }
  return homeless;
}
