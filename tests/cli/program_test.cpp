// The program itself: pipes that close, signals, terminals, files.
#include "cli/program.hpp"

#include <chrono>
#include <cmath>
#include <thread>

#include "cli/run_command.hpp"
#include "zarrive/zarrive.hpp"

namespace zarrive::cli {
namespace {

using namespace std::chrono_literals;

class Program : public CommandTest {
 protected:
  void SetUp() override { ::setenv("FOLDER", folder().c_str(), 1); }

  // An array whose elements take long to write out as JSON.
  void make_large() const {
    create_array(
        path("large.zarr"), "",
        {.shape = {400, 100'000}, .data_type = "float64", .chunks = {10, 10'000}, .fill_value = Json(0.1)});
  }
};

TEST_F(Program, WorksFromAShell) {
  const ShellOutcome outcome = shell(R"(cd "$FOLDER"
    $ZARRIVE create a.zarr x --shape 2,3 --dtype int16
    printf '\1\0\2\0\3\0\4\0\5\0\6\0' | $ZARRIVE write a.zarr x --raw
    $ZARRIVE read a.zarr x
    $ZARRIVE read a.zarr x --raw | od -An -td2
    $ZARRIVE read a.zarr x --npy | $ZARRIVE write b.zarr
    $ZARRIVE conformance --array_path=b.zarr | tail -n 1
    $ZARRIVE --version)");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "[[1 2 3]\n [4 5 6]]\n      1      2      3      4      5      6\n6\nzarrive " +
                             std::string(version()) + "\n");
}

TEST_F(Program, ExitCodesAndStreams) {
  EXPECT_EQ(shell("$ZARRIVE info \"$FOLDER/none\"").code, 1);
  EXPECT_EQ(shell("$ZARRIVE info \"$FOLDER/none\" 2>/dev/null").out, "");
  EXPECT_EQ(shell("$ZARRIVE info").code, 2);
  EXPECT_EQ(shell("$ZARRIVE").code, 2);
  EXPECT_EQ(shell("$ZARRIVE --help 2>/dev/null | head -n 1").out,
            "Zarr arrays (v2 and v3): look at them, read, write and copy them.\n");
}

TEST_F(Program, AClosedPipeIsNoError) {
  make_large();
  const ShellOutcome outcome =
      shell("$ZARRIVE read \"$FOLDER/large.zarr\" --json | head -c 10; echo \" ${PIPESTATUS[0]}\"");
  EXPECT_EQ(outcome.out, "[0.1, 0.1, 0\n");
  EXPECT_EQ(
      shell("$ZARRIVE conformance --array_path=\"$FOLDER/large.zarr\" | head -n 1; echo \"${PIPESTATUS[0]}\"")
          .out,
      "0.1\n0\n");
  EXPECT_EQ(
      shell("$ZARRIVE read \"$FOLDER/large.zarr\" --raw | head -c 1 | wc -c; echo \"${PIPESTATUS[0]}\"").out,
      "1\n0\n");
}

TEST_F(Program, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const ShellOutcome outcome = shell("$ZARRIVE --help > /dev/full");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.out.find("zarrive: [unavailable] standard output: "), std::string::npos) << outcome.out;
}

TEST_F(Program, AClosedErrorStreamChangesNothing) {
  EXPECT_EQ(shell("$ZARRIVE info \"$FOLDER/none\" 2>&-").code, 1);
}

// Waits until the program writes its file, sends the signal, and sees what is left.
void interrupt(const std::filesystem::path& folder, const std::vector<std::string>& arguments, int signal) {
  const pid_t child = start_program(arguments, {});
  ASSERT_GT(child, 0);
  bool partial = false;
  for (int i = 0; i < 2000 && !partial; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      partial = partial || entry.path().string().find(".partial-") != std::string::npos;
    if (!partial) std::this_thread::sleep_for(5ms);
  }
  EXPECT_TRUE(partial);
  ::kill(child, signal);
  EXPECT_EQ(wait_for(child), 130);
}

TEST_F(Program, SignalsLeaveNothingHalfWritten) {
  make_large();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    interrupt(folder(), {"read", path("large.zarr"), "--json", "-o", path("out.json")}, signal);
    EXPECT_EQ(names_in_folder(), std::vector<std::string>{"large.zarr"});
  }
}

TEST_F(Program, ASecondSignalOrNobodyReadingDoesNotHang) {
  make_large();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);  // nobody reads it, so the program waits in write()
  for (const int signals : {1, 2}) {
    const pid_t child = start_program({"read", path("large.zarr"), "--json"}, {.out = pipe[1]});
    ASSERT_GT(child, 0);
    std::this_thread::sleep_for(500ms);
    for (int i = 0; i < signals; ++i) {
      ::kill(child, SIGTERM);
      std::this_thread::sleep_for(100ms);
    }
    EXPECT_EQ(wait_for(child), 130);
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(Program, AnIgnoredSignalStaysIgnored) {
  const ShellOutcome outcome = shell("trap '' HUP; $ZARRIVE create \"$FOLDER/a.zarr\" --group; echo $?");
  EXPECT_EQ(outcome.out, "0\n");
}

TEST_F(Program, NumPyReadsWhatWeWrite) {
  const char* const python = std::getenv("ZARRIVE_PYTHON");
  std::string interpreter =
      python ? python : (testing::test_data_dir().parent_path().parent_path() / ".venv/bin/python").string();
  if (shell(interpreter + " -c 'import numpy'").code != 0) interpreter = "python3";
  if (shell(interpreter + " -c 'import numpy'").code != 0) GTEST_SKIP() << "no Python with NumPy";
  ::setenv("PYTHON", interpreter.c_str(), 1);
  write_file(path("check.py"), R"(import os, subprocess, sys, numpy as np
zarrive, folder = os.environ["ZARRIVE"], os.environ["FOLDER"]
def run(*arguments): subprocess.run([zarrive, *arguments], check=True)
n = 0
for dtype in ["?", "i1", "<i2", ">i4", "<u8", "<f2", ">f4", "<f8", "<c8", ">c16", "S5", "<U4", ">U3", "<M8[ms]", ">M8[10us]", "<m8[D]", "V3",
              [("a", "<i2"), ("b", ">f8", (2, 3)), ("c", [("d", "S2"), ("e", "u1")])]]:
    for order in "CF":
        for shape in [(), (3, 4), (2, 3, 5)]:
            count = int(np.prod(shape))
            if np.dtype(dtype).kind == "b": values = np.arange(count) % 2 == 0
            elif np.dtype(dtype).kind in "SU": values = np.array([("é" if np.dtype(dtype).kind == "U" else "x") * (i % 3) for i in range(count)])
            elif np.dtype(dtype).kind == "V": values = np.frombuffer((np.arange(count * np.dtype(dtype).itemsize) % 63).astype("u1").tobytes(), dtype)
            else: values = np.arange(count)
            array = np.asarray(values.astype(dtype).reshape(shape), order=order)
            n += 1
            np.save(f"{folder}/in.npy", array)
            format = str(2 + n % 2) if np.dtype(dtype).kind not in "V" else "2"
            run("write", f"{folder}/a.zarr", "-i", f"{folder}/in.npy", "--overwrite", "--format", format, *(["--chunks", ",".join("2" * len(shape))] if shape else []))
            run("read", f"{folder}/a.zarr", "-o", f"{folder}/out.npy")
            back = np.load(f"{folder}/out.npy")
            assert back.shape == shape and np.ascontiguousarray(back).tobytes() == np.ascontiguousarray(array.astype(np.dtype(dtype).newbyteorder("<"))).tobytes(), (dtype, order, shape)
print("compared", n)
)");
  const ShellOutcome outcome = shell("$PYTHON \"$FOLDER/check.py\"");
  EXPECT_EQ(outcome.out, "compared 108\n");
}

}  // namespace
}  // namespace zarrive::cli
