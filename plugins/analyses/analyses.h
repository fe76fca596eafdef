// The analyses that look into any model with the capability they need.
#pragma once

#include <memory>

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Attention of each layer and head for chosen images, with the images themselves.
///
/// Artifacts per image: "image ID" of kind attention, [layers, heads, queries, keys], and "image ID
/// pixels", a PNG. Layers that differ in heads, queries or keys are artifacts of their own: "image
/// ID, layers 0, 2, window 4". `key_positions` are rows and columns of the grid of the keys
/// themselves; where that is not the image's, `key_places` says where on it they are. `label_name`
/// is the class of the image, `predicted`, `predicted_name` and `confidence` are the answer of a
/// classifier. A text with its image is one sequence: its words are on no grid, and `query_words`
/// and `key_words` name them, "" in the places of patches.
[[nodiscard]] std::unique_ptr<Analysis> makeAttentionMap();

/// Ranks of a layer's attention: scores and artifacts of eval::rankFindings().
[[nodiscard]] std::unique_ptr<Analysis> makeAttentionRank();

/// Reliability of a classifier's confidence, measured on the evaluation that runs anyway.
///
/// Score: ece. Artifacts: "reliability", [bins, 5], with ece and the published diagram's gaps in
/// its meta; "predictions", one row per sample, to be binned again.
[[nodiscard]] std::unique_ptr<Analysis> makeCalibration();

/// Artifact "filters": an image_grid of the principal filters of firstLayerOf(), mid-grey zero;
/// `explained` has the share of the squares of each. Artifact "positions" of kind attention: [1, 1,
/// patches, patches], cosines between the tokens of an image of zeros, with `image` null.
[[nodiscard]] std::unique_ptr<Analysis> makeFirstLayer();

/// An artifact "receptive field" of receptiveFieldOf(), kind attention, [blocks, 1, 1, cells], with
/// `image` null; scores "area_50" and "area_90" of the last block.
[[nodiscard]] std::unique_ptr<Analysis> makeReceptiveField();

/// Scores of a trained model on images of other sizes, without training it again. Opens the run
/// again for every size with the weights of now, as `evaluate` does with another model.image_size.
///
/// Artifacts: "SCORE by image size", a curve over pixels, and "scores by image size", a table of
/// every plain score. Both say how samples and weights were brought to the sizes. Scores:
/// SCORE/PIXELS, and fall/PIXELS, by how much it is below that of the size of training;
/// fall_SCORE/PIXELS of a score that is not the main one.
[[nodiscard]] std::unique_ptr<Analysis> makeResolutionSweep();

/// The shape bias of a classifier, on images whose two cues are of different classes (Geirhos et
/// al. 2019, arXiv:1811.12231). Data without the label fields `shape` and `texture` are refused.
///
/// Score: shape_bias, the share of shape among the decisions for either cue. Artifact "decisions"
/// of kind `cue_decisions`.
[[nodiscard]] std::unique_ptr<Analysis> makeShapeBias();

/// Detects changes of a language model: the hash of its logits on texts that never change.
/// LlamaFusion keeps a language model as it is (Shi et al. 2024, arXiv:2412.15188, section 3.2).
/// The hash of every checkpoint is then that of the language model.
///
/// Artifact "logits", a table of one row: texts, tokens, vocabulary, norm, sha256. The hash is of
/// the logits [texts, tokens, vocabulary], float32 in C order; two are equal when every bit of the
/// logits is.
[[nodiscard]] std::unique_ptr<Analysis> makeTextLogits();

/// Positions of queries and keys of each attention layer on the grid of patches, as a drawing.
///
/// One image for each layout of tokens: "layers 0, 2", or with ", window 4" behind it. Cells are
/// patches, a grey disc is a query, a coloured one a key. Both stand at the positions that the
/// layer computes with. `query_positions` and `key_positions` of the meta hold them as numbers:
/// rows and columns in patches, cells begin at whole numbers less one half. Of layers with windows
/// the one in the middle is drawn.
[[nodiscard]] std::unique_ptr<Analysis> makeTokenPositions();

/// Probes the tokens of a trained model: a linear probe of every row of tokens. A scan in one
/// direction has not seen the rest of the image in its first rows. Vision-LSTM scans in both (Alkin
/// et al. 2024, arXiv:2406.04303, Table 4a). Ridge regression in closed form, one for each row of
/// patches, fitted to training samples. It maps a token after the last block to the class of its
/// image. Class tokens are left out. Data without classes are refused.
///
/// Artifacts: "accuracy by token", a map of the patches, and "accuracy by row", a curve, on samples
/// of the last split that evaluations visit. Scores: top1 over all tokens, top1/ROW (from 0, the
/// uppermost), and rise, by how much the last row is above the first.
[[nodiscard]] std::unique_ptr<Analysis> makeTokenProbe();

/// Artifacts "weights" and "gradients" of kind matrix have a row for each parameter: the share of
/// its values in each bin. The tables are "weight summary" and "gradient summary". Where the task's
/// loss cannot be taken of the samples there are no gradients; `gradients` in the meta of "weights"
/// says why. Scores: largest_weight_norm and largest_gradient_norm, of a parameter, and
/// weight_zeros and gradient_zeros, shares of all values.
[[nodiscard]] std::unique_ptr<Analysis> makeWeightHistograms();

}  // namespace vitrine::analyses
