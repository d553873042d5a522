#pragma once

// ZARRIVE_ASAN and ZARRIVE_TSAN: 1 in a build with AddressSanitizer or ThreadSanitizer, else 0. g++ says so by a macro, clang 14 by
// a feature test only.
#if defined(__has_feature)
#define ZARRIVE_HAS_FEATURE(name) __has_feature(name)
#else
#define ZARRIVE_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || ZARRIVE_HAS_FEATURE(address_sanitizer)
#define ZARRIVE_ASAN 1
#else
#define ZARRIVE_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || ZARRIVE_HAS_FEATURE(thread_sanitizer)
#define ZARRIVE_TSAN 1
#else
#define ZARRIVE_TSAN 0
#endif
