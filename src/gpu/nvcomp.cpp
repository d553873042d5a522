#include "gpu/nvcomp.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "gpu/shared_library.hpp"

namespace zarrive::gpu {

namespace {

constexpr int oldest_version = 5000;  // the first with options for each call
constexpr int version_6 = 6000;
constexpr const char* names[] = {"libnvcomp.so.6", "libnvcomp.so.5"};

std::string nvcomp_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 100) + "." +
         std::to_string(version % 100);
}

// Where the wheels nvidia-libnvcomp-cu12 and -cu13 and the conda package put it.
std::vector<std::string> candidates() {
  std::vector<std::string> found(std::begin(names), std::end(names));
  const auto add = [&](const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const char* const name : names)
      if (std::filesystem::exists(folder / name, ignored)) found.push_back((folder / name).string());
  };
  if (const char* const conda = std::getenv("CONDA_PREFIX"); conda && *conda)
    add(std::filesystem::path(conda) / "lib");
  for (const char* const variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* const root = std::getenv(variable);
    if (!root || !*root) continue;
    std::error_code error;
    for (std::filesystem::directory_iterator at(std::filesystem::path(root) / "lib", error), end;
         !error && at != end; at.increment(error))
      if (at->path().filename().string().starts_with("python3"))
        add(at->path() / "site-packages/nvidia/libnvcomp/lib64");
  }
  return found;
}

struct Loaded {
  Nvcomp library = {};
  NvcompStatus status = {};
};

// False when a function is missing.
bool load_functions(const SharedLibrary& library, Nvcomp& nvcomp, std::string& missing) {
  NvcompFunctions* format = nullptr;
#define ZARRIVE_NVCOMP_LOAD(member, name, parameters)                                 \
  format->member = reinterpret_cast<decltype(format->member)>(library.symbol(#name)); \
  if (!format->member) {                                                              \
    missing = #name;                                                                  \
    return false;                                                                     \
  }
#define ZARRIVE_NVCOMP_LOAD_DECODING(ours, theirs)                        \
  format = &nvcomp.formats[static_cast<std::size_t>(NvcompFormat::ours)]; \
  ZARRIVE_NVCOMP_DECODING(ZARRIVE_NVCOMP_LOAD, theirs)                    \
  if (nvcomp.version < version_6) {                                       \
    ZARRIVE_NVCOMP_DECODING_5(ZARRIVE_NVCOMP_LOAD, theirs)                \
  } else {                                                                \
    ZARRIVE_NVCOMP_DECODING_6(ZARRIVE_NVCOMP_LOAD, theirs)                \
  }
#define ZARRIVE_NVCOMP_LOAD_ENCODING(ours, theirs)                        \
  format = &nvcomp.formats[static_cast<std::size_t>(NvcompFormat::ours)]; \
  ZARRIVE_NVCOMP_ENCODING(ZARRIVE_NVCOMP_LOAD, theirs)                    \
  if (nvcomp.version < version_6) {                                       \
    ZARRIVE_NVCOMP_ENCODING_5(ZARRIVE_NVCOMP_LOAD, theirs)                \
  } else {                                                                \
    ZARRIVE_NVCOMP_ENCODING_6(ZARRIVE_NVCOMP_LOAD, theirs)                \
  }
  ZARRIVE_NVCOMP_FORMATS(ZARRIVE_NVCOMP_LOAD_DECODING)
  ZARRIVE_NVCOMP_ENCODED_FORMATS(ZARRIVE_NVCOMP_LOAD_ENCODING)
#undef ZARRIVE_NVCOMP_LOAD_ENCODING
#undef ZARRIVE_NVCOMP_LOAD_DECODING
#undef ZARRIVE_NVCOMP_LOAD
  return true;
}

void load(Loaded& loaded) {
  const SharedLibrary library("ZARRIVE_LIBNVCOMP", candidates());
  NvcompStatus& status = loaded.status;
  status.path = library.path();
  if (!library.is_open()) {
    status.reason = library.reason();
    return;
  }
  NvcompResult (*get_properties)(NvcompProperties*) = nullptr;
#define ZARRIVE_NVCOMP_LOAD(member, name, parameters) \
  member = reinterpret_cast<decltype(member)>(library.symbol(#name));
  ZARRIVE_NVCOMP_GENERAL_FUNCTIONS(ZARRIVE_NVCOMP_LOAD)
#undef ZARRIVE_NVCOMP_LOAD
  if (!get_properties) {
    status.reason = library.path() + " has no function nvcompGetProperties, which nvCOMP 5.0 has";
    return;
  }
  NvcompProperties properties;
  if (const NvcompResult got = get_properties(&properties); got != nvcomp_success) {
    status.reason = "nvcompGetProperties of " + library.path() + ": " + nvcomp_result_text(got);
    return;
  }
  loaded.library.version = static_cast<int>(properties.version);
  status.version = nvcomp_version_text(loaded.library.version);
  if (loaded.library.version < oldest_version) {
    status.reason = library.path() + " is of version " + status.version + "; " +
                    nvcomp_version_text(oldest_version) + " or newer is needed";
    return;
  }
  if (std::string missing; !load_functions(library, loaded.library, missing)) {
    status.reason = library.path() + ", nvCOMP " + status.version + ", has no function " + missing;
    return;
  }
  status.library = &loaded.library;
}

}  // namespace

std::string_view nvcomp_format_name(NvcompFormat format) {
  switch (format) {
#define ZARRIVE_NVCOMP_NAME(ours, theirs) \
  case NvcompFormat::ours: return #ours;
    ZARRIVE_NVCOMP_FORMATS(ZARRIVE_NVCOMP_NAME)
#undef ZARRIVE_NVCOMP_NAME
  }
  return "";
}

const NvcompStatus& nvcomp_status() {
  static const NvcompStatus no_driver{nullptr, {}, {}, "it needs the CUDA driver"};
  if (!driver_status().driver) return no_driver;
  static const Loaded* const loaded = [] {
    auto* const made = new Loaded;
    load(*made);
    return made;
  }();
  return loaded->status;
}

std::string nvcomp_result_text(NvcompResult result) {
  const char* words = nullptr;
  switch (result) {
    case 0: words = "success"; break;
    case 10: words = "invalid value"; break;
    case 11: words = "not supported"; break;
    case 12: words = "cannot decompress"; break;
    case 13: words = "bad checksum"; break;
    case 14: words = "cannot verify checksums"; break;
    case 15: words = "output buffer too small"; break;
    case 16: words = "wrong header length"; break;
    case 17: words = "alignment"; break;
    case 18: words = "chunk size too large"; break;
    case 19: words = "cannot compress"; break;
    case 20: words = "wrong input length"; break;
    case 21: words = "batch size too large"; break;
    case 1000: words = "CUDA error"; break;
    case 10000: words = "internal error"; break;
    default: return "status " + std::to_string(result);
  }
  return "status " + std::to_string(result) + " (" + words + ")";
}

}  // namespace zarrive::gpu
