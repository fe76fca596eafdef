"""The same models as PyPI's packages have them: Llama of transformers, DiT of diffusers. Imported only for their variant."""
import torch
from torch import nn

import paper_parts as parts


class Llama(nn.Module):
    """With the interface of paper_language.Llama for training; greedy() decodes with the package's own cache."""

    def __init__(self, model):
        super().__init__()
        from transformers import LlamaConfig, LlamaForCausalLM

        parts.require(model, rope_scaling=None)
        config = LlamaConfig(
            vocab_size=model["vocab"], hidden_size=model["dim"], intermediate_size=model["ffn_hidden"],
            num_hidden_layers=model["depth"], num_attention_heads=model["heads"], num_key_value_heads=model["kv_heads"],
            head_dim=model.get("head_dim") or model["dim"] // model["heads"], rms_norm_eps=model["rms_eps"],
            rope_theta=model["rope_theta"], tie_word_embeddings=model["tied"],
            max_position_embeddings=model.get("max_positions", 2048),
            attn_implementation="sdpa" if parts.is_fused else "eager", bos_token_id=None, eos_token_id=None, pad_token_id=None)
        self.whole = LlamaForCausalLM(config)

    def load_state_dict(self, weights, *more):
        return self.whole.load_state_dict(weights, *more)

    def forward(self, ids):
        return self.whole(ids, use_cache=False).logits


@torch.inference_mode()
def greedy(model, prompt, count):
    """`count` likeliest tokens after the prompt, one at a time."""
    seen, ids, made = None, prompt, []
    for _ in range(count):
        out = model.whole(ids, past_key_values=seen, use_cache=True, logits_to_keep=1)
        seen, ids = out.past_key_values, out.logits[:, -1].argmax(-1, keepdim=True)
        made.append(ids)
    return torch.cat(made, 1)


class Dit(nn.Module):
    """DiTTransformer2DModel. It keeps a table of labels and an embedding of time in every block, so it has more parameters."""

    def __init__(self, model):
        super().__init__()
        from diffusers import DiTTransformer2DModel

        parts.require(model, mlp="gelu_tanh", pe="sincos")
        self.size, self.channels, self.classes = parts.pair(model["input_size"]), model["in_channels"], model["num_classes"]
        parts.require({"input_size": self.size[0]}, input_size=self.size[1])
        self.whole = DiTTransformer2DModel(
            num_attention_heads=model["heads"], attention_head_dim=model["width"] // model["heads"],
            in_channels=self.channels, out_channels=self.channels * (2 if model["learn_sigma"] else 1),
            num_layers=model["depth"], sample_size=self.size[0], patch_size=parts.pair(model["patch_size"])[0],
            num_embeds_ada_norm=self.classes, norm_eps=model["norm"]["eps"])

    def forward(self, x, t, y):
        return self.whole(x, timestep=t, class_labels=y, return_dict=False)[0]


FAMILIES = {"llama": Llama, "dit": Dit}
