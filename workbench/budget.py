"""A slider: so many servers, so large a context window, and what is gone before anyone speaks."""

import html

import ipywidgets as widgets

WINDOWS = (32_000, 128_000, 200_000, 1_000_000)
MOST_SERVERS = 60


def words(servers: int, each: int, window: int) -> str:
    """ "5 servers of 1,619 tokens: 8,095 of 128,000, 6.3 %"; it says so where they do not fit."""
    total = servers * each
    gone = f"{servers} servers of {each:,} tokens: {total:,} of {window:,}, {total / window:.1%}"
    return gone.replace("%", " %") + ("" if total <= window else ": they do not fit")


def bar(servers: int, each: int, window: int) -> str:
    """The window as a bar, its taken part filled; colours and words say the same."""
    share = min(1.0, servers * each / window)
    colour = "#2b6cb0" if share < 0.1 else "#975a16" if share < 0.5 else "#c53030"
    text = html.escape(words(servers, each, window))
    return (
        '<div style="border: 1px solid #718096; width: 100%; height: 1.2em">'
        f'<div style="background: {colour}; width: {share:.1%}; height: 100%"></div></div>'
        f"<div>{text}</div>"
    )


def budget(each: int, servers: int = 5, window: int = 128_000) -> widgets.Widget:
    """Servers of `each` tokens against a context window, with a slider and a choice of windows."""
    slider = widgets.IntSlider(
        value=servers, min=0, max=MOST_SERVERS, description="servers", continuous_update=True
    )
    choice = widgets.Dropdown(
        options=[(f"{size:,} tokens", size) for size in WINDOWS], value=window, description="window"
    )
    picture = widgets.HTML()

    def redraw(_: object = None) -> None:
        picture.value = bar(slider.value, each, choice.value)

    slider.observe(redraw, names="value")
    choice.observe(redraw, names="value")
    redraw()
    return widgets.VBox([slider, choice, picture])
