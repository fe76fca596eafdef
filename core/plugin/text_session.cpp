#include "core/plugin/text_session.h"

namespace vitrine {

TextSession::~TextSession() = default;
JointSession::~JointSession() = default;

}  // namespace vitrine
