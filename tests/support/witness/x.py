"""A second X client that says, as JSON, how things stand on the display, or changes them as a person would.

It reads one request a line and prints one line of JSON for each, null where it only did something, until its input ends.
`state` prints pointer, focus, active window, stacking order, the root's children with their input shapes, the
master devices, whether there is a compositor, and whether it draws the display. `move WINDOW X Y`, `raise WINDOW`, `activate WINDOW`, `minimize WINDOW`, `point X Y` do that.
`desktop WINDOW N` puts a window on workspace N, of which there are then at least N + 1.
`wallpaper` gives the display a background of stripes, as programs do that show pictures there.
`keymap` prints the keysyms of every keycode.
`grabbable` says whether nobody holds pointer or keyboard.
"""

import ctypes
import json
import sys
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int, c_long, c_short, c_uint, c_ulong, c_ushort, c_void_p

x11 = ctypes.CDLL("libX11.so.6")
xext = ctypes.CDLL("libXext.so.6")
xi = ctypes.CDLL("libXi.so.6")
xcomposite = ctypes.CDLL("libXcomposite.so.1")


class Rectangle(Structure):
    _fields_ = [("x", c_short), ("y", c_short), ("width", c_ushort), ("height", c_ushort)]


class Device(Structure):
    _fields_ = [
        ("deviceid", c_int), ("name", c_char_p), ("use", c_int), ("attachment", c_int), ("enabled", c_int),
        ("num_classes", c_int), ("classes", c_void_p),
    ]


class WindowAttributes(Structure):
    """The members before `map_state` take 92 bytes; the rest is not read."""

    _fields_ = [("before", c_char * 92), ("map_state", c_int), ("rest", c_char * 64)]


class ClientMessage(Structure):
    _fields_ = [
        ("type", c_int), ("serial", c_ulong), ("send_event", c_int), ("display", c_void_p), ("window", c_ulong),
        ("message_type", c_ulong), ("format", c_int), ("data", c_long * 5), ("padding", c_long * 24),
    ]


x11.XOpenDisplay.restype = c_void_p
x11.XDefaultRootWindow.restype = c_ulong
x11.XInternAtom.restype = c_ulong
x11.XGetSelectionOwner.restype = c_ulong
xext.XShapeGetRectangles.restype = POINTER(Rectangle)
xi.XIQueryDevice.restype = POINTER(Device)
xcomposite.XCompositeGetOverlayWindow.restype = c_ulong

display = c_void_p(x11.XOpenDisplay(None))
if not display.value:
    sys.exit("the witness cannot open the display")
root = c_ulong(x11.XDefaultRootWindow(display))
# Windows may go while they are looked at; the default handler would end the witness.
handler_type = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
handler = handler_type(lambda *_: 0)
x11.XSetErrorHandler(handler)


def atom(name):
    return c_ulong(x11.XInternAtom(display, name.encode(), 0))


def windows_in(property_):
    kind, form, items, after, data = c_ulong(), c_int(), c_ulong(), c_ulong(), POINTER(c_ulong)()
    x11.XGetWindowProperty(
        display, root, atom(property_), c_long(0), c_long(4096), 0, c_ulong(33), byref(kind), byref(form), byref(items),
        byref(after), byref(data),
    )
    return [data[index] for index in range(items.value)] if form.value == 32 else []


def pointer():
    a, b = c_ulong(), c_ulong()
    x, y, window_x, window_y, mask = c_int(), c_int(), c_int(), c_int(), c_uint()
    x11.XQueryPointer(
        display, root, byref(a), byref(b), byref(x), byref(y), byref(window_x), byref(window_y), byref(mask)
    )
    return {"x": x.value, "y": y.value, "buttons": mask.value >> 8 & 31}


def keys():
    """Keycodes of the person's keyboard that are down."""
    bits = (c_char * 32)()
    x11.XQueryKeymap(display, bits)
    down = b"".join(bits)
    return [code for code in range(256) if down[code // 8] >> code % 8 & 1]


def focus():
    window, revert = c_ulong(), c_int()
    x11.XGetInputFocus(display, byref(window), byref(revert))
    return window.value


def input_shape(window):
    count, ordering = c_int(), c_int()
    rectangles = xext.XShapeGetRectangles(display, c_ulong(window), 2, byref(count), byref(ordering))
    return [[getattr(rectangles[i], name) for name in ("x", "y", "width", "height")] for i in range(count.value)]


def children():
    a, b, found, count = c_ulong(), c_ulong(), POINTER(c_ulong)(), c_uint()
    x11.XQueryTree(display, root, byref(a), byref(b), byref(found), byref(count))
    return [found[index] for index in range(count.value)]


def masters():
    major, minor = c_int(2), c_int(2)
    xi.XIQueryVersion(display, byref(major), byref(minor))
    count = c_int()
    devices = xi.XIQueryDevice(display, 1, byref(count))
    return [devices[index].name.decode() for index in range(count.value)]


def is_drawn():
    """True while the compositor shows what it draws: the windows themselves are not on the screen then."""
    overlay = c_ulong(xcomposite.XCompositeGetOverlayWindow(display, root))
    attributes = WindowAttributes()
    x11.XGetWindowAttributes(display, overlay, byref(attributes))
    xcomposite.XCompositeReleaseOverlayWindow(display, root)
    return attributes.map_state == 2


def state():
    is_composited = x11.XGetSelectionOwner(display, atom("_NET_WM_CM_S0")) != 0
    active = windows_in("_NET_ACTIVE_WINDOW")
    return {
        "pointer": pointer(),
        "keys": keys(),
        "focus": focus(),
        "active_window": active[0] if active and active[0] else None,
        "stacking": windows_in("_NET_CLIENT_LIST_STACKING"),
        "clients": windows_in("_NET_CLIENT_LIST"),
        "children": [{"window_id": window, "input_shape": input_shape(window)} for window in children()],
        "masters": masters(),
        "is_composited": is_composited,
        "is_drawn_by_compositor": is_composited and is_drawn(),
    }


def grabbable():
    now = c_ulong(0)
    pointer_status = x11.XGrabPointer(display, root, 0, c_uint(0), 1, 1, c_ulong(0), c_ulong(0), now)
    keyboard_status = x11.XGrabKeyboard(display, root, 0, 1, 1, now)
    x11.XUngrabPointer(display, now)
    x11.XUngrabKeyboard(display, now)
    return {"pointer": pointer_status == 0, "keyboard": keyboard_status == 0}


def keymap():
    first, last, width = c_int(), c_int(), c_int()
    x11.XDisplayKeycodes(display, byref(first), byref(last))
    count = last.value - first.value + 1
    x11.XGetKeyboardMapping.restype = POINTER(c_ulong)
    symbols = x11.XGetKeyboardMapping(display, ctypes.c_ubyte(first.value), count, byref(width))
    rows = [symbols[key * width.value : (key + 1) * width.value] for key in range(count)]
    return {first.value + key: row for key, row in enumerate(rows) if any(row)}


def tell(window, name, *data):
    message = ClientMessage(type=33, window=window, message_type=atom(name).value, format=32)
    for position, number in enumerate(data):
        message.data[position] = number
    x11.XSendEvent(display, root, 0, c_long(0x180000), byref(message))


def wallpaper():
    x11.XCreatePixmap.restype = x11.XCreateGC.restype = c_void_p
    picture = c_ulong(x11.XCreatePixmap(display, root, 48, 40, 24))
    context = c_void_p(x11.XCreateGC(display, picture, c_ulong(0), None))
    for row in range(5):
        x11.XSetForeground(display, context, c_ulong(0x204060 + row * 0x201008))
        x11.XFillRectangle(display, picture, context, 0, row * 8, 48 - row * 9, 8)
    number = c_ulong(picture.value)
    x11.XChangeProperty(display, root, atom("_XROOTPMAP_ID"), c_ulong(20), 32, 0, byref(number), 1)
    x11.XSetWindowBackgroundPixmap(display, root, picture)
    x11.XClearWindow(display, root)
    x11.XSetCloseDownMode(display, 1)


def asked(verb, numbers):
    """What the verb gives, as a value for JSON; None where it only does something."""
    if verb == "state":
        return state()
    if verb == "grabbable":
        return grabbable()
    if verb == "keymap":
        return keymap()
    if verb == "move":
        x11.XMoveWindow(display, c_ulong(numbers[0]), numbers[1], numbers[2])
    elif verb == "raise":
        x11.XRaiseWindow(display, c_ulong(numbers[0]))
    elif verb == "activate":
        tell(numbers[0], "_NET_ACTIVE_WINDOW", 2)
    elif verb == "desktop":
        tell(root.value, "_NET_NUMBER_OF_DESKTOPS", max(2, numbers[1] + 1))
        tell(numbers[0], "_NET_WM_DESKTOP", numbers[1], 2)
    elif verb == "minimize":
        x11.XIconifyWindow(display, c_ulong(numbers[0]), 0)
    elif verb == "wallpaper":
        wallpaper()
    elif verb == "point":
        x11.XWarpPointer(display, c_ulong(0), root, 0, 0, 0, 0, numbers[0], numbers[1])
    else:
        sys.exit(f"the witness has no verb {verb}")
    return None


for line in sys.stdin:
    verb, *words = line.split()
    answer = asked(verb, [int(word) for word in words])
    x11.XSync(display, 0)
    print(json.dumps(answer), flush=True)
