"""Checks that every relative link of the documentation leads to a file. usage: links.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
broken = []
pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
for page in pages:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.split("#")[0]
        if path and "://" not in path and not (page.parent / path).exists():
            broken.append(f"{page.relative_to(root)}: {target}")
print(f"{len(pages)} pages, {len(broken)} broken links", *broken, sep="\n")
sys.exit(bool(broken))
