"""An application without a window that says of its accessible objects that they lie in one another.

A frame "Cycle" has a panel, the panel has a button "Inside" and the frame, and the button has the panel.
"""
import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

ROOT = "/org/a11y/atspi/accessible/root"
SHOWN = [1 << 8 | 1 << 24 | 1 << 25 | 1 << 30, 0]
# Role, name and children of each object (ATSPI_ROLE_*).
OBJECTS = {
    ROOT: (75, "Cycle", ["/frame"]),
    "/frame": (23, "Cycle", ["/panel"]),
    "/panel": (39, "", ["/button", "/frame"]),
    "/button": (43, "Inside", ["/panel"]),
}
INTERFACES = Gio.DBusNodeInfo.new_for_xml(
    """<node>
    <interface name="org.a11y.atspi.Accessible">
      <method name="GetChildren"><arg type="a(so)" direction="out"/></method>
      <method name="GetState"><arg type="au" direction="out"/></method>
      <method name="GetRole"><arg type="u" direction="out"/></method>
      <method name="GetInterfaces"><arg type="as" direction="out"/></method>
      <property name="Name" type="s" access="read"/>
      <property name="ChildCount" type="i" access="read"/>
    </interface>
    <interface name="org.a11y.atspi.Application">
      <property name="ToolkitName" type="s" access="read"/>
      <property name="Version" type="s" access="read"/>
    </interface></node>"""
).interfaces


def called(_connection, _sender, path, _interface, method, _arguments, invocation):
    role, _, children = OBJECTS[path]
    answers = {
        "GetChildren": ("(a(so))", ([(name, child) for child in children],)),
        "GetState": ("(au)", (SHOWN,)),
        "GetRole": ("(u)", (role,)),
        "GetInterfaces": ("(as)", (["org.a11y.atspi.Accessible"],)),
    }
    invocation.return_value(GLib.Variant(*answers[method]))


def asked(_connection, _sender, path, _interface, property_):
    _, label, children = OBJECTS[path]
    answers = {"Name": label, "ToolkitName": "cycle", "Version": "1"}
    return GLib.Variant("i", len(children)) if property_ == "ChildCount" else GLib.Variant("s", answers[property_])


session = Gio.bus_get_sync(Gio.BusType.SESSION)
reply = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, 0, -1, None)
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(reply.unpack()[0], flags, None, None)
name = bus.get_unique_name()
for path in OBJECTS:
    for interface in INTERFACES:
        bus.register_object(path, interface, called, asked, None)
own = GLib.Variant("((so))", ((name, ROOT),))
bus.call_sync("org.a11y.atspi.Registry", ROOT, "org.a11y.atspi.Socket", "Embed", own, None, 0, -1, None)
print("ready")
GLib.MainLoop().run()
