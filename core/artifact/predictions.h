// The layout of a classifier's stored answers, one row per sample, on which their writer and their
// readers agree. resources/docs/database.md says it in words.
#pragma once

namespace vitrine {

namespace artifact_kind {
inline constexpr const char* kPredictions = "predictions";  ///< float32 [samples, columns]
}  // namespace artifact_kind

/// Values of `meta.form`.
namespace predictions_form {
inline constexpr const char* kLogits = "logits";  ///< sample id, label, logits of all classes
/// Sample id, label, its logit, log sums at `inverse_temperatures`, `top` classes, their logits.
inline constexpr const char* kTop = "top";
}  // namespace predictions_form

}  // namespace vitrine
