#include "ui/live/gl_view.h"

#include <imgui.h>
#include <imgui_impl_opengl3.h>

#include <QElapsedTimer>
#include <QGuiApplication>
#include <QOffscreenSurface>
#include <QOpenGLFunctions>

#include "ui/kit/theme.h"
#include "ui/live/live_canvas.h"

namespace vitrine::ui {

namespace {

QSurfaceFormat liveFormat() {
  QSurfaceFormat format;
  format.setVersion(3, 2);
  format.setProfile(QSurfaceFormat::CoreProfile);
  format.setSwapInterval(0);
  return format;
}

QString lookForOpenGl() {
  const QString platform = QGuiApplication::platformName();
  if (platform == QLatin1String("offscreen") || platform == QLatin1String("minimal"))
    return GlView::tr("The platform \u201c%1\u201d has no OpenGL.").arg(platform);
  QOpenGLContext context;
  context.setFormat(liveFormat());
  if (!context.create()) return GlView::tr("No OpenGL 3.2 is available on this display.");
  QOffscreenSurface surface;
  surface.setFormat(context.format());
  surface.create();
  if (!context.makeCurrent(&surface)) return GlView::tr("OpenGL cannot be used on this display.");
  const bool isEnough = context.format().version() >= qMakePair(3, 2);
  context.doneCurrent();
  return isEnough ? QString()
                  : GlView::tr("This display has OpenGL %1.%2; 3.2 is needed.")
                        .arg(context.format().majorVersion())
                        .arg(context.format().minorVersion());
}

}  // namespace

QString openGlProblem() {
  static const QString problem = lookForOpenGl();
  return problem;
}

GlView::GlView(LiveCanvas& canvas) : canvas_(canvas) {
  setSurfaceType(QSurface::OpenGLSurface);
  setFormat(liveFormat());
}

GlView::~GlView() {
  if (!context_) return;
  // A container has destroyed the surface of this window before it deletes it.
  QOffscreenSurface surface;
  surface.setFormat(context_->format());
  surface.create();
  const bool isCurrent = context_->makeCurrent(&surface);
  for (auto& [number, picture] : canvas_.textures().all()) {
    const auto texture = static_cast<GLuint>(picture.texture);
    if (isCurrent && texture != 0) context_->functions()->glDeleteTextures(1, &texture);
    picture.texture = picture.made = 0;
  }
  if (!isCurrent) return;
  canvas_.makeCurrent();
  if (isReady_) ImGui_ImplOpenGL3_Shutdown();
  context_->doneCurrent();
}

bool GlView::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::Expose:
    case QEvent::UpdateRequest:
    case QEvent::Resize:
      if (isExposed()) paint();
      return QWindow::event(event);
    case QEvent::MouseButtonPress:
      Q_EMIT pressed();
      break;
    default:
      break;
  }
  if (canvas_.take(event)) {
    requestUpdate();
    return true;
  }
  return QWindow::event(event);
}

void GlView::uploadTextures() {
  QOpenGLFunctions& gl = *context_->functions();
  for (auto& [number, picture] : canvas_.textures().all()) {
    if (picture.made == picture.version) continue;
    auto texture = static_cast<GLuint>(picture.texture);
    if (texture == 0) gl.glGenTextures(1, &texture);
    gl.glBindTexture(GL_TEXTURE_2D, texture);
    // Cells stay cells: no smoothing between them.
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      gl.glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
      gl.glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
    gl.glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    gl.glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, picture.image.width(), picture.image.height(), 0,
                    GL_RGBA, GL_UNSIGNED_BYTE, picture.image.constBits());
    picture.texture = texture;
    picture.made = picture.version;
  }
}

void GlView::paint() {
  QElapsedTimer timer;
  timer.start();
  if (!context_) {
    context_ = std::make_unique<QOpenGLContext>();
    context_->setFormat(format());
    if (!context_->create()) return;
  }
  if (!context_->makeCurrent(this)) return;
  QOpenGLFunctions& gl = *context_->functions();
  if (!isReady_) {
    gl.initializeOpenGLFunctions();
    renderer_ = QString::fromLatin1(reinterpret_cast<const char*>(gl.glGetString(GL_RENDERER)));
  }
  ImDrawData* data = canvas_.frame(size(), devicePixelRatio());
  if (!isReady_) isReady_ = ImGui_ImplOpenGL3_Init("#version 150");
  if (!isReady_) return;
  ImGui_ImplOpenGL3_NewFrame();
  uploadTextures();
  // The commands name pictures by number; the painter of ImGui needs textures.
  for (int n = 0; n < data->CmdListsCount; ++n) {
    for (ImDrawCmd& command : data->CmdLists[n]->CmdBuffer) {
      const auto* picture = canvas_.textures().find(
          static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(command.TextureId)));
      if (picture != nullptr)
        command.TextureId =
            reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(picture->texture));
    }
  }
  const QColor back = themeColors().background;
  gl.glViewport(0, 0, static_cast<int>(width() * devicePixelRatio()),
                static_cast<int>(height() * devicePixelRatio()));
  gl.glClearColor(static_cast<float>(back.redF()), static_cast<float>(back.greenF()),
                  static_cast<float>(back.blueF()), 1);
  gl.glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(data);
  context_->swapBuffers(this);
  drawSeconds_ = static_cast<double>(timer.nsecsElapsed()) * 1e-9;
}

}  // namespace vitrine::ui
