#include "core/plugin/text_session.h"

namespace vitrine {

TextSession::~TextSession() = default;

}  // namespace vitrine
