"""Walks an application's accessibility tree on its own and prints it as JSON. Called as `tree.py PID TITLE`.

Each node has role, name, states, actions, extents in the window (x, y, width, height) and depth. The walk is that of
AT-SPI's own client library, one call after the other.
"""

import json
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

pid, title = int(sys.argv[1]), sys.argv[2]


def actions(node):
    try:
        return [Atspi.Action.get_action_name(node, index) for index in range(Atspi.Action.get_n_actions(node))]
    except (GLib.Error, TypeError):
        return []


def extents(node):
    try:
        box = Atspi.Component.get_extents(node, Atspi.CoordType.WINDOW)
        return [box.x, box.y, box.width, box.height]
    except (GLib.Error, TypeError):
        return None


def walk(node, depth, found):
    states = [state.value_nick for state in node.get_state_set().get_states()]
    found.append(
        {
            "role": node.get_role_name(),
            "name": node.get_name(),
            "states": states,
            "actions": actions(node),
            "extents": extents(node),
            "depth": depth,
        }
    )
    if "manages-descendants" in states:
        return
    for index in range(node.get_child_count()):
        child = node.get_child_at_index(index)
        if child is not None:
            walk(child, depth + 1, found)


found = []
desktop = Atspi.get_desktop(0)
for index in range(desktop.get_child_count()):
    application = desktop.get_child_at_index(index)
    if application is None or application.get_process_id() != pid:
        continue
    for number in range(application.get_child_count()):
        frame = application.get_child_at_index(number)
        if frame is not None and title in frame.get_name():
            walk(frame, 0, found)
print(json.dumps(found))
