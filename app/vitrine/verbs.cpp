// The table of verbs.
#include "app/vitrine/verb.h"

namespace vitrine::app {

namespace {

constexpr Verb kVerbs[] = {
    {"demo", "train two models on Fashion-MNIST and show what they learned"},
    {"plugins", "what is loaded, what was refused and why"},
    {"describe",
     "architectures, tasks, datasets and analyses, with what they can be configured with"},
    {"check", "validate an experiment: resolved configuration, parameters, FLOPs, memory, runs"},
    {"train", "run every run of an experiment in the foreground"},
    {"run", "work on one stored run: what the queue starts"},
    {"enqueue", "put every run of an experiment into the queue"},
    {"queue", "what is in the queue, and why something waits"},
    {"work", "start what is in the queue, without a window"},
    {"move", "give a run another place in the queue"},
    {"resume", "go on with an interrupted, paused or stopped run, or with the queue"},
    {"pause", "end a run at a checkpoint and free its device, or pause the queue"},
    {"stop", "ask a run to stop at a checkpoint"},
    {"retry", "put a run that ended back into the queue"},
    {"delete", "move a run, its results and its files to the trash"},
    {"trash", "list deleted runs, bring one back, or remove all for good"},
    {"note", "write a note to a run"},
    {"tag", "set the tags of a run"},
    {"runs", "list the runs"},
    {"show", "everything about one run"},
    {"compare",
     "the variants of an experiment: what differs, last metrics, mean and deviation over seeds"},
    {"search", "find runs by words in names, notes, tags, configurations and logs"},
    {"query", "any read-only SQL statement on the database"},
    {"analyse", "look into a trained run with an analysis"},
    {"evaluate", "the task's scores of a trained run on a split"},
    {"sample", "make images or texts with a trained run"},
    {"infer", "tensors in, tensors out: public weights and images from safetensors files"},
    {"export", "put runs into a file: everything, CSV, JSON Lines, or TensorBoard's event files"},
    {"import", "take runs from an exported file or from TensorBoard's event files"},
    {"db", "back up, check and compact the database, or say what takes its space"},
    {"serve", "answer a window on another machine, over standard input and output"},
    {"compute", "keep models loaded and compute with them: what serve starts", false},
    {"doctor", "what this machine has and lacks"},
};

}  // namespace

std::span<const Verb> allVerbs() { return kVerbs; }

}  // namespace vitrine::app
