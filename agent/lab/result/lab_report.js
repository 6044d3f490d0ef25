// The timeline: which rows are shown, and zooming to a node and to a range of time.

const root = document.getElementById("timeline");
const opened = new Set(data.sites.filter((site) => site.open).map((site) => site.name));
const shown = new Map();  // site or node -> how many of its rows are shown
let sitesShown = 40;

function countOf(key, first) { return shown.get(key) || first; }
function plural(count, noun) { return count + " " + noun + (count === 1 ? "" : "s"); }

function faultName(fault) {
  const told = !fault.target || fault.what.includes(fault.target);
  return told ? fault.what : fault.what + " " + fault.target;
}
function faultEnd(fault) { return fault.until === undefined ? fault.at : fault.until; }

// With a node alone, faults of other sites and other nodes are left out.
const places = new Set(data.sites.map((site) => site.name).concat(
  data.nodes.map((node) => node.name)));
function concerns(fault) {
  if (view.node === null || !places.has(fault.target)) return true;
  const node = data.nodes[view.node];
  return fault.target === node.name || fault.target === node.site;
}

function setRange(from, to) {
  const least = Math.min(0.1, data.duration);
  const span = Math.min(Math.max(to - from, least), data.duration);
  view.from = Math.min(Math.max(from, 0), data.duration - span);
  view.to = view.from + span;
  remember();
}

function setNode(index) {
  view.node = index;
  remember();
}

// The address keeps what is shown, so that it can be passed on and the back button works.
function remember() {
  const parts = [];
  if (view.node !== null) parts.push("node=" + encodeURIComponent(data.nodes[view.node].name));
  if (view.from > 0 || view.to < data.duration) {
    parts.push("from=" + view.from.toFixed(2), "to=" + view.to.toFixed(2));
  }
  const wanted = "#" + parts.join("&");
  if (location.hash !== wanted && (location.hash || parts.length)) {
    history.pushState(null, "", wanted);
  }
  draw();
}

function recall() {
  const known = new URLSearchParams(location.hash.slice(1));
  const from = Number.parseFloat(known.get("from"));
  const to = Number.parseFloat(known.get("to"));
  const valid = from >= 0 && to > from && to <= data.duration + 1;
  view.from = valid ? from : 0;
  view.to = valid ? Math.min(to, data.duration) : Math.max(data.duration, 0.001);
  const index = data.nodes.findIndex((node) => node.name === known.get("node"));
  view.node = index >= 0 ? index : null;
  draw();
}

// Dragging over `element` selects a range; `range` tells which times its edges have.
function brush(element, range, accepts) {
  element.addEventListener("pointerdown", (down) => {
    if (down.button !== 0 || !accepts(down)) return;
    const box = (element.querySelector(".axis .track") || element).getBoundingClientRect();
    const [from, to] = range();
    const time = (x) => from + Math.min(Math.max((x - box.left) / box.width, 0), 1) * (to - from);
    const chosen = make("div", "chosen");
    const place = (x) => {
      const left = Math.min(down.clientX, x);
      chosen.style.left = left - element.getBoundingClientRect().left + "px";
      chosen.style.width = Math.abs(x - down.clientX) + "px";
    };
    const move = (event) => place(event.clientX);
    const end = (event) => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      chosen.remove();
      if (event.type === "pointerup" && Math.abs(event.clientX - down.clientX) > 4) {
        const times = [time(down.clientX), time(event.clientX)].sort((a, b) => a - b);
        setRange(times[0], times[1]);
      }
    };
    element.append(chosen);
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  });
}

function controls(into) {
  const bar = make("div", "controls");
  const span = view.to - view.from;
  bar.append(
    button("", "Whole run", () => setRange(0, data.duration)),
    button("", "Zoom in", () => setRange(view.from + span / 4, view.to - span / 4)),
    button("", "Zoom out", () => setRange(view.from - span / 2, view.to + span / 2)),
    button("", "Earlier", () => setRange(view.from - span / 2, view.to - span / 2)),
    button("", "Later", () => setRange(view.from + span / 2, view.to + span / 2)));
  bar.lastChild.disabled = view.to >= data.duration;
  bar.children[3].disabled = view.from <= 0;
  bar.children[0].disabled = bar.children[2].disabled = span >= data.duration;
  bar.append(make("span", "range", fine(view.from) + " to " + fine(view.to)));
  const find = make("input", "find");
  find.placeholder = "Go to node";
  find.setAttribute("aria-label", "Go to node");
  find.addEventListener("change", () => {
    const index = data.nodes.findIndex((node) => node.name === find.value.trim());
    if (index >= 0) return setNode(index);
    find.setCustomValidity("No such node in this page");
    find.reportValidity();
  });
  find.addEventListener("input", () => find.setCustomValidity(""));
  bar.append(find);
  into.append(bar);
}

function overview(into) {
  const strip = make("div", "overview");
  strip.title = "Drag to zoom to a range";
  for (const [begin, end] of union(data.faults).slice(0, 300)) {
    const made = make("div", "piece");
    made.style.left = begin / data.duration * 100 + "%";
    made.style.width = "max(2px, " + (end - begin) / data.duration * 100 + "%)";
    strip.append(made);
  }
  const range = make("div", "window");
  range.style.left = view.from / data.duration * 100 + "%";
  range.style.width = (view.to - view.from) / data.duration * 100 + "%";
  strip.append(range);
  brush(strip, () => [0, data.duration], () => true);
  into.append(strip);
}

function axis(plane) {
  const track = lane(plane, "time", "axis");
  const width = track.clientWidth;
  for (const [at, text] of ticks(width)) {
    const x = share(at) / 100 * width;
    const made = make("div", "tick");
    made.style.left = x + "px";
    if (x + textWidth(text) + 4 <= width) made.append(make("span", "t", text));
    track.append(made);
  }
  return width;
}

// The union of the faults' intervals, so that faults at the same time are not darker than one.
function union(list) {
  const made = [];
  for (const fault of list.slice().sort((a, b) => a.at - b.at)) {
    const last = made[made.length - 1];
    if (last && fault.at <= last[1]) last[1] = Math.max(last[1], faultEnd(fault));
    else made.push([fault.at, faultEnd(fault)]);
  }
  return made;
}

// The intervals of the faults behind all lanes, and a lane with their names, which zoom to them.
function faults(plane, width) {
  const seen = data.faults.filter((fault) => faultEnd(fault) >= view.from && fault.at <= view.to &&
                                             concerns(fault));
  if (seen.length === 0) return;
  const bands = make("div", "bands");
  for (const [begin, end] of union(seen).slice(0, 300)) {
    const band = make("div", "band");
    const left = Math.max(share(begin), 0);
    band.style.left = left + "%";
    band.style.width = "max(1px, " + (Math.min(share(end), 100) - left) + "%)";
    bands.append(band);
  }
  const labels = seen.slice(0, 200).map((fault) => ({
    fault, text: faultName(fault), left: Math.max(share(fault.at) / 100 * width, 0),
    right: Math.min(share(faultEnd(fault)) / 100 * width, width)}));
  const more = arrange(labels, width, 8) + seen.length - labels.length;
  const track = lane(plane, "faults", "faults");
  for (const label of labels) {
    if (label.row < 0) continue;
    const {fault} = label;
    const made = bar(track, fault.at, Math.max(faultEnd(fault), fault.at + (view.to - view.from) / 1e4),
                     "s-fault", "", label.text, width);
    if (made) made.style.top = label.row * 18 + 2 + "px";
    const name = button("t faultname" + (label.inside ? " in" : ""), label.text, () => {
      const length = Math.max(faultEnd(fault) - fault.at, data.duration / 40);
      setRange(fault.at - length * 0.25, fault.at + length * 1.5);
    });
    name.title = label.text + " at " + fine(fault.at) +
                 (fault.until === undefined ? "" : " until " + fine(fault.until));
    name.style.left = label.x + "px";
    name.style.top = label.row * 18 + "px";
    name.style.maxWidth = Math.min(label.room, width - label.x) + "px";
    track.append(name);
  }
  const rows = Math.max(...labels.map((label) => label.row)) + 1;
  track.style.height = rows * 18 + 4 + "px";
  plane.append(bands);
  if (more > 0) plane.append(make("p", "note", plural(more, "more fault") + ": zoom in to see them"));
}

function charts(plane) {
  for (const series of data.series) {
    let highest = 0;
    const list = [];
    series.values.forEach((value, at) => {
      list.push(at * series.interval, value);
      const end = (at + 1) * series.interval;
      if (end > view.from && at * series.interval < view.to) highest = Math.max(highest, value);
    });
    list.push(series.values.length * series.interval, 0);
    const track = lane(plane, series.name + " per " + clock(series.unit, 0.1), "chart");
    const top = Number(highest.toPrecision(4)).toString();
    track.previousSibling.append(make("small", "", highest > 0 ? "highest " + top : "none"));
    if (highest > 0) area(track, list, highest, "s-series", 56);
  }
}

function podLane(into, pod, width) {
  const track = lane(into, pod.name, "pod");
  spans(track, pod.running, width);
  const last = pod.running.length > 0 ? pod.running[pod.running.length - 2] : 0;
  if (pod.deleted !== undefined && last > pod.deleted) {
    bar(track, pod.deleted, last, "s-ghost", "", "deleted in the API, still running", width);
  }
  if (pod.evicted !== undefined) mark(track, pod.evicted, "s-evicted", pod.name + " is evicted");
  const facts = [];
  if (pod.evicted !== undefined) facts.push("evicted");
  if (pod.restarts > 0) facts.push(plural(pod.restarts, "restart"));
  if (facts.length > 0) track.previousSibling.prepend(make("small", "bad", facts.join(", ")));
}

function nodeRows(into, index, width, podsFirst) {
  const node = data.nodes[index];
  const box = make("div", "node");
  const name = button("nodename", node.name, () => setNode(index));
  name.title = "Zoom to " + node.name;
  box.append(name);
  spans(lane(box, "link", "thin"), node.link, width);
  if (node.power.length > 0) spans(lane(box, "power", "thin"), node.power, width);
  spans(lane(box, "Ready", "thin"), node.ready, width);
  if (node.taints.length > 0) spans(lane(box, "NoExecute", "thin"), node.taints, width);
  if (node.withheld.length > 0) {
    const track = lane(box, "withheld", "thin");
    for (let at = 0; at + 2 < node.withheld.length; at += 3) {
      const why = "evictions withheld: " + data.states[node.withheld[at + 2]];
      bar(track, node.withheld[at], node.withheld[at + 1], "s-withheld", why, why, width);
    }
  }
  const count = countOf("node " + node.name, podsFirst);
  for (const pod of node.pods.slice(0, count)) podLane(box, pod, width);
  const more = node.pods.length - count;
  if (more > 0) {
    box.append(button("more", plural(more, "more pod"), () => {
      shown.set("node " + node.name, count + 100);
      draw();
    }));
  }
  if (node.morePods > 0) {
    box.append(make("p", "note", plural(node.morePods, "more pod") + " only in the JSON"));
  }
  into.append(box);
}

const totals = [["cut", "cut off", "s-cut"], ["notReady", "not ready", "s-unknown"],
                ["tainted", "NoExecute", "s-tainted"], ["withheld", "withheld", "s-withheld"]];

function siteRows(into, site, width) {
  const box = make("div", "site");
  const isOpen = opened.has(site.name);
  const told = plural(site.nodes, "node") + ", " + site.evicted + " evicted, " +
               plural(site.restarts, "restart");
  const head = button("sitename", "", () => {
    if (!opened.delete(site.name)) opened.add(site.name);
    draw();
  });
  head.append(make("b", "", site.name), make("span", "", told));
  head.setAttribute("aria-expanded", isOpen);
  box.append(head);
  if (site.nodes > 1) {
    for (const [key, name, look] of totals) {
      if (site[key].length === 0) continue;
      area(lane(box, name, "total"), site[key], site.nodes, look, 20);
    }
    if (site.evictions.length > 0) {
      const track = lane(box, "evicted", "total");
      for (let at = 0; at < site.evictions.length; at += 2) {
        mark(track, site.evictions[at], "s-evicted", plural(site.evictions[at + 1], "pod") + " evicted");
      }
    }
  }
  if (isOpen) {
    const count = countOf("site " + site.name, data.grouped ? 4 : 100);
    for (const index of site.list.slice(0, count)) nodeRows(box, index, width, data.grouped ? 6 : 40);
    const more = site.list.length - count;
    if (more > 0) {
      box.append(button("more", plural(more, "more node"), () => {
        shown.set("site " + site.name, count + 20);
        draw();
      }));
    }
    if (site.more > 0) {
      box.append(make("p", "note", plural(site.more, "more node") + " only in the JSON"));
    }
  }
  into.append(box);
}

// What happened on the node, in words.
function story(into, node) {
  const events = [];
  const add = (list, what) => {
    for (let at = 0; at + 2 < list.length; at += 3) {
      const state = data.states[list[at + 2]];
      const meaning = (looks.get(state) || ["", state])[1];
      events.push([list[at], what + meaning + " for " + fine(list[at + 1] - list[at])]);
    }
  };
  add(node.link, "");
  add(node.power, "");
  add(node.ready, "");
  add(node.taints, "tainted ");
  add(node.withheld, "evictions withheld: ");
  for (const pod of node.pods) {
    add(pod.running, pod.name + " ");
    if (pod.evicted !== undefined) events.push([pod.evicted, pod.name + " evicted"]);
    if (pod.deleted !== undefined) events.push([pod.deleted, pod.name + " gone from the API"]);
  }
  const seen = events.filter((event) => event[0] >= view.from && event[0] <= view.to);
  seen.sort((a, b) => a[0] - b[0]);
  const table = make("table", "story");
  for (const [at, what] of seen.slice(0, 200)) {
    const row = make("tr");
    row.append(make("td", "num", fine(at)), make("td", "", what));
    table.append(row);
  }
  into.append(table);
  if (seen.length > 200) into.append(make("p", "note", "and more; zoom in"));
}

function sites(plane, width) {
  for (const site of data.sites.slice(0, sitesShown)) siteRows(plane, site, width);
  const more = data.sites.length - sitesShown;
  if (more > 0) {
    plane.append(button("more", plural(more, "more site"), () => {
      sitesShown += 100;
      draw();
    }));
  }
  if (data.otherSites > 0) {
    plane.append(make("p", "note", plural(data.otherSites, "more site") + " only in the JSON"));
  }
}

function draw() {
  const old = root.getBoundingClientRect().height;
  root.style.minHeight = old + "px";  // the page keeps its scroll position
  root.replaceChildren();
  controls(root);
  overview(root);
  if (view.node !== null) {
    const node = data.nodes[view.node];
    const crumbs = make("nav", "crumbs");
    crumbs.append(button("", "All nodes", () => setNode(null)),
                  make("span", "", "Site " + node.site + ", node " + node.name));
    root.append(crumbs);
  }
  const plane = make("div", "plane");
  root.append(plane);
  const width = axis(plane);
  faults(plane, width);
  if (view.node === null) {
    charts(plane);
    sites(plane, width);
  } else {
    nodeRows(plane, view.node, width, 60);
    story(root, data.nodes[view.node]);
  }
  if (data.shortened) {
    root.append(make("p", "note", "Of lanes with many intervals only the longest are shown."));
  }
  brush(plane, () => [view.from, view.to],
        (down) => down.pointerType === "mouse" && !down.target.closest("button"));
  root.style.minHeight = "";
}

let lastWidth = 0;
new ResizeObserver(() => {
  if (root.clientWidth === lastWidth) return;
  lastWidth = root.clientWidth;
  draw();
}).observe(root);
window.addEventListener("popstate", recall);
window.addEventListener("hashchange", recall);
recall();
