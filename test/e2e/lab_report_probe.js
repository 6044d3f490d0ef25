// Runs in the report's page, before its own script: clicks as a user would, and writes what it found
// into <pre id="probe">, or
// sends it to the page around this one.
window.addEventListener("load", () => {
  const found = {};
  const root = document.getElementById("timeline");

  // Pairs of labels that overlap, and labels that leave the page.
  function overlaps() {
    const boxes = [...root.querySelectorAll(".t, .label, .nodename, .sitename b")]
      .filter((label) => label.textContent)
      .map((label) => ({text: label.textContent, box: label.getBoundingClientRect()}));
    const wrong = [];
    for (let a = 0; a < boxes.length; ++a) {
      if (boxes[a].box.right > document.documentElement.clientWidth + 1) wrong.push(boxes[a].text);
      for (let b = a + 1; b < boxes.length; ++b) {
        const [left, right] = [boxes[a].box, boxes[b].box];
        if (left.left < right.right - 1 && right.left < left.right - 1 &&
            left.top < right.bottom - 1 && right.top < left.bottom - 1) {
          wrong.push(boxes[a].text + "|" + boxes[b].text);
        }
      }
    }
    return wrong;
  }

  // Clicks in the middle of an element, at whatever is on top there.
  function click(element) {
    element.scrollIntoView({block: "center"});
    const box = element.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const target = document.elementFromPoint(x, y);
    for (const type of ["pointerdown", "pointerup", "click"]) {
      const made = type === "click" ? MouseEvent : PointerEvent;
      target.dispatchEvent(new made(type, {bubbles: true, cancelable: true, clientX: x, clientY: y,
                                           pointerType: "mouse", view: window}));
    }
  }

  function drag(element, from, to) {
    element.scrollIntoView({block: "center"});
    const box = element.getBoundingClientRect();
    const at = (part) => ({bubbles: true, clientX: box.left + part * box.width,
                           clientY: box.top + box.height / 2, pointerType: "mouse"});
    element.dispatchEvent(new PointerEvent("pointerdown", at(from)));
    element.dispatchEvent(new PointerEvent("pointermove", at(to)));
    element.dispatchEvent(new PointerEvent("pointerup", at(to)));
  }

  const named = (text) => [...root.querySelectorAll("button")].find(
    (each) => each.textContent === text || each.querySelector("b")?.textContent === text);
  const range = () => root.querySelector(".range").textContent;
  const nodes = () => [...root.querySelectorAll(".nodename")].map((each) => each.textContent);
  const note = (step) => {
    found[step] = {range: range(), nodes: nodes().length, first: nodes()[0] || "",
                   overlaps: overlaps(), address: location.hash};
  };
  try {
    note("start");
    click(named("cut site-1"));
    note("fault");
    drag(root.querySelector(".overview"), 0.5, 0.75);
    note("dragged");
    click(named("Zoom in"));
    note("zoomed");
    click(named("Whole run"));
    const [first, second] = nodes();
    click(named(second));
    note("node");
    found.story = root.querySelectorAll(".story tr").length;
    found.isSecond = nodes()[0] === second && first !== second;
    click(named("All nodes"));
    const before = nodes().length;
    click(named("site-1"));
    found.closes = nodes().length < before;
    click(named("site-1"));
    found.opens = nodes().length === before;
    note("end");
    found.title = document.title;
    found.images = document.querySelectorAll("img").length;
    found.labels = root.querySelectorAll(".t").length;
    found.viewport = window.innerWidth;
    found.elements = document.querySelectorAll("*").length;
    found.wide = document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  } catch (error) {
    found.error = String(error.stack);
  }
  if (parent !== window) return parent.postMessage(JSON.stringify(found), "*");
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = JSON.stringify(found);
  document.body.append(probe);
});
