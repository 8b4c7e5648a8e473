"""MkDocs calls these. Pages link to files of the repository. A header becomes its page of the reference, if there is one.
Another file is copied beside the pages. A folder keeps its name alone. MkDocs checks every link that is left, so that a dead
one ends a strict build."""

import os
import pathlib
import re
import shutil
import xml.etree.ElementTree

from mkdocs.structure.files import File

ROOT = pathlib.Path(os.environ["KERAMOS_ROOT"])
REFERENCE = pathlib.Path(os.environ["KERAMOS_REFERENCE"])
LINK = re.compile(r"(\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")


def reference_pages():
    tags = REFERENCE / "keramos.tag"
    if not tags.exists():
        return {}
    files = xml.etree.ElementTree.parse(tags).getroot().iterfind("compound[@kind='file']")
    names = {f.findtext("path", "") + f.findtext("name"): f.findtext("filename") for f in files}
    return {name: page if page.endswith(".html") else page + ".html" for name, page in names.items()}


PAGES = reference_pages()


def on_files(files, config):
    html = REFERENCE / "docs/html"
    for path in sorted(html.rglob("*")):
        if path.is_file():
            name = path.relative_to(html).as_posix()
            files.append(File.generated(config, "reference/" + name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = pathlib.PurePosixPath(page.file.src_uri).parent

    def rewritten(match):
        text, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if "://" in target or target.startswith("mailto:"):
            return match.group(0)
        path = os.path.normpath(folder / target)
        source = ROOT / path
        if not source.exists() or files.get_file_from_path(path):
            return match.group(0)
        if source.is_dir():
            return text[1:-1]
        up = "../" * len(folder.parts)
        for name in (str(source), path, path.removeprefix("src/")):
            if name in PAGES:
                return f"{text}({up}reference/{PAGES[name]})"
        files.append(File.generated(config, path, abs_src_path=str(source)))
        return match.group(0)

    parts = re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.MULTILINE | re.DOTALL)  # every second one is code
    return "".join(part if i % 2 else LINK.sub(rewritten, part) for i, part in enumerate(parts))


def on_post_page(output, page, config):
    # The theme's own stand-in for workers comes from the network.
    return output.replace("https://unpkg.com/iframe-worker/shim", "../" * page.url.count("/") + "worker.js")


def on_post_build(config):
    shutil.copy(ROOT / "docs/site/worker.js", config.site_dir)
