// Output: descriptors, and files that appear whole or not at all.
#include "cli/output.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run_command.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {
namespace {

class Output : public CommandTest {};

TEST_F(Output, DescriptorsGetEverythingInOrder) {
  const int descriptor = ::open(path("a").c_str(), O_CREAT | O_WRONLY, 0600);
  std::string expected;
  {
    DescriptorBuffer buffer(descriptor, "a");
    std::ostream out(&buffer);
    out.exceptions(std::ios::badbit);
    for (int i = 0; i < 300'000; ++i) out.put(static_cast<char>('a' + i % 26));
    for (int i = 0; i < 300'000; ++i) expected += static_cast<char>('a' + i % 26);
    for (const std::size_t size : {1u, 1000u, 65536u, 65537u, 500'000u}) {
      const std::string text(size, static_cast<char>('0' + size % 10));
      out << text;
      expected += text;
    }
    out.flush();
  }
  ::close(descriptor);
  EXPECT_TRUE(file_text(path("a")) == expected);
}

TEST_F(Output, AClosedPipeIsClosedPipe) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  DescriptorBuffer buffer(ends[1], "pipe");
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  EXPECT_THROW(out << "text" << std::flush, ClosedPipe);
  ::close(ends[1]);
}

TEST_F(Output, OtherFailuresSayWhat) {
  DescriptorBuffer buffer(-1, "nowhere");
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  try {
    out << "text" << std::flush;
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_EQ(error.place().store, "nowhere");
  }
}

TEST_F(Output, FilesAppearWhenCommitted) {
  {
    OutputFile file(path("a"), {});
    file.stream() << "text";
    file.stream().flush();
    EXPECT_FALSE(std::filesystem::exists(path("a")));
    EXPECT_EQ(names_in_folder().size(), 1u);
    file.commit();
    EXPECT_EQ(file_text(path("a")), "text");
  }
  {
    OutputFile file(path("b"), {});
    file.stream() << "text";
  }
  EXPECT_EQ(names_in_folder(), std::vector<std::string>{"a"});
}

TEST_F(Output, FilesCanBeMapped) {
  OutputFile file(path("a"), {});
  std::byte* const bytes = file.map(5);
  ASSERT_NE(bytes, nullptr);
  for (std::size_t i = 0; i < 5; ++i) bytes[i] = std::byte{'x'};
  file.commit();
  EXPECT_EQ(file_text(path("a")), "xxxxx");
  OutputFile other(path("b"), {});
  EXPECT_EQ(other.map(0), nullptr);
  EXPECT_EQ(other.map(std::size_t{1} << 63), nullptr);
  try {
    other.map(std::size_t{1} << 61);  // more than any disk
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
  }
}

TEST_F(Output, PipesAreWrittenDirectly) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  OutputFile file(path("pipe"), {});
  EXPECT_FALSE(file.is_regular());
  EXPECT_EQ(file.map(3), nullptr);
  file.stream() << "abc";
  file.commit();
  char text[4] = {};
  EXPECT_EQ(::read(reader, text, 3), 3);
  EXPECT_STREQ(text, "abc");
  ::close(reader);
}

TEST_F(Output, AbandonedFilesAreGone) {
  OutputFile file(path("a"), {});
  EXPECT_EQ(names_in_folder().size(), 1u);
  abandon_output_files();
  EXPECT_TRUE(names_in_folder().empty());
}

TEST_F(Output, FoldersThatAreNotThereAreErrors) {
  EXPECT_THROW(OutputFile(path("no/a"), {}), Error);
  EXPECT_THROW(OutputFile(folder().string(), {}), Error);  // is a folder itself
}

TEST_F(Output, TidyingIsSeen) {
  EXPECT_FALSE(Tidying::under_way());
  {
    const Tidying tidying;
    EXPECT_TRUE(Tidying::under_way());
  }
  EXPECT_FALSE(Tidying::under_way());
}

}  // namespace
}  // namespace zarrive::cli
