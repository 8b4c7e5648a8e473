"""MkDocs calls these. Pages link to files of the repository: a header becomes its page of the reference, if there is one,
another file is copied beside the pages, and a folder keeps its name alone."""

import os
import pathlib
import re
import shutil
import xml.etree.ElementTree

from mkdocs.structure.files import File

ROOT = pathlib.Path(os.environ["KERAMOS_ROOT"])
LINK = re.compile(r"(\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")


def reference_pages():
    tags = pathlib.Path(os.environ["KERAMOS_TAGS"])
    if not tags.exists():
        return {}
    files = xml.etree.ElementTree.parse(tags).getroot().iterfind("compound[@kind='file']")
    names = {f.findtext("path", "") + f.findtext("name"): f.findtext("filename") for f in files}
    return {name: page if page.endswith(".html") else page + ".html" for name, page in names.items()}


PAGES = reference_pages()


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
        copy = pathlib.Path(config.site_dir) / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
        text = text[1:-1].strip("`")
        if match.string[: match.start()].endswith("!"):
            return match.group(0)
        return f'<a href="{up}{path}">{text}</a>'  # as it is: MkDocs knows no such page

    parts = re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.MULTILINE | re.DOTALL)  # every second one is code
    return "".join(part if i % 2 else LINK.sub(rewritten, part) for i, part in enumerate(parts))


def on_post_page(output, page, config):
    # The theme's own stand-in for workers comes from the network.
    return output.replace("https://unpkg.com/iframe-worker/shim", "../" * page.url.count("/") + "worker.js")


def on_post_build(config):
    shutil.copy(ROOT / "docs/site/worker.js", config.site_dir)
