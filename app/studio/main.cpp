// Vitrine Studio: the window over an experiment database. Links no LibTorch and runs no plugin
// code.
#include <QApplication>
#include <QCommandLineParser>
#include <QEventLoop>
#include <QMessageBox>
#include <QScreen>
#include <QTimer>
#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "app/studio/drawn_page.h"
#include "app/studio/printed_page.h"
#include "app/studio/sheet.h"
#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/remote/place.h"
#include "ui/artifacts/artifacts_page.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/workbench/figure_file.h"
#include "ui/workbench/remote_link.h"

namespace {

using vitrine::ConfigError;
using vitrine::Error;
using vitrine::ExitCode;
using vitrine::NotFoundError;
namespace ui = vitrine::ui;

struct Options {
  std::filesystem::path database;
  std::optional<vitrine::remote::RemotePlace> place;  ///< of a database on another machine
  QString page, artifact, screenshot, theme;
  QString figure, sheet, print, out;
  std::vector<std::int64_t> runs;
  QSize size;
  double scale = 1;
  int waitMs = 0;
  vitrine::Json view;          ///< of the page; null for as it comes
  bool isWholeWindow = false;  ///< of a screenshot that names a page
  bool isFitted = false;       ///< of a figure: its own shape
};

// The value of `--name VALUE` or `--name=VALUE`, before there is an application.
std::optional<std::string> early(int argc, char** argv, const char* name) {
  const std::string flag = std::string("--") + name;
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == flag && i + 1 < argc) return argv[i + 1];
    if (std::strncmp(argv[i], (flag + "=").c_str(), flag.size() + 1) == 0)
      return argv[i] + flag.size() + 1;
  }
  return std::nullopt;
}

// Settings that Qt reads when it starts.
void prepareEnvironment(int argc, char** argv) {
  const bool isPicture =
      early(argc, argv, "screenshot").has_value() || early(argc, argv, "figure").has_value() ||
      early(argc, argv, "sheet").has_value() || early(argc, argv, "print").has_value();
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
    if (isPicture) {
      qputenv("QT_QPA_PLATFORM", "offscreen");
    } else if (qEnvironmentVariable("XDG_SESSION_TYPE") == QLatin1String("wayland") ||
               qEnvironmentVariableIsSet("WAYLAND_DISPLAY")) {
      // Docks cannot be dragged out on Wayland before Qt 6.6.3.
#if QT_VERSION < QT_VERSION_CHECK(6, 6, 3)
      qputenv("QT_QPA_PLATFORM", "xcb");
#endif
    }
  }
  if (const auto scale = early(argc, argv, "scale"))
    qputenv("QT_SCALE_FACTOR", QByteArray::fromStdString(*scale));
}

Options parse(const QCoreApplication& application) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral(
      "The window of Vitrine: configure, start and watch experiments.\n\n"
      "  vitrine-studio --db experiments.sqlite\n"
      "  vitrine-studio --page monitor --run 1,2 --screenshot curves.png --size 1200x800"));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption db(
      QStringLiteral("db"),
      QStringLiteral("Experiment database; ssh://lab/data/lab.sqlite is one on another machine."),
      QStringLiteral("file"));
  const QCommandLineOption page(
      QStringLiteral("page"),
      QStringLiteral("Page to open; with --screenshot the page alone is drawn."),
      QStringLiteral("name"));
  const QCommandLineOption artifact(
      QStringLiteral("artifact"),
      QStringLiteral("With --page artifacts: what it shows, ANALYSIS or ANALYSIS/NAME."),
      QStringLiteral("name"));
  const QCommandLineOption run(QStringLiteral("run"),
                               QStringLiteral("Runs to select, the first is the current one."),
                               QStringLiteral("id[,id]"));
  const QCommandLineOption picture(
      QStringLiteral("screenshot"),
      QStringLiteral("Draw into a PNG file, without a display, and end."), QStringLiteral("file"));
  const QCommandLineOption size(QStringLiteral("size"), QStringLiteral("Size in logical pixels."),
                                QStringLiteral("WxH"));
  const QCommandLineOption scale(QStringLiteral("scale"),
                                 QStringLiteral("Device pixels per logical pixel."),
                                 QStringLiteral("factor"), QStringLiteral("1"));
  const QCommandLineOption theme(QStringLiteral("theme"),
                                 QStringLiteral("dark, light or high_contrast."),
                                 QStringLiteral("name"));
  const QCommandLineOption figure(
      QStringLiteral("figure"),
      QStringLiteral("Draw an exported figure again, without a display, and end: any PNG, SVG, PDF "
                     "or CSV that the window wrote, or its recipe."),
      QStringLiteral("file"));
  const QCommandLineOption out(QStringLiteral("out"),
                               QStringLiteral("With --figure: the file to write, .png, .svg, .pdf "
                                              "or .csv. With --sheet: .png. With --print: .pdf."),
                               QStringLiteral("file"));
  const QCommandLineOption sheet(
      QStringLiteral("sheet"),
      QStringLiteral(
          "Draw several figures on one page, without a display, and end: JSON of the form "
          "{\"title\": T, \"figures\": [{\"recipe\": {...}}, {\"image\": PNG}]}."),
      QStringLiteral("file"));
  const QCommandLineOption print(
      QStringLiteral("print"), QStringLiteral("Print a report's HTML, without a display, and end."),
      QStringLiteral("file"));
  const QCommandLineOption fit(
      QStringLiteral("fit"),
      QStringLiteral(
          "With --figure: as high as the figure is at that width, not as the recipe says."));
  const QCommandLineOption wait(
      QStringLiteral("wait-ms"),
      QStringLiteral("Time given to background work before the screenshot."), QStringLiteral("ms"),
      QStringLiteral("0"));
  const QCommandLineOption view(
      QStringLiteral("view"),
      QStringLiteral("With --page: how it is looked at, as JSON; \"view\" of a figure's recipe."),
      QStringLiteral("json"));
  const QCommandLineOption window(
      QStringLiteral("window"),
      QStringLiteral("With --screenshot and --page: the whole window with that page in front."));
  parser.addOptions({db, page, artifact, run, picture, size, scale, theme, figure, sheet, print,
                     out, fit, wait, view, window});
  parser.process(application);

  Options options;
  if (vitrine::remote::isRemotePlace(parser.value(db).toStdString()))
    options.place = vitrine::remote::remotePlace(parser.value(db).toStdString());
  options.database = parser.isSet(db)      ? std::filesystem::path(parser.value(db).toStdString())
                     : parser.isSet(print) ? std::filesystem::path()
                                           : vitrine::store::defaultDatabase();
  options.page = parser.value(page);
  options.artifact = parser.value(artifact);
  if (parser.isSet(artifact) && options.page != QLatin1String("artifacts")) {
    throw ConfigError("--artifact '" + options.artifact.toStdString() +
                      "' belongs to one page; give --page artifacts with it");
  }
  options.isWholeWindow = parser.isSet(window);
  if (parser.isSet(view)) {
    if (options.page.isEmpty())
      throw ConfigError("--view says how a page is looked at; give --page with it");
    options.view = vitrine::readJson(parser.value(view).toStdString());
    if (!options.view.is_object()) {
      throw ConfigError("--view '" + parser.value(view).toStdString() +
                        "' is not a JSON object; take it from the recipe of a figure");
    }
  }
  options.screenshot = parser.value(picture);
  options.theme = parser.value(theme);
  options.figure = parser.value(figure);
  options.out = parser.value(out);
  options.isFitted = parser.isSet(fit);
  options.sheet = parser.value(sheet);
  options.print = parser.value(print);
  if ((parser.isSet(figure) || parser.isSet(sheet) || parser.isSet(print)) != parser.isSet(out)) {
    throw ConfigError(
        "--figure, --sheet or --print says what is drawn and --out where to; give both");
  }
  if (parser.isSet(out) && !ui::figureFormat(options.out)) {
    throw ConfigError("--out '" + options.out.toStdString() +
                      "' does not say what to write; end it with .png, .svg, .pdf or .csv");
  }
  if (parser.isSet(sheet) && ui::figureFormat(options.out) != ui::FigureFormat::Png) {
    throw ConfigError("--out '" + options.out.toStdString() +
                      "': a sheet is a picture; end it with .png");
  }
  if (parser.isSet(print) && ui::figureFormat(options.out) != ui::FigureFormat::Pdf) {
    throw ConfigError("--out '" + options.out.toStdString() +
                      "': a report is printed as pages; end it with .pdf");
  }
  if (!parser.positionalArguments().isEmpty()) {
    throw ConfigError("'" + parser.positionalArguments().first().toStdString() +
                      "' is not an option; see vitrine-studio --help");
  }
  for (const QString& text : parser.value(run).split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    bool isNumber = false;
    options.runs.push_back(text.trimmed().toLongLong(&isNumber));
    if (!isNumber)
      throw ConfigError("--run '" + text.toStdString() +
                        "' is not a run id; give numbers: 3 or 3,4");
  }
  if (parser.isSet(size)) {
    const QStringList parts = parser.value(size).split(QLatin1Char('x'));
    options.size = parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
    if (options.size.width() < 200 || options.size.height() < 150 || options.size.width() > 16384 ||
        options.size.height() > 16384) {
      throw ConfigError(
          "--size '" + parser.value(size).toStdString() +
          "' is not a size between 200x150 and 16384x16384; give for example 1440x900");
    }
  }
  bool isNumber = false;
  options.scale = parser.value(scale).toDouble(&isNumber);
  if (!isNumber || options.scale < 0.5 || options.scale > 4) {
    throw ConfigError("--scale '" + parser.value(scale).toStdString() +
                      "' is not a factor from 0.5 to 4");
  }
  options.waitMs = parser.value(wait).toInt(&isNumber);
  if (!isNumber || options.waitMs < 0) {
    throw ConfigError("--wait-ms '" + parser.value(wait).toStdString() +
                      "' is not a time in milliseconds");
  }
  if (parser.isSet(theme) && options.theme != QLatin1String("dark") &&
      options.theme != QLatin1String("light") && options.theme != QLatin1String("high_contrast")) {
    throw ConfigError("--theme '" + options.theme.toStdString() +
                      "' is not one of dark, light, high_contrast");
  }
  return options;
}

void waitFor(int milliseconds) {
  if (milliseconds <= 0) return;
  QEventLoop loop;
  QTimer::singleShot(milliseconds, &loop, &QEventLoop::quit);
  loop.exec();
}

// Until all that is there is here: a picture is drawn once.
void waitForLink(ui::RemoteLink& link) {
  QEventLoop loop;
  const auto look = [&] {
    const auto now = link.state().link;
    if (now == vitrine::remote::RemoteState::Link::Linked ||
        now == vitrine::remote::RemoteState::Link::Lost)
      loop.quit();
  };
  QObject::connect(&link, &ui::RemoteLink::stateChanged, &loop, look);
  loop.exec();
  if (!link.isLinked()) throw Error(link.sentence().toStdString());
}

void select(ui::StudioWorkbench& workbench, const std::vector<std::int64_t>& runs) {
  for (const std::int64_t id : runs) {
    if (workbench.run(id) == nullptr) {
      throw NotFoundError("there is no run " + std::to_string(id) + " in " +
                          workbench.store().file().string());
    }
  }
  if (!runs.empty()) workbench.selection().setRuns(runs, runs.front());
}

// What is shown of the page that the options name.
void lookAt(ui::Page& page, const Options& options) {
  if (auto* artifacts = qobject_cast<ui::ArtifactsPage*>(&page);
      artifacts != nullptr && !options.artifact.isEmpty()) {
    artifacts->showArtifact(options.artifact.section(QLatin1Char('/'), 0, 0),
                            options.artifact.section(QLatin1Char('/'), 1));
  }
  if (!options.view.is_null()) page.setViewState(options.view);
}

// With a page: that page alone. Without: the whole window.
void drawScreenshot(const Options& options, ui::StudioWorkbench& workbench) {
  workbench.start();
  QImage image;
  if (!options.page.isEmpty() && !options.isWholeWindow) {
    const ui::PageFactory* wanted = nullptr;
    std::string known;
    for (const ui::PageFactory& page : ui::pages()) {
      if (page.id == options.page) wanted = &page;
      known += (known.empty() ? "" : ", ") + page.id.toStdString();
    }
    if (wanted == nullptr) {
      throw NotFoundError("there is no page '" + options.page.toStdString() + "'; there are " +
                          known);
    }
    select(workbench, options.runs);
    workbench.setRunListVisible(false);  // a page alone names its curves
    const std::unique_ptr<ui::Page> page(wanted->make(workbench, nullptr));
    lookAt(*page, options);
    if (options.waitMs > 0) waitFor(options.waitMs);
    // QT_SCALE_FACTOR has made logical pixels of the right size already.
    image = page->snapshot(options.size.isValid() ? options.size : QSize(1100, 760), options.scale);
  } else {
    ui::MainWindow window(workbench);
    window.resize(options.size.isValid() ? options.size : QSize(1440, 900));
    window.show();
    select(workbench, options.runs);
    if (!options.page.isEmpty() && !window.showPage(options.page))
      throw NotFoundError("there is no page '" + options.page.toStdString() + "'");
    if (!options.page.isEmpty()) lookAt(*window.currentPage(), options);
    waitFor(std::max(options.waitMs, 50));
    window.waitUntilIdle();
    QApplication::processEvents();
    image = window.grab().toImage();
  }
  if (!image.save(options.screenshot, "PNG")) {
    throw Error("cannot write " + options.screenshot.toStdString() +
                "; choose a folder you may write to");
  }
}

// The figure of a recipe as it was exported, from the database as it is now.
void drawFigure(const Options& options, ui::StudioWorkbench& workbench) {
  const auto waitForPage = [&options] { waitFor(options.waitMs); };
  auto recipe = ui::readRecipe(options.figure);
  if (!recipe) {
    throw NotFoundError("there is no recipe of a figure in " + options.figure.toStdString() +
                        "; give a file that the window has exported");
  }
  workbench.start();
  const ui::DrawnPage drawn = ui::drawnPage(*recipe, workbench, waitForPage);
  if (drawn.figure == nullptr) {
    throw NotFoundError("the page '" + recipe->page +
                        "' has nothing to draw for these runs any more");
  }
  if (options.isFitted) recipe->paper = ui::paperFor(*drawn.figure, recipe->paper);
  ui::saveFigure(*drawn.figure, options.out, *recipe);
}

void drawSheet(const Options& options, ui::StudioWorkbench& workbench) {
  const auto waitForPage = [&options] { waitFor(options.waitMs); };
  const ui::Sheet sheet = ui::readSheet(options.sheet);
  workbench.start();
  std::vector<std::unique_ptr<ui::Page>> pages;
  const QImage image = ui::drawSheet(sheet, [&](const ui::Recipe& recipe) {
    ui::DrawnPage drawn = ui::drawnPage(recipe, workbench, waitForPage);
    pages.push_back(std::move(drawn.page));
    return std::move(drawn.figure);
  });
  if (!image.save(options.out, "PNG"))
    throw Error("cannot write " + options.out.toStdString() + "; choose a folder you may write to");
}

// A user who starts the window from a menu sees no terminal.
void showErrorBox(const Error& error) {
  QMessageBox box(QMessageBox::NoIcon, QStringLiteral("Vitrine Studio"),
                  QObject::tr("The database cannot be opened."), QMessageBox::Close);
  box.setInformativeText(QString::fromUtf8(error.what()));
  box.setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  box.exec();
}

// Whether the program says something and ends: that needs no display.
bool asksForHelp(int argc, char** argv) {
  const auto asks = [](std::string_view word) {
    return word == "-h" || word == "--help" || word == "--help-all" || word == "-v" ||
           word == "--version";
  };
  return std::any_of(argv + 1, argv + argc, asks);
}

// What Qt says while it looks for a display; without one it would end the program by abort().
QStringList& startingWords() {
  static QStringList words;
  return words;
}

void onStarting(QtMsgType type, const QMessageLogContext& /*context*/, const QString& text) {
  if (type != QtFatalMsg) {
    startingWords() << text.trimmed();
    return;
  }
  const QString why =
      startingWords().isEmpty() ? text.section(QLatin1Char('\n'), 0, 0) : startingWords().first();
  std::fprintf(stderr,
               "vitrine-studio: there is no display for the window (%s); draw a picture with "
               "--screenshot FILE, log in with `ssh -X`, or start vitrine-studio on the machine "
               "with the display and give it --db ssh://HOST/path/to/database\n",
               qPrintable(why));
  std::_Exit(static_cast<int>(ExitCode::Refused));
}

void setNames() {
  QCoreApplication::setApplicationName(QStringLiteral("vitrine-studio"));
  QCoreApplication::setApplicationVersion(QStringLiteral(VITRINE_VERSION));
}

int runStudio(int argc, char** argv) {
  if (asksForHelp(argc, argv)) {
    const QCoreApplication application(argc, argv);
    setNames();
    static_cast<void>(parse(application));  // prints it and ends
  }
  prepareEnvironment(argc, argv);
  QApplication::setHighDpiScaleFactorRoundingPolicy(
      Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
  qInstallMessageHandler(onStarting);
  QApplication application(argc, argv);
  qInstallMessageHandler(nullptr);
  if (early(argc, argv, "screenshot") || early(argc, argv, "figure") ||
      early(argc, argv, "sheet") || early(argc, argv, "print")) {
    // What the off-screen platform says of every window, and of a session without a runtime folder.
    qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& text) {
      const bool isNoise = text.contains(QLatin1String("propagateSizeHints")) ||
                           text.contains(QLatin1String("XDG_RUNTIME_DIR"));
      if (type != QtDebugMsg && !isNoise)
        std::fprintf(stderr, "vitrine-studio: %s\n", qPrintable(text));
    });
  }
  for (const QString& text : startingWords()) qWarning("%s", qPrintable(text));
  std::setlocale(LC_NUMERIC, "C");  // Qt has taken the user's: files and numbers have a dot
  setNames();
  QGuiApplication::setApplicationDisplayName(QStringLiteral("Vitrine Studio"));
  QGuiApplication::setDesktopFileName(QStringLiteral("org.vitrine.Studio"));

  const Options options = parse(application);
  const bool isFigure =
      !options.figure.isEmpty() || !options.sheet.isEmpty() || !options.print.isEmpty();
  const bool isWithoutWindow = !options.screenshot.isEmpty() || isFigure;
  // A figure has a size of its own; a picture of the window is drawn as large as the window is.
  if (!isFigure) ui::setUiZoom(ui::setting(QStringLiteral("window/zoom"), 1.0).toDouble());
  if (isWithoutWindow) ui::forgetSettings();
  const QString stored =
      ui::setting(QStringLiteral("window/theme"), QStringLiteral("dark")).toString();
  ui::applyTheme(ui::themeFromString(options.theme.isEmpty() ? stored : options.theme));

  if (!options.print.isEmpty()) {  // of any database, and of none
    ui::printPage(options.print, options.out);
    return static_cast<int>(ExitCode::Done);
  }
  std::unique_ptr<ui::RemoteLink> link;
  std::unique_ptr<ui::StudioWorkbench> opened;
  try {
    if (options.place) {
      link = std::make_unique<ui::RemoteLink>(*options.place);
      if (isWithoutWindow) waitForLink(*link);
      opened = std::make_unique<ui::StudioWorkbench>(*link);
    } else {
      opened = std::make_unique<ui::StudioWorkbench>(options.database);
    }
  } catch (const Error& error) {
    if (!isWithoutWindow) showErrorBox(error);
    throw;
  }
  ui::StudioWorkbench& workbench = *opened;
  if (!options.screenshot.isEmpty()) {
    drawScreenshot(options, workbench);
    return static_cast<int>(ExitCode::Done);
  }
  if (!options.figure.isEmpty()) {
    drawFigure(options, workbench);
    return static_cast<int>(ExitCode::Done);
  }
  if (!options.sheet.isEmpty()) {
    drawSheet(options, workbench);
    return static_cast<int>(ExitCode::Done);
  }
  workbench.start();
  ui::MainWindow window(workbench);
  const QSize room = window.screen()->availableSize();
  if (options.size.isValid()) {
    window.resize(options.size);
  } else if (window.width() >= room.width() || window.height() >= room.height()) {
    window.setWindowState(
        Qt::WindowMaximized);  // its frame would push the lower edge off the screen
  }
  const bool isPageThere = !options.page.isEmpty() && window.showPage(options.page);
  window.show();
  if (!options.runs.empty()) select(workbench, options.runs);
  if (isPageThere) lookAt(*window.currentPage(), options);
  workbench.queue().attend();
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return runStudio(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "vitrine-studio: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vitrine-studio: %s\n", error.what());
    return static_cast<int>(ExitCode::Failed);
  }
}
