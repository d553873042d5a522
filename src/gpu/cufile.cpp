#include "gpu/cufile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "gpu/cufile_errors.hpp"
#include "gpu/shared_library.hpp"

namespace zarrive::gpu {

namespace {

// The first that reports its version; it reads files that are not opened for direct I/O, too.
constexpr int oldest_version = 1070;
constexpr std::size_t largest_read = std::size_t{1} << 30;  // the kernel moves less than 2 GiB a call

struct Loaded {
  Cufile library = {};
  CufileStatus status = {};
};

std::string result_text(CufileResult result) {
  std::string text = cufile_error_text(result.error);
  if (result.error == cufile_cuda_error) text += ", " + result_text(driver(), result.cuda);
  return text;
}

std::string cufile_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Switches compatibility mode off; the driver is not open yet. What comes of it is asked afterwards.
void forbid_compat_mode(const Cufile& library) {
  if (!library.set_bool) return;
  library.set_bool(cufile_parameter_allow_compat_mode, false);
  // Where nvidia-fs is loaded its owner has configured what is to be used. Elsewhere this is the one way that is left, and configuration
  // files of older versions have it off.
  if (::access("/proc/driver/nvidia-fs", F_OK) != 0) library.set_bool(cufile_parameter_pci_p2pdma, true);
}

// Why compatibility mode could still be used; empty: it cannot.
std::string why_compat_mode(const Cufile& library) {
  bool on = false;
  if (library.get_bool) {
    if (library.get_bool(cufile_parameter_force_compat_mode, &on).error == cufile_success && on)
      return "its configuration forces compatibility mode (force_compat_mode), which is slower than our own "
             "path through pinned memory";
    if (library.get_bool(cufile_parameter_allow_compat_mode, &on).error == cufile_success)
      return on ? "its compatibility mode could not be switched off; has something else in this process "
                  "opened cuFile before?"
                : "";
  }
  CufileProperties properties;
  if (const CufileResult got = library.driver_properties(&properties); got.error != cufile_success)
    return "cuFileDriverGetProperties: " + result_text(got);
  if ((properties.control_flags >> cufile_control_compat_mode & 1) == 0) return "";
  return "this version cannot be kept from compatibility mode by a program; set "
         "properties.allow_compat_mode to false in cufile.json, or use cuFile 1.14 or newer";
}

void load(Loaded& loaded) {
  const SharedLibrary library("ZARRIVE_LIBCUFILE",
                              {"libcufile.so.0", "/usr/local/cuda/lib64/libcufile.so.0"});
  CufileStatus& status = loaded.status;
  Cufile& cufile = loaded.library;
  status.path = library.path();
  if (!library.is_open()) {
    status.reason = library.reason();
    return;
  }
#define ZARRIVE_CUFILE_LOAD(member, name, result, parameters) \
  cufile.member = reinterpret_cast<decltype(cufile.member)>(library.symbol(#name));
#define ZARRIVE_CUFILE_REQUIRE(member, name, result, parameters)                         \
  if (!cufile.member) {                                                                  \
    status.reason = library.path() + " has no function " #name ", which cuFile 1.7 has"; \
    return;                                                                              \
  }
  ZARRIVE_CUFILE_FUNCTIONS(ZARRIVE_CUFILE_LOAD)
  ZARRIVE_CUFILE_PARAMETER_FUNCTIONS(ZARRIVE_CUFILE_LOAD)
  ZARRIVE_CUFILE_FUNCTIONS(ZARRIVE_CUFILE_REQUIRE)
#undef ZARRIVE_CUFILE_REQUIRE
#undef ZARRIVE_CUFILE_LOAD
  if (const CufileResult got = cufile.get_version(&cufile.version); got.error != cufile_success) {
    status.reason = "cuFileGetVersion of " + library.path() + ": " + result_text(got);
    return;
  }
  status.version = cufile_version_text(cufile.version);
  if (cufile.version < oldest_version) {
    status.reason = library.path() + " is of version " + status.version + "; " +
                    cufile_version_text(oldest_version) + " or newer is needed";
    return;
  }
  forbid_compat_mode(cufile);
  if (const CufileResult opened = cufile.driver_open(); opened.error != cufile_success) {
    status.reason = "cuFileDriverOpen of " + library.path() + ": " + result_text(opened);
    return;
  }
  if (const std::string why = why_compat_mode(cufile); !why.empty()) {
    status.reason = library.path() + " is not used: " + why;
    return;
  }
  status.library = &cufile;
}

}  // namespace

const CufileStatus& cufile_status() {
  static const CufileStatus no_driver{nullptr, {}, {}, "it needs the CUDA driver"};
  if (!driver_status().driver) return no_driver;
  static const Loaded* const loaded = [] {
    auto* const made = new Loaded;  // never destroyed: files are closed while the process ends
    load(*made);
    return made;
  }();
  return loaded->status;
}

std::string cufile_error_text(int error) {
  switch (error) {
#define ZARRIVE_CUFILE_ERROR_TEXT(number, name) \
  case number: return #name " (" #number ")";
    ZARRIVE_CUFILE_ERRORS(ZARRIVE_CUFILE_ERROR_TEXT)
#undef ZARRIVE_CUFILE_ERROR_TEXT
    default: return "cuFile error " + std::to_string(error);
  }
}

std::size_t CufileFile::read(const Device& device, std::byte* to, std::size_t size,
                             std::uint64_t offset) const {
  if (size == 0) return 0;
  const ContextScope scope(device);  // refuses in a forked child
  constexpr auto end = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (offset > end || size > end - offset)
    throw Error(ErrorCode::invalid_argument,
                "no file has " + std::to_string(size) + " bytes at offset " + std::to_string(offset));
  const auto fail = [&](ErrorCode code, const std::string& why) {
    throw Error(code, "cuFile reading " + std::to_string(size) + " bytes at " + std::to_string(offset) +
                          " to " + device.name() + ": " + why);
  };
  std::size_t done = 0;
  while (done < size) {
    const std::size_t asked = std::min(size - done, largest_read);
    errno = 0;
    const ssize_t n =
        library_.read(handle_, to, asked, static_cast<off_t>(offset + done), static_cast<off_t>(done));
    if (n == 0) break;
    if (n == -1) {
      const int number = errno;
      if (number == EINTR) continue;
      fail(number == ENOMEM ? ErrorCode::resource_limit : ErrorCode::unavailable,
           std::generic_category().message(number));
    }
    if (n < 0)
      fail(n == -cufile_no_memory ? ErrorCode::resource_limit : ErrorCode::unavailable,
           cufile_error_text(static_cast<int>(-n)));
    if (static_cast<std::size_t>(n) > asked)
      fail(ErrorCode::unavailable, "it says that it read " + std::to_string(n) + " bytes");
    done += static_cast<std::size_t>(n);
  }
  return done;
}

}  // namespace zarrive::gpu
