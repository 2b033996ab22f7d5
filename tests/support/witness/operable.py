"""Lists what a person can operate in a window, by a walk of its own. Called as `operable.py PID TITLE X Y`: where it is.

A node counts when it is named and showing (below a window whose toolkit says so of nothing: visible), can be focused,
selected or edited or is a button or a menu, and offers an action, a value or text. Each has role, name and extents in the
window (x, y, width, height). What LibreOffice draws itself it places wrong, and lists the menus that GTK shows once more:
of a root pane no places are told, and no menu bar is walked.
"""

import json
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

pid, title = int(sys.argv[1]), sys.argv[2]
window = Atspi.Rect()
window.x, window.y = int(sys.argv[3]), int(sys.argv[4])
MANY = 500
# What Blink and Gecko claim of almost every node.
NOISE = {"doDefault", "showContextMenu", "clickAncestor", ""}
BY_ROLE = {"push button", "toggle button", "menu", "menu item", "check menu item", "radio menu item", "page tab"}
REACHABLE = {"focusable", "selectable", "editable"}


def asked(question, otherwise):
    try:
        return question()
    except (GLib.Error, TypeError):
        return otherwise


def children(node):
    count = asked(node.get_child_count, 0)
    return [] if count > MANY else [child for child in (asked(lambda: node.get_child_at_index(at), None) for at in range(count)) if child]


def states_of(node):
    return {state.value_nick for state in asked(lambda: node.get_state_set().get_states(), [])}


def offers(node, states):
    action = node.get_action_iface()
    count = asked(lambda: Atspi.Action.get_n_actions(node), 0) if action else 0
    names = {asked(lambda: Atspi.Action.get_action_name(node, at), "") for at in range(count)}
    return bool(names - NOISE) or "editable" in states or node.get_value_iface() is not None or "selectable" in states


def place(node, frame):
    """Qt moves one edge alone from the screen into the window, and Gecko places into its frame; else windows are right."""
    if frame is None:
        return asked(lambda: Atspi.Component.get_extents(node, Atspi.CoordType.WINDOW), None)
    box = asked(lambda: Atspi.Component.get_extents(node, Atspi.CoordType.SCREEN), None)
    if box:
        box.x, box.y = box.x - frame.x, box.y - frame.y
    return box


def walk(node, shown, frame, found, drawn=False):
    states = states_of(node)
    role, name = node.get_role_name(), asked(node.get_name, "") or ""
    if not states & shown:
        return
    # A document is operated by what stands in it.
    if name.strip() and not role.startswith("document") and (states & REACHABLE or role in BY_ROLE) and offers(node, states):
        box = None if drawn else place(node, frame)
        extents = [box.x, box.y, box.width, box.height] if box else None
        found.append({"role": role, "name": name, "extents": extents})
    for child in children(node):
        if role != "root pane" or child.get_role_name() != "menu bar":
            walk(child, shown, frame, found, drawn or role == "root pane")


found = []
desktop = Atspi.get_desktop(0)
for index in range(desktop.get_child_count()):
    application = desktop.get_child_at_index(index)
    if application is None or application.get_process_id() != pid:
        continue
    for frame in children(application):
        if title in (frame.get_name() or ""):
            screen = Atspi.Component.get_extents(frame, Atspi.CoordType.SCREEN)
            origin = {"Qt": screen, "Gecko": window}.get(application.get_toolkit_name())
            says = any("showing" in states_of(child) for child in children(frame))
            for child in children(frame):
                walk(child, {"showing"} if says else {"showing", "visible"}, origin, found)
print(json.dumps(found))
