"""A GTK 3 window that says on standard output what happens to it."""
import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk

window = Gtk.Window(title="Fixture")
window.set_default_size(600, 500)
window.connect("destroy", Gtk.main_quit)
window.connect("focus-in-event", lambda *_: print("focus in"))
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
window.add(box)

bar = Gtk.MenuBar()
menu = Gtk.Menu()
top = Gtk.MenuItem.new_with_mnemonic("_File")
top.set_submenu(menu)
for name in ("Open", "Save as"):
    item = Gtk.MenuItem(label=name)
    item.connect("activate", lambda _, name=name: print("menu", name))
    menu.append(item)
bar.append(top)
box.add(bar)

label = Gtk.Label.new_with_mnemonic("Your _name")
entry = Gtk.Entry(text="old")
label.set_mnemonic_widget(entry)
entry.connect("changed", lambda own: print("entry", own.get_text()))
entry.connect("activate", lambda _: print("entry activated"))
secret = Gtk.Entry(visibility=False)
secret.get_accessible().set_name("Secret")
for widget in (label, entry, secret):
    box.add(widget)

button = Gtk.Button(label='Say "hi"\nthere')
button.connect("clicked", lambda _: print("clicked"))
check = Gtk.CheckButton(label="Check")
check.connect("toggled", lambda own: print("check", own.get_active()))
gone = Gtk.Button(label="Remove me")
gone.connect("clicked", lambda own: (own.destroy(), print("removed")))
insensitive = Gtk.Button(label="Disabled", sensitive=False)
view = Gtk.TextView()
view.get_buffer().set_text("Lines\nof text")
for widget in (button, check, gone, insensitive, view):
    box.add(widget)

rows = Gtk.ListBox()
for name in ("first", "second"):
    rows.add(Gtk.Label(label=name))
rows.connect("row-selected", lambda _, row: print("row", row.get_index() if row else None))
box.add(rows)

store = Gtk.ListStore(str, str)
for number in range(15000):
    store.append([f"cell {number}", f"other {number}"])
table = Gtk.TreeView(model=store)
for column in range(2):
    table.append_column(Gtk.TreeViewColumn(f"Column {column}", Gtk.CellRendererText(), text=column))
scroll = Gtk.ScrolledWindow(min_content_height=150)
scroll.add(table)
box.pack_start(scroll, True, True, 0)

window.show_all()
print("ready")
Gtk.main()
