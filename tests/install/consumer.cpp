// A program of somebody else: it sees the installed copy only.
#include <zarrive/error.hpp>
#include <zarrive/version.hpp>

#include <iostream>

int main() {
  try {
    throw zarrive::Error(zarrive::ErrorCode::not_found, "an exception across the library's edge");
  } catch (const zarrive::Error& error) {
    std::cout << "zarrive " << zarrive::version() << ": " << error.what() << '\n';
    return error.code() == zarrive::ErrorCode::not_found ? 0 : 1;
  }
}
