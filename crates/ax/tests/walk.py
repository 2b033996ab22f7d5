"""Walks an application with the AT-SPI library, one call at a time: role and name of everything that is shown."""
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi


def walk(node, depth):
    states = node.get_state_set()
    if depth > 1 and not states.contains(Atspi.StateType.SHOWING):
        return
    if depth > 1 and node.get_name():
        print(node.get_role_name(), node.get_name(), sep="\t")
    for index in range(min(node.get_child_count(), 500)):
        child = node.get_child_at_index(index)
        if child:
            walk(child, depth + 1)


desktop = Atspi.get_desktop(0)
for index in range(desktop.get_child_count()):
    application = desktop.get_child_at_index(index)
    if application.get_process_id() == int(sys.argv[1]):
        walk(application, 0)
