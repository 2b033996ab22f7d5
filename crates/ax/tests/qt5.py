"""A Qt 5 window that says on standard output what happens to it."""
import sys

from PyQt5 import QtWidgets as Qt

application = Qt.QApplication(sys.argv)
window = Qt.QWidget()
window.setWindowTitle("Fixture")
layout = Qt.QVBoxLayout(window)
button = Qt.QPushButton("Push")
button.clicked.connect(lambda: print("clicked"))
check = Qt.QCheckBox("Check")
check.toggled.connect(lambda on: (table.scrollToBottom(), print("check", on)))
line = Qt.QLineEdit("old")
line.setAccessibleName("Line")
line.textChanged.connect(lambda text: print("line", text))
rows = Qt.QListWidget()
rows.addItems(["one", "two"])
table = Qt.QTableWidget(300, 40)
table.setItem(0, 0, Qt.QTableWidgetItem("corner"))
for widget in (button, check, line, rows, table):
    layout.addWidget(widget)
window.resize(600, 500)
window.show()
print("ready")
application.exec_()
