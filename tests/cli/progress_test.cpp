// The bar of `copy`, with a clock of our own.
#include "cli/progress.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace zarrive::cli {
namespace {

using namespace std::chrono_literals;

TEST(Progress, Bar) {
  EXPECT_EQ(Progress::bar(41, 100, 1'200'000'000, 1, 60),
            "[===============>                      ]  41 %  1.2 GB/s");
  EXPECT_EQ(Progress::bar(50, 100, 300'000'000, 12, 60),
            "[==============>             ]  50 %  25 MB/s  0:12 left");
  EXPECT_EQ(Progress::bar(1, 100, 1000, 100, 60), "[>                         ]   1 %  10 B/s  2:45:00 left");
  EXPECT_NE(Progress::bar(1, 1'000'000'000, 1000, 100, 80).find("99:59:59 left"), std::string::npos);
  EXPECT_NE(Progress::bar(0, 0, 0, 0, 60).find("]   0 %  0 B/s"), std::string::npos);
  EXPECT_NE(Progress::bar(100, 100, 5'000'000'000'000'000, 1, 60).find("100 %  5000 TB/s"),
            std::string::npos);
  EXPECT_EQ(Progress::bar(50, 100, 300'000'000, 12, 20), " 50 %  25 MB/s  0:12 left");
}

TEST(Progress, DrawsAtMostTenTimesASecondAndGoesAway) {
  std::ostringstream err;
  Progress::Clock::time_point now{};
  {
    Progress progress(err, true, 60, [&] { return now; });
    progress.expect(4);
    progress.done(1, 1000);
    EXPECT_EQ(err.str(), "");
    now += 200ms;
    progress.done(1, 1000);
    EXPECT_NE(err.str().find("\r["), std::string::npos);
    EXPECT_NE(err.str().find("50 %"), std::string::npos);
    const std::size_t drawn = err.str().size();
    progress.done(1, 1000);
    EXPECT_EQ(err.str().size(), drawn);
  }
  EXPECT_TRUE(err.str().ends_with("\r\033[K"));
}

TEST(Progress, IsSilentWithoutATerminal) {
  std::ostringstream err;
  Progress::Clock::time_point now{};
  {
    Progress progress(err, false, 80, [&] { return now; });
    progress.expect(1);
    now += 1h;
    progress.done(1, 1);
  }
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace zarrive::cli
