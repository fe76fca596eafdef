// A window of Qt with a menu, a list and a text, and nothing of Vitrine: what a start costs before
// the first line of ours. bench_studio_start.py compares with it.
#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QListWidget>
#include <QMainWindow>
#include <QMenuBar>

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QMainWindow window;
  window.menuBar()->addMenu(QStringLiteral("File"))->addAction(QStringLiteral("Quit"));
  auto* list = new QListWidget;
  for (int row = 0; row < 20; ++row)
    list->addItem(QStringLiteral("A row of the list, %1").arg(row));
  auto* dock = new QDockWidget(QStringLiteral("List"));
  dock->setWidget(list);
  window.addDockWidget(Qt::LeftDockWidgetArea, dock);
  QString text;
  for (int line = 0; line < 30; ++line) text += QStringLiteral("Some text in the middle of it\n");
  window.setCentralWidget(new QLabel(text));
  window.resize(1440, 900);
  window.show();
  return QApplication::exec();
}
