// The program: descriptors, signals, and the command.
//
// SIGINT, SIGTERM and SIGHUP ask the command to stop. The handler only writes a byte into a pipe; a thread reads it and requests the
// stop, so that destructors remove what is half done. When that takes longer than two seconds (a disk that does not answer, a pipe
// that nobody reads), or at a second signal, the thread removes the unfinished files itself and ends the process.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <thread>

#include "cli/app.hpp"
#include "cli/output.hpp"

namespace {

using namespace zarrive::cli;

int signal_pipe[2] = {-1, -1};

void on_signal(int) {
  const int saved = errno;
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe[1], &byte, 1);
  errno = saved;
}

// Reads the pipe until its writing end is closed.
void watch(std::stop_source stop) {
  char byte = 0;
  if (::read(signal_pipe[0], &byte, 1) <= 0) return;
  stop.request_stop();
  pollfd again{.fd = signal_pipe[0], .events = POLLIN, .revents = 0};
  while (::poll(&again, 1, 2000) == 0 && Tidying::under_way()) {
  }
  if (again.revents & POLLHUP && !(again.revents & POLLIN)) return;  // the command has ended
  abandon_output_files();
  ::_exit(exit_interrupted);
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    ::sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);  // nohup and shells ask us not to listen
  }
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  std::stop_source stop;
  std::thread watcher;
  if (::pipe2(signal_pipe, O_CLOEXEC) == 0) {
    watcher = std::thread(watch, stop);
    catch_signals();
  }

  DescriptorBuffer buffer(STDOUT_FILENO, "standard output", stop.get_token());
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  const Streams streams{.in = std::cin,
                        .out = out,
                        .err = std::cerr,
                        .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
                        .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
                        .width = terminal_width(),
                        .stop = stop.get_token()};
  const int code = run({argv + std::min(argc, 1), argv + argc}, streams);

  if (watcher.joinable()) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
    ::close(signal_pipe[1]);
    watcher.join();
  }
  return code;
}
