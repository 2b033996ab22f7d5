"""Inserts text into a field through one bare call: the floor under typing.

Called as `bare_insert.py PID NAME`. For each line of standard input calls EditableText.InsertText with it, over the
application's own socket where it has one, and prints the seconds since 1970 at which the call began and the
milliseconds until its reply.
"""

import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

pid, name = int(sys.argv[1]), sys.argv[2]


def field(node):
    if node is None:
        return None
    if node.get_name() == name and "EditableText" in node.get_interfaces():
        return node
    found = (field(node.get_child_at_index(index)) for index in range(node.get_child_count()))
    return next((child for child in found if child is not None), None)


desktop = Atspi.get_desktop(0)
applications = [desktop.get_child_at_index(index) for index in range(desktop.get_child_count())]
found = field(next(each for each in applications if each is not None and each.get_process_id() == pid))
if found is None:
    sys.exit(f"no field {name}")
owner, path = found.app.bus_name, found.path

session = Gio.bus_get_sync(Gio.BusType.SESSION)
address = session.call_sync(
    "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, Gio.DBusCallFlags.NONE, -1
).unpack()[0]
flags = Gio.DBusConnectionFlags
bus = Gio.DBusConnection.new_for_address_sync(
    address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None
)
try:
    own = bus.call_sync(
        owner, "/org/a11y/atspi/accessible/root", "org.a11y.atspi.Application", "GetApplicationBusAddress",
        None, None, Gio.DBusCallFlags.NONE, -1,
    ).unpack()[0]
    bus, owner = Gio.DBusConnection.new_for_address_sync(own, flags.AUTHENTICATION_CLIENT, None, None), None
except GLib.Error as error:
    print(f"over the bus: {error.message}", file=sys.stderr)

print("ready", flush=True)
for line in sys.stdin:
    text = line.rstrip("\n")
    arguments = GLib.Variant("(isi)", (0, text, len(text.encode())))
    start = time.time()
    began = time.perf_counter()
    bus.call_sync(
        owner, path, "org.a11y.atspi.EditableText", "InsertText", arguments, None, Gio.DBusCallFlags.NONE, -1
    )
    print(start, (time.perf_counter() - began) * 1000, flush=True)
