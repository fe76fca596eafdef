// Data sets: IDX, CIFAR, the headers of images. And TensorBoard's event files.
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/files/cifar.h"
#include "core/files/event_file.h"
#include "core/files/idx.h"
#include "core/files/image_header.h"
#include "core/files/sample_lists.h"
#include "tests/fuzz/memory_file.h"

namespace vitrine::fuzz {

namespace {

void readAsIdx(Bytes input) {
  const MemoryFile file(input);
  takes<FileError>([&] {
    const IdxArray array = readIdx(file.path());
    require(!array.shape.empty() && array.shape.size() <= 4, "the rank is 1 to 4");
    std::uint64_t count = 1;
    for (const std::int64_t side : array.shape) count *= static_cast<std::uint64_t>(side);
    require(count == array.data.size(), "there are as many bytes as the shape says");
  });
}

}  // namespace

void runIdx(Bytes input) { readAsIdx(input); }

void runIdxGzip(Bytes input) {
  readAsIdx(input);
  // What a mutated stream unpacks to is seldom an IDX file: the same bytes once more, packed here.
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return;
  std::vector<std::uint8_t> packed(deflateBound(&stream, input.size()) + 64);
  stream.next_in = const_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  require(status == Z_STREAM_END, "zlib packs");
  readAsIdx(packed);
}

void runCifar(Bytes input) {
  const MemoryFile file(input);
  for (const std::int64_t labels : {1, 2}) {
    takes<FileError>([&] {
      const CifarBatch batch = readCifar(file.path(), 2, labels);
      require(batch.labels.size() == static_cast<std::size_t>(2 * labels), "all labels are there");
      require(batch.pixels.size() == std::size_t{2} * kCifarPixels, "all pixels are there");
      require(batch.labels[0] == input[0], "labels come first");
      require(batch.pixels.back() == input.back(), "pixels come last");
    });
  }
  takes<FileError>([&] {
    for (const std::string& name : readCifarNames(file.path(), 3))
      require(!name.empty() && name.size() <= 128, "names are short");
  });
}

void runImage(Bytes input) {
  takes<FileError>([&] {
    const ImageLimits limits;
    const ImageHeader header = inspectImage(std::as_bytes(input), "image", limits);
    require(header.width >= 1 && header.height >= 1, "there are pixels");
    require(header.width <= limits.side && header.height <= limits.side, "no side is too long");
    require(header.width * header.height <= limits.pixels, "there are not too many pixels");
  });
}

void runSampleLists(Bytes input) {
  const MemoryFile file(input);
  takes<FileError>([&] {
    for (const ListedPath& entry : readSplitList(file.path())) {
      require(!entry.path.starts_with('/'), "a path is below the folder");
      require(("/" + entry.path + "/").find("/../") == std::string::npos,
              "a path does not lead out of the folder");
    }
  });
  takes<FileError>([&] {
    for (const CaptionedPath& entry : readCaptions(file.path()))
      require(!entry.captions.empty() && entry.captions.size() <= 64, "there are 1 to 64 captions");
  });
  takes<FileError>([&] {
    for (const ChoiceQuestion& entry : readChoices(file.path())) {
      require(entry.answer >= 0 && entry.answer < static_cast<std::int64_t>(entry.choices.size()),
              "the answer is one of the choices");
    }
  });
  const std::string text(input.begin(), input.end());
  for (const Documents by : {Documents::File, Documents::Paragraph, Documents::Line}) {
    std::size_t last = 0;
    for (const TextRange& range : divideText(text, by)) {
      require(range.begin >= last && range.begin < range.end && range.end <= text.size(),
              "documents follow each other and lie in the text");
      last = range.end;
    }
  }
}

namespace {

void readAsEvents(Bytes input) {
  const MemoryFile file(input);
  takes<FileError>([&] {
    EventFileReader reader(file.path());
    std::size_t events = 0;
    while (const std::optional<SummaryEvent> event = reader.next()) {
      require(!event->values.empty(), "an event holds something");
      require(++events <= input.size(), "there are no more events than bytes");
    }
    require(reader.report().damage.size() <= 20, "damage is named at most 20 times");
    require(reader.report().cutAt.value_or(0) <= input.size(), "the cut lies in the file");
  });
}

void putLe(std::vector<std::uint8_t>& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void putRecord(std::vector<std::uint8_t>& to, Bytes payload) {
  const std::size_t start = to.size();
  putLe(to, payload.size(), 8);
  putLe(to, maskedCrc32c(std::as_bytes(Bytes(to).subspan(start))), 4);
  to.insert(to.end(), payload.begin(), payload.end());
  putLe(to, maskedCrc32c(std::as_bytes(payload)), 4);
}

}  // namespace

void runEventFile(Bytes input) {
  readAsEvents(input);
  // A changed record seldom keeps its sums: the records of the input once more, with sums that fit.
  std::vector<std::uint8_t> framed;
  constexpr std::string_view kVersion =
      "\x1a\x0d"
      "brain.Event:2";
  putRecord(framed, {reinterpret_cast<const std::uint8_t*>(kVersion.data()), kVersion.size()});
  for (std::size_t at = 0; at + 16 <= input.size();) {
    const std::size_t length =
        std::min<std::size_t>(input[at] | input[at + 1] << 8, input.size() - at - 16);
    putRecord(framed, input.subspan(at + 12, length));
    at += 16 + length;
  }
  readAsEvents(framed);
}

}  // namespace vitrine::fuzz
