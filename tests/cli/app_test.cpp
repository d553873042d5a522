// The command line itself: help, version, usage, exit codes.
#include "cli/run_command.hpp"
#include "zarrive/version.hpp"

namespace zarrive::cli {
namespace {

const std::vector<std::string> commands = {"info",  "tree", "ls",          "read",   "write",      "create",
                                           "attrs", "copy", "consolidate", "codecs", "conformance"};

TEST(App, HelpIsOnTheOutputAndNamesEveryCommand) {
  const std::string help = output_of({"--help"});
  for (const std::string& command : commands)
    EXPECT_NE(help.find("\n  " + command + " "), std::string::npos) << command;
  EXPECT_NE(help.find("Examples:"), std::string::npos);
  EXPECT_EQ(output_of({"-h"}), help);
}

TEST(App, EveryCommandHasHelpWithExamples) {
  for (const std::string& command : commands) {
    const std::string help = output_of({command, "--help"});
    EXPECT_NE(help.find("Examples:\n  zarrive " + command), std::string::npos) << help;
  }
  EXPECT_NE(output_of({"--help-all"}).find("zarrive copy old.zarr new.zarr --format 3"), std::string::npos);
}

TEST(App, Version) { EXPECT_EQ(output_of({"--version"}), "zarrive " + std::string(version()) + "\n"); }

TEST(App, WithoutArgumentsHelpIsOnTheErrorStream) {
  const Outcome outcome = run_command({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("Examples:"), std::string::npos);
}

TEST(App, WrongUsageIsCodeTwoWithAHint) {
  expect_failure(run_command({"explode"}), 2, "see `zarrive --help`");
  expect_failure(run_command({"info"}), 2, "see `zarrive info --help`");
  expect_failure(run_command({"info", "a.zarr", "--colour"}), 2, "--colour");
  expect_failure(run_command({"read", "a.zarr", "--json", "--raw"}), 2, "exclude each other");
  expect_failure(run_command({"tree", "a.zarr", "--jobs", "0"}), 2, "--jobs");
}

TEST_F(CommandTest, MissingStoreIsCodeOneInOneLine) {
  const std::string missing = path("missing.zarr");
  for (const char* command : {"info", "tree", "ls", "read", "consolidate", "attrs"})
    expect_failure(run_command({command, missing}), 1, "zarrive: [not_found] ");
  expect_failure(run_command({"conformance", "--array_path=" + missing}), 1, "[not_found]");
  expect_failure(run_command({"copy", missing, path("b.zarr")}), 1, "[not_found]");
  EXPECT_TRUE(names_in_folder().empty());
}

TEST_F(CommandTest, ErrorsCannotSteerTheTerminal) {
  const Outcome outcome = run_command({"info", path("a\x1b[31m\nb.zarr")});
  expect_failure(outcome, 1, "a\\x1b[31m\\nb.zarr");
}

TEST_F(CommandTest, LenientCasesWarnOnceAndAreErrorsWhenStrict) {
  write_file(
      path("a.zarr/.zarray"),
      R"({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "compressor": null, "fill_value": 0,
    "order": "C", "filters": null, "colour": "red"})");
  const Outcome lenient = run_command({"read", path("a.zarr")});
  EXPECT_EQ(lenient.code, 0);
  EXPECT_EQ(lenient.out, "[0 0]\n");
  if (!lenient.err.empty()) {
    EXPECT_TRUE(lenient.err.starts_with("zarrive: warning: "));
    EXPECT_EQ(run_command({"read", path("a.zarr"), "--quiet"}).err, "");
    expect_failure(run_command({"read", path("a.zarr"), "--strict"}), 1, "[invalid_metadata]");
  }
}

TEST_F(CommandTest, StopIsInterrupted) {
  ASSERT_EQ(output_of({"create", path("a.zarr"), "--shape", "100", "--dtype", "int32"}), "");
  std::stop_source stop;
  stop.request_stop();
  const Outcome outcome =
      run_command({"read", path("a.zarr"), "-o", path("a.npy")}, {.stop = stop.get_token()});
  expect_failure(outcome, 130, "interrupted");
  EXPECT_EQ(names_in_folder(), std::vector<std::string>{"a.zarr"});
}

}  // namespace
}  // namespace zarrive::cli
