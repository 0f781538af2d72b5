"""What a page of a report must be: each function gives its problems as texts."""

import json

SMALLEST_CONTRAST = 4.5
PHASES = ("compute", "exchange", "sync", "host", "remote", "collective", "links")

# Elements beyond their box: the page sideways, a box whose content is wider than itself, an element outside of its section,
# a text or shape outside of its picture.
LAYOUT = r"""(() => {
  const problems = [], name = each => each.tagName.toLowerCase() + (each.id ? '#' + each.id : '') +
    (each.getAttribute('class') ? '.' + each.getAttribute('class') : '') + ' ' + JSON.stringify((each.textContent || '').slice(0, 40));
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) problems.push(`the page is ${root.scrollWidth} wide`);
  for (const each of document.body.querySelectorAll('*')) {
    if (each.id === 'tip' || each.closest('#tip') || ['SCRIPT', 'NOSCRIPT'].includes(each.tagName)) continue;
    const box = each.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) continue;
    if (box.left < -0.5 || box.right > innerWidth + 0.5) problems.push(`${name(each)} reaches from ${box.left} to ${box.right}`);
    const picture = each.ownerSVGElement;
    if (picture) {
      const outer = picture.getBoundingClientRect();
      if (box.left < outer.left - 1.5 || box.right > outer.right + 1.5 || box.top < outer.top - 1.5 || box.bottom > outer.bottom + 1.5)
        problems.push(`${name(each)} leaves its picture: ${[box.left - outer.left, box.top - outer.top, outer.right - box.right, outer.bottom - box.bottom]}`);
    } else if (each.tagName !== 'svg' && getComputedStyle(each).display !== 'inline') {
      if (each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0) problems.push(`${name(each)} is ${each.clientWidth} wide, its content ${each.scrollWidth}`);
      if (each.scrollHeight > each.clientHeight + 2 && each.clientHeight > 0 && getComputedStyle(each).overflowY !== 'visible')
        problems.push(`${name(each)} is ${each.clientHeight} high, its content ${each.scrollHeight}`);
    }
    const parent = each.closest('section');
    if (parent && parent !== each) {
      const outer = parent.getBoundingClientRect();
      if (box.left < outer.left - 0.5 || box.right > outer.right + 0.5 || box.bottom > outer.bottom + 0.5)
        problems.push(`${name(each)} leaves section ${parent.id}`);
    }
  }
  const texts = [...document.querySelectorAll('section svg text')].map(each => [each, each.getBoundingClientRect()]);
  texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
      problems.push(`${name(one)} lies on ${name(other)}`);
  }));
  return problems;
})()"""

# The contrast of each text with what is painted behind its middle: [least contrast, its text, number of texts].
CONTRAST = r"""(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const colour = text => {  // of any notation, as [r, g, b, alpha]
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, alpha / 255];
  };
  const over = (top, bottom) => [0, 1, 2].map(i => top[i] * top[3] + bottom[i] * (1 - top[3])).concat(1);
  const luminance = ([r, g, b]) => [r, g, b].map(part => part / 255).map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const painted = each => {
    const style = getComputedStyle(each);
    if (['rect', 'path', 'circle'].includes(each.tagName)) {
      const fill = style.fill === 'none' ? [0, 0, 0, 0] : colour(style.fill);
      return [...fill.slice(0, 3), fill[3] * Number(style.opacity)];
    }
    return colour(style.backgroundColor);
  };
  document.querySelectorAll('.hit').forEach(each => { each.style.pointerEvents = 'none'; });
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement;
    if (!node.data.trim() || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(element.tagName)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getClientRects()[0];
    if (!box || box.width === 0 || getComputedStyle(element).visibility !== 'visible') continue;
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const layers = document.elementsFromPoint(x, y).filter(each => each !== element || !each.ownerSVGElement);
    let behind = [255, 255, 255, 1];
    for (const layer of layers.reverse()) behind = over(painted(layer), behind);
    const style = getComputedStyle(element), own = colour(element.ownerSVGElement ? style.fill : style.color);
    let opacity = 1;
    for (let each = element; each; each = each.parentElement) opacity *= Number(getComputedStyle(each).opacity);
    const front = over([own[0], own[1], own[2], own[3] * opacity], behind);
    const [high, low] = [luminance(front), luminance(behind)].sort((a, b) => b - a);
    found.push([(high + 0.05) / (low + 0.05), node.data.trim().slice(0, 60)]);
  }
  return found;
})()"""


def layout(browser):
    browser.frame()
    return list(dict.fromkeys(browser.run(LAYOUT)))


def contrast(browser, dark):
    height = browser.run("document.documentElement.scrollHeight")
    width = browser.run("innerWidth")
    browser.resize(width, height)  # elementsFromPoint sees the window only
    browser.frame()
    found = browser.run(CONTRAST)
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, background[4:-1].split(","))) > 3 * 128
    problems = [] if light != dark else [f"a background of {background}"]
    if len(found) < 20:
        problems.append(f"only {len(found)} texts")
    problems += [f"contrast {value:.2f} of {text!r}" for value, text in found if value < SMALLEST_CONTRAST]
    return list(dict.fromkeys(problems))


def text(browser, selector):
    """The visible text, with single spaces; None if there is no such element."""
    return browser.run(f"document.querySelector({json.dumps(selector)})?.innerText.replace(/\\s+/g, ' ').trim() ?? null")


def cycles_of(step):
    return step["times"] * sum(step[phase] for phase in PHASES)


def figures(browser, profile):
    """Totals and the fullest tile as the page shows them."""
    totals = profile["totals"]
    shown = text(browser, "#summary .figures")
    expected = [f"{totals['cycles']:,}", f"{100 * totals['balance']:.0f} %", f"tile {profile['fullest_tile']}"]
    problems = [f"totals {shown!r} without {each!r}" for each in expected if each not in shown]
    legend = text(browser, "#summary .legend")
    problems += [f"legend {legend!r} without {totals[phase]:,} of {phase}" for phase in PHASES
                 if totals[phase] and f"{totals[phase]:,}" not in legend]
    rows = browser.run("[...document.querySelectorAll('#memory .split table tr')].map(row => row.innerText.replace(/\\s+/g, ' ').trim())")
    tile = profile["tiles"][profile["fullest_tile"]]
    for category, size in zip(profile["categories"], tile):
        if size and not any(row.startswith(category["name"]) for row in rows):
            problems.append(f"no {category['name']} in the table of the fullest tile")
    size = totals["fullest_tile_bytes"] / 1024
    if not rows or f"{size:.0f} KiB" not in rows[-1] and f"{sum(tile)} B" not in rows[-1]:
        problems.append(f"the fullest tile has {rows[-1:]}: {size} KiB expected")
    dearest = max(profile["steps"], key=cycles_of)
    first = text(browser, "#steps tbody tr")
    if f"{cycles_of(dearest):,}" not in first or first.split()[0] != str(profile["steps"].index(dearest)):
        problems.append(f"the first step is {first!r}: {cycles_of(dearest):,} cycles expected")
    return problems


def behaviour(browser, profile):
    """Filter, switches, selections and drill-down."""
    problems, steps = [], profile["steps"]

    def expect(truth, what):
        if not truth:
            problems.append(what)

    def click(selector):
        expect(browser.run(f"document.querySelector({json.dumps(selector)})?.click() === undefined && "
                           f"!!document.querySelector({json.dumps(selector)})"), f"no {selector}")

    def type_filter(words):
        browser.run(f"(() => {{ const input = document.getElementById('filter'); input.value = {json.dumps(words)}; "
                    "input.dispatchEvent(new Event('input')); })()")

    def count(selector):
        return browser.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    # The filter: by op and module.
    click("[data-choice='steps']")
    expect(count("#steps tbody tr") == len(steps), f"{count('#steps tbody tr')} rows of {len(steps)} steps")
    type_filter("matmul attention")
    found = [step for step in steps if all(word in (step["label"] + " " + step["module"]).lower() for word in ("matmul", "attention"))]
    part = sum(map(cycles_of, found)) / profile["totals"]["cycles"]
    expect(0 < len(found) < len(steps), "the filter's words find all or nothing")
    expect(count("#steps tbody tr") == len(found), f"the filter leaves {count('#steps tbody tr')} steps of {len(found)}")
    expect(f"{len(found)} of {len(steps)} steps, {100 * part:.0f} %" == text(browser, "#found"), f"found {text(browser, '#found')!r}")
    expect(count("#timeline path.dim") > 0, "the timeline does not dim what the filter leaves out")
    modules = text(browser, "#modules .tree")
    expect("Adam" not in modules, f"modules {modules!r} with what the filter leaves out")
    type_filter("no such op")
    expect("No step matches" in text(browser, "#steps"), "steps match a filter that nothing matches")
    type_filter("")
    expect(count("#steps tbody tr") == len(steps) and text(browser, "#found") == "", "an empty filter leaves something out")

    # Units: cycles, microseconds, shares.
    dearest = max(steps, key=cycles_of)
    cell = "#steps tbody tr td:last-child"
    click("[data-choice='unit:time']")
    time = cycles_of(dearest) * 1e6 / profile["clock_hz"]
    expect(f"{time:.3g} µs" in text(browser, cell), f"{text(browser, cell)}: {time:.3g} µs expected")
    click("[data-choice='unit:share']")
    share = 100 * cycles_of(dearest) / profile["totals"]["cycles"]
    expect(text(browser, cell) == f"{share:.1f} %", f"{text(browser, cell)}: {share:.1f} % expected")
    click("[data-choice='unit:cycles']")
    expect(text(browser, cell) == f"{cycles_of(dearest):,}", f"{text(browser, cell)}: cycles expected")

    # The logarithmic scale: bars of cheap steps become longer, the longest stays.
    lengths = "[...document.querySelectorAll('#steps tbody tr')].map(row => [...row.querySelectorAll('.bar > span')].reduce((sum, part) => sum + part.offsetWidth, 0))"
    before = browser.run(lengths)
    click("[data-choice='scale:log']")
    after = browser.run(lengths)
    expect(abs(before[0] - after[0]) <= 2 and after[-1] > before[-1] + 10, f"bars {before} became {after}")
    expect(not browser.run("document.body.innerText.includes('NaN')"), "NaN on a logarithmic scale")
    click("[data-choice='scale:linear']")
    expect(browser.run(lengths) == before, "bars do not come back")

    # Categories.
    paths = count("#memory .split svg:first-of-type path")
    click("[data-choice='category:0']")
    expect(count("#memory .split svg:first-of-type path") == paths - 1, "a hidden category is drawn")
    expect(browser.run("document.querySelector(\"[data-choice='category:0']\").getAttribute('aria-pressed')") == "false", "its button is pressed")
    click("[data-choice='category:0']")

    # Theme.
    for theme, dark in (("dark", True), ("light", False), ("auto", False)):
        click(f"[data-choice='theme:{theme}']")
        shown = browser.run("getComputedStyle(document.body).backgroundColor")
        expect((sum(map(int, shown[4:-1].split(","))) < 3 * 128) == dark, f"theme {theme} has a background of {shown}")

    # Order and selection of tiles.
    click("[data-choice='order:size']")
    middle = ("(() => { const hit = document.querySelector('#memory .hit'), box = hit.getBoundingClientRect(); "
              "hit.dispatchEvent(new MouseEvent('click', {clientX: box.left + box.width * %s, clientY: box.top + 5, bubbles: true})); })()")
    browser.run(middle % 0.0001)
    expect(f"Tile {profile['fullest_tile']}, the fullest" in text(browser, "#memory"), "the fullest tile is not first")
    browser.run(middle % 0.9999)
    smallest = min(map(sum, profile["tiles"])) / 1024
    expect(f"All {smallest:.0f} KiB" in text(browser, "#memory .split table"), f"the last tile has not {smallest:.0f} KiB")
    click("[data-choice='map:cycles']")
    click("[data-choice='order:number']")

    # A step by a click on its row; a module by its button; all steps of the timeline.
    click("#steps tbody tr[data-step='18']")
    expect(text(browser, "#timeline .details h3") == f"Step 18: {steps[18]['label']}", f"details {text(browser, '#timeline .details h3')!r}")
    expect("step 18" in text(browser, "#liveness h3"), "the live bytes show another step")
    rows = count("#modules .row")
    click("#modules .row[data-path='/Encoder/head'] .turn")
    expect(count("#modules .row") > rows, "a module does not open")
    click("[data-choice='group:op']")
    expect("MatMul" in text(browser, "#modules .tree .row"), "ops are not grouped")
    click("[data-choice='width:equal']")
    expect("same width" in text(browser, "#timeline .chart") if text(browser, "#timeline .chart") else
           browser.run("document.querySelector('#timeline svg').textContent.includes('same width')"), "steps have no equal width")

    # Sorting.
    click("[data-choice='sort:balance']")
    expect(browser.run("document.querySelector('#steps th[aria-sort]').innerText").startswith("Balance"), "not sorted by balance")
    click("[data-choice='sort:index']")
    expect(text(browser, "#steps tbody tr td") == "0", "not sorted by number")

    # The tooltip.
    browser.run("(() => { const hit = document.querySelector('#memory .hit'), box = hit.getBoundingClientRect(); hit.dispatchEvent(new PointerEvent("
                "'pointermove', {clientX: box.left + box.width / 2, clientY: box.top + 5, bubbles: true})); })()")
    shown = text(browser, "#tip")
    expect("Tile " in shown and "bytes" in shown, f"tooltip {shown!r}")
    box = browser.run("(() => { const box = document.getElementById('tip').getBoundingClientRect(); return [box.left, box.right]; })()")
    expect(box[0] >= 0 and box[1] <= browser.run("innerWidth"), f"the tooltip reaches from {box[0]} to {box[1]}")
    return problems


def differences(browser, profiles):
    problems, (a, *others) = [], profiles
    shown = text(browser, "#differences")
    letters = "ABC"[:len(profiles)]
    expected = [f"{a['totals']['cycles']:,}"]
    for letter, other in zip(letters[1:], others):
        change = other["totals"]["cycles"] - a["totals"]["cycles"]
        change = f"{'▲' if change > 0 else '▼'} {abs(change):,}" if change else "same"
        expected += [f"{other['totals']['cycles']:,}", change, f"{letter} against A"]
    problems += [f"differences without {each!r}: {shown[:200]!r}" for each in expected if each not in shown]
    panes = browser.run("[...document.querySelectorAll('#memory .pane[data-profile]')].map(pane => pane.dataset.profile)")
    if panes != list(letters):
        problems.append(f"panes {panes}")
    return problems


def curves(browser):
    """The charts of synthetic_logs.hpp: lines, one of them interrupted, the logarithmic scale, and what the tooltip says."""
    problems = []
    shown = text(browser, "#curves")
    problems += [f"curves without {each!r}: {shown!r}" for each in ("loss", "accuracy", "training_loss", "step 120")
                 if each not in shown]
    paths = "[...document.querySelectorAll('#curves path')].map(path => path.getAttribute('d'))"
    lines = browser.run(paths)
    if [line.count("M") for line in lines] != [2, 1, 1] or [line.count("L") for line in lines] != [117, 5, 5]:
        problems.append(f"lines {[(line.count('M'), line.count('L')) for line in lines]}")
    browser.run("document.querySelector('[data-choice=\"scale:log\"]').click()")
    if browser.run(paths)[0] == lines[0]:
        problems.append("a logarithmic scale that changes no line")
    browser.run("""(() => {
      const hit = document.querySelector('#curves .hit'), box = hit.getBoundingClientRect();
      hit.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + box.width / 6 + 1, clientY: box.top + 9, bubbles: true}));
    })()""")
    tip = text(browser, "#tip")
    if "step 20" not in tip or "validation_loss" not in tip:
        problems.append(f"tooltip {tip!r}")
    return problems
