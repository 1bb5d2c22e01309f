"""Formulas and diagrams that need no network: both are drawn when the site is built, formulas as MathML."""

from __future__ import annotations

import mermaidx
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator


class Mermaid(SphinxDirective):
    """A diagram in Mermaid's language, drawn as SVG in the page itself."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture."""
        name = f"mermaid-{self.env.new_serialno('mermaid')}"  # the styles refer to the picture's id
        picture = mermaidx.render("\n".join(self.content)).svg().replace("my-svg", name)
        frame = f'<div style="background: white; overflow-x: auto">{picture}</div>'
        return [nodes.raw("", frame, format="html")]


def write_inline(page: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    page.body.append(convert(node.astext()))
    raise nodes.SkipNode


def write_display(page: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    page.body.append(f'<div style="overflow-x: auto">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the directive and the way to write formulas."""
    app.add_directive("mermaid", Mermaid)
    app.add_html_math_renderer("mathml", (write_inline, None), (write_display, None))
