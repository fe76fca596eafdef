"""Makes the event files beside it, with the writers of others. Needs torch, tensorboard and numpy:

    python make.py

`torch.*` is what PyTorch's SummaryWriter writes (scalars as simple_value), `tensorboard.*` what
TensorBoard's own writer does with the second form of summaries (scalars and images as tensors).
"""

import os

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter
from torch.utils.tensorboard import SummaryWriter

HERE = os.path.dirname(os.path.abspath(__file__))


def torch_file():
    folder = os.path.join(HERE, "made")
    writer = SummaryWriter(folder)
    for step in range(5):
        writer.add_scalar("train/loss", 2.0 / (step + 1), step, walltime=1700000000.25 + step)
    writer.add_scalar("odd", float("nan"), 5, walltime=1700000005)
    writer.add_scalar("odd", float("inf"), 6, walltime=1700000006)
    writer.add_scalar("odd", -0.0, 7, walltime=1700000007)
    writer.add_image("picture", np.arange(12, dtype=np.uint8).reshape(2, 2, 3), 3, walltime=1700000003, dataformats="HWC")
    writer.add_histogram("weights", np.arange(10.0), 4, walltime=1700000004)
    writer.add_text("words", "hello", 4, walltime=1700000004)
    writer.close()
    (name,) = os.listdir(folder)
    os.replace(os.path.join(folder, name), os.path.join(HERE, "torch.tfevents"))
    os.rmdir(folder)


def tensor_value(tag, plugin, tensor):
    metadata = summary_pb2.SummaryMetadata(plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin))
    return summary_pb2.Summary.Value(tag=tag, metadata=metadata, tensor=tensor)


def tensorboard_file():
    shape = tensor_shape_pb2.TensorShapeProto
    png = open(os.path.join(HERE, "pixel.png"), "rb").read()
    with open(os.path.join(HERE, "tensorboard.tfevents"), "wb") as file:
        writer = RecordWriter(file)

        def put(**fields):
            writer.write(event_pb2.Event(**fields).SerializeToString())

        put(wall_time=1700000000.0, file_version="brain.Event:2")
        values = [
            tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[0.5]),
            tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, tensor_content=np.float32(0.25).tobytes()),
            tensor_pb2.TensorProto(dtype=types_pb2.DT_DOUBLE, double_val=[0.1]),
            tensor_pb2.TensorProto(dtype=types_pb2.DT_INT64, int64_val=[-3]),
            tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT),
        ]
        for step, tensor in enumerate(values):
            put(wall_time=1700000001.0 + step, step=step,
                summary=summary_pb2.Summary(value=[tensor_value("accuracy", "scalars", tensor)]))
        image = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=[b"1", b"1", png],
                                       tensor_shape=shape(dim=[shape.Dim(size=3)]))
        put(wall_time=1700000009.0, step=9, summary=summary_pb2.Summary(value=[tensor_value("pixel", "images", image)]))
        put(wall_time=1700000010.0, step=10,
            summary=summary_pb2.Summary(value=[tensor_value("curve", "pr_curves", tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT))]))
        writer.flush()


torch_file()
tensorboard_file()
