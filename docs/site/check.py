"""Looks at the site in headless Chromium, from files: no page is wider than a phone or a desktop, and the search finds gemm.

check.py <folder of the site>; exit status 1 says what is wrong, 0 also where there is no browser, which it says.
"""

import pathlib
import re
import shutil
import subprocess
import sys

SITE = pathlib.Path(sys.argv[1]).resolve()
WIDTHS = {"phone": 390, "desktop": 1440}
browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if browser is None:
    sys.exit(print("the site is NOT LOOKED AT: no chromium"))


def look(url, *options):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--window-size=1600,1000",
               *options, "--dump-dom", url]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout


pages = sorted(p.relative_to(SITE).as_posix() for p in SITE.rglob("*.html") if "reference" not in p.parts and p.name != "404.html")
measure = SITE / "measure.html"
measure.write_text("""<!doctype html><ul id="out"></ul><script>
const pages = %s, widths = %s;
(async () => {
  for (const page of pages) for (const width of widths) {
    const frame = document.createElement("iframe");
    frame.style.width = width + "px"; frame.style.height = "900px"; frame.style.border = "0";
    const loaded = new Promise(done => frame.onload = done);
    frame.src = page; document.body.append(frame); await loaded;
    const row = document.createElement("li");
    row.textContent = page + " " + width + " " + frame.contentDocument.documentElement.scrollWidth;
    out.append(row); frame.remove();
  }
})();
</script>""" % (pages, list(WIDTHS.values())))
rows = re.findall(r"<li>(\S+) (\d+) (\d+)</li>", look(measure.as_uri(), "--allow-file-access-from-files"))
measure.unlink()
problems = [f"{page} is {is_wide} wide at {width}" for page, width, is_wide in rows if int(is_wide) > int(width)]
if len(rows) != len(pages) * len(WIDTHS):
    problems.append(f"{len(rows)} of {len(pages) * len(WIDTHS)} views were measured")

remote = {page for page in pages if re.search(r'<(script|link)[^>]* (src|href)="https?:', (SITE / page).read_text())}
if remote:
    problems.append(f"pages that ask the network: {remote}")
found = re.findall(r'href="([^"]*)"[^>]*class="md-search-result__link"', look((SITE / "index.html").as_uri() + "?q=gemm"))
if not any("api" in link or "tutorial" in link for link in found):
    problems.append(f"the search for gemm finds {found}")
print(f"{len(pages)} pages at {', '.join(WIDTHS)} width; the search for gemm finds {len(found)} pages")
sys.exit("\n".join(problems) or 0)
