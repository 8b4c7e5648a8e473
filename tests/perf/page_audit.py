#!/usr/bin/env python3
"""Looks at pages of keramos-perf report in Chromium: on a phone, a laptop, a projector and paper, light and dark.

  page_audit.py --browser /usr/bin/chromium [--pictures FOLDER] page.html...

axe-core and page_audit.js must find nothing. Then defects are put into the last page, and each must be found.
"""
import argparse
import pathlib
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

MEASURE = (pathlib.Path(__file__).parent / "page_audit.js").read_text()
# Width and height in px, light or dark, whether axe looks too.
SCREENS = {
    "phone": (390, 844, "light", True),
    "phone-dark": (390, 844, "dark", False),
    "small-phone": (360, 640, "light", False),
    "tablet": (768, 1024, "light", False),
    "laptop": (1280, 800, "light", False),
    "laptop-dark": (1280, 800, "dark", True),
    "projector": (1920, 1080, "light", False),
    "projector-dark": (1920, 1080, "dark", False),
}
# What must be found: a screen, a style or script that does the damage, and a word of the complaint.
DEFECTS = [
    ("phone", "figure svg{max-width:250px!important}", "text of"),
    ("phone", "td{font-size:10px}", "text of 10 px"),
    ("phone", "h1{min-width:500px}", "wide in a window"),
    ("phone", "thead th{position:static!important}", "should stick"),
    ("laptop", "thead th{position:static!important}", "should stick"),
    ("laptop", "svg .ink{fill:#8a8a8a!important}", "contrast"),
    ("laptop-dark", "svg .ink{fill:#1d1f23!important}", "contrast"),
    ("laptop-dark", ".sub{color:#666!important}", "contrast"),
    ("laptop", "() => document.querySelectorAll('th').forEach(h => h.removeAttribute('scope'))", "scope"),
    ("laptop", "() => document.querySelectorAll('polyline').forEach(p => p.removeAttribute('stroke-dasharray'))", "colour alone"),
    ("laptop", "() => document.documentElement.removeAttribute('lang')", "axe: html-has-lang"),
    ("laptop", "() => document.querySelectorAll('svg').forEach(s => s.removeAttribute('aria-label'))", "axe: svg-img-alt"),
    ("laptop", "() => document.querySelector('main').replaceWith(...document.querySelector('main').childNodes)", "axe: landmark-one-main"),
]


def complaints(page, with_axe):
    found = page.evaluate(MEASURE)
    if with_axe:
        violations = Axe().run(page).response["violations"]
        found += [f"axe: {v['id']}: {v['help']}: {v['nodes'][0]['html'][:120]}" for v in violations]
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--browser", required=True)
    arguments.add_argument("--pictures", type=pathlib.Path)
    arguments.add_argument("pages", nargs="+", type=pathlib.Path)
    options = arguments.parse_args()
    bad = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.browser, args=["--no-sandbox"])

        def open_page(path):
            page = browser.new_context().new_page()
            page.goto(path.absolute().as_uri())
            return page

        def show_on(page, screen):
            width, height, scheme, _ = SCREENS[screen]
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)

        for path in options.pages:
            name = path.parent.name
            page = open_page(path)

            def look(where, with_axe):
                found = complaints(page, with_axe)
                for complaint in found:
                    print(f"{name}, {where}: {complaint}")
                return len(found)

            if options.pictures:  # of what is shown before anything is opened
                for screen in SCREENS:
                    show_on(page, screen)
                    page.screenshot(path=options.pictures / f"{name}-{screen}.png", full_page=True)
            page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
            for screen, (_, _, _, with_axe) in SCREENS.items():
                show_on(page, screen)
                bad += look(screen, with_axe)
            show_on(page, "tablet")
            page.set_viewport_size({"width": 718, "height": 1000})  # A4 within its margins
            page.emulate_media(media="print")
            bad += look("print", False)
            if options.pictures:
                page.pdf(path=options.pictures / f"{name}.pdf", format="A4")
            page.context.close()
            print(f"{name}: looked at", flush=True)

        for screen, damage, word in DEFECTS:
            page = open_page(options.pages[-1])
            show_on(page, screen)
            if damage.startswith("("):
                page.evaluate(damage)
            else:
                page.add_style_tag(content=damage)
            if not any(word in c for c in complaints(page, word.startswith("axe"))):
                print(f"NOT FOUND: {damage}")
                bad += 1
            page.context.close()
        print(f"{len(DEFECTS)} defects were put in and looked for")
        browser.close()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
