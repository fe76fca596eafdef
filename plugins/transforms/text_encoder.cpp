#include "plugins/transforms/text_encoder.h"

namespace vitrine::transforms {

namespace {

constexpr std::size_t kLongText = 1 << 16;  // bytes
constexpr std::size_t kMostCached = std::size_t{1}
                                    << 27;  // bytes; of their tokens eight times that

}  // namespace

std::shared_ptr<const text::TokenIds> TextEncoder::encode(const std::string& text,
                                                          const std::string& where) {
  const auto cached = text.size() < kLongText ? nullptr : cachedOf(text);
  if (cached == nullptr)
    return std::make_shared<const text::TokenIds>(tokenizer_->encode(text, where));
  const std::lock_guard lock(cached->mutex);
  if (!cached->tokens) cached->tokens = tokenizer_->encode(text, where);
  return {cached, &*cached->tokens};
}

std::shared_ptr<TextEncoder::CachedText> TextEncoder::cachedOf(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (const auto found = cached_.find(text); found != cached_.end()) return found->second;
  if (bytes_ + text.size() > kMostCached) return nullptr;
  bytes_ += text.size();
  return cached_[text] = std::make_shared<CachedText>();
}

std::shared_ptr<TextEncoder> TextEncoders::of(const std::string& tokenizer,
                                              const std::vector<std::string>& words) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<TextEncoder>& known = encoders_[{tokenizer, words}];
  std::shared_ptr<TextEncoder> encoder = known.lock();
  if (encoder == nullptr)
    known = encoder = std::make_shared<TextEncoder>(text::openTokenizer(tokenizer, words));
  return encoder;
}

}  // namespace vitrine::transforms
