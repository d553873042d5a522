// Whether a prototype of ours and the vendor's are the same to a caller.
#pragma once

#include <type_traits>

namespace zarrive::gpu::testing {

// Types are the same to a caller when they are passed alike: both pointers to things passed alike, both functions, or numbers of one size.
template <class A, class B>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using P = std::remove_cv_t<std::remove_pointer_t<A>>;
    using Q = std::remove_cv_t<std::remove_pointer_t<B>>;
    if constexpr (std::is_void_v<P> || std::is_void_v<Q>) return std::is_void_v<P> == std::is_void_v<Q>;
    else if constexpr (std::is_function_v<P> || std::is_function_v<Q>)
      return std::is_function_v<P> == std::is_function_v<Q>;
    else if constexpr (std::is_class_v<P> || std::is_class_v<Q>)
      return std::is_class_v<P> == std::is_class_v<Q>;
    else return alike<P, Q>();
  } else if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
    return std::is_void_v<A> == std::is_void_v<B>;
  } else {
    return std::is_pointer_v<A> == std::is_pointer_v<B> && sizeof(A) == sizeof(B) &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  }
}

template <class Ours, class Theirs>
struct Same : std::false_type {};
template <class R, class... A, class S, class... B>
struct Same<R(A...), S(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B)) return false;
    else return alike<R, S>() && (alike<A, B>() && ...);
  }();
};

}  // namespace zarrive::gpu::testing
