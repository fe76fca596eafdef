// Architectures of papers live in plugins: core and the window name none of them, neither in code
// nor in comments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>

namespace vitrine {
namespace {

namespace fs = std::filesystem;

bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool isSmall(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

std::string inSmall(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// `word` alone, or as a part of an identifier like isVit or VitPlugin; Vitrine begins with one.
bool hasWord(const std::string& line, const std::string& small, const std::string& word) {
  for (std::size_t at = small.find(word); at != std::string::npos; at = small.find(word, at + 1)) {
    const char before = at == 0 ? ' ' : line[at - 1];
    const std::size_t end = at + word.size();
    const char after = end < line.size() ? line[end] : ' ';
    const bool isAlone = !isLetter(before) && !isLetter(after);
    const bool isPart = !isSmall(line[at]) && isSmall(line[at + 1]) && !isSmall(after);
    if (isAlone || isPart) return true;
  }
  return false;
}

/// The papers, and what they compare with.
bool namesAPaper(const std::string& line) {
  const std::string small = inSmall(line);
  for (const char* name : {"llama", "vision lstm", "vision-lstm", "vision_lstm", "visionlstm",
                           "as2drope", "16x16 words"}) {
    if (small.find(name) != std::string::npos) return true;
  }
  return hasWord(line, small, "vit") || hasWord(line, small, "vil") ||
         hasWord(line, small, "deit") || line.find("DiT-") != std::string::npos ||
         line.find("SiT-") != std::string::npos;
}

TEST(PaperNames, AreFoundWhereTheyAre) {
  for (const char* line :
       {"as LLaMA's code does", "InitRecipe::Vit;", "(ViT authors)", "\"vit\"", "isVit ? 1 : 0",
        "class VitPlugin", "a distilled DeiT", "vit/b16", "architecture/illama", "iLLaMA",
        "VisionLLaMA", "LlamaFusion", "ViT-B", "vit_demo", "the ViL block"}) {
    EXPECT_TRUE(namesAPaper(line)) << line;
  }
  for (const char* line : {"Vitrine::engine", "namespace vitrine", "///< \"ViTr\"", "'V', 'i', 'T'",
                           "VITRINE_ENGINE_EXPORT", "a vision transformer", "activity", "evil"}) {
    EXPECT_FALSE(namesAPaper(line)) << line;
  }
}

void expectNoneIn(const char* room, std::size_t fewest) {
  const fs::path root = VITRINE_SOURCE_DIR;
  std::size_t files = 0;
  std::string found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / room)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string name = fs::relative(entry.path(), root).generic_string();
    std::ifstream stream(entry.path());
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      if (namesAPaper(line)) found += name + ":" + std::to_string(number) + ": " + line + "\n";
    }
  }
  EXPECT_GT(files, fewest) << room << "/ was not read";
  EXPECT_EQ(found, "") << "say what it does instead, or move it into the paper's plugin";
}

TEST(PaperNames, AreNowhereInCoreAndInTheWindow) {
  expectNoneIn("core", 200);
  expectNoneIn("ui", 200);
}

}  // namespace
}  // namespace vitrine
