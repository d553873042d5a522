// Streams and events.
#include "fakes/fake_cuda_machine.hpp"

using namespace fake_cuda::machinery;

EXPORT Result cuStreamCreate(void** handle, unsigned flags) {
  BEGIN("cuStreamCreate");
  if (current.empty()) return bad(invalid_context);
  if (flags > 1) return bad(invalid_value);
  auto* const stream = new Stream;
  stream->device = current.back()->device;
  m.streams.insert(stream);
  ++m.counts.streams;
  *handle = stream;
  return ok;
}

EXPORT Result cuStreamDestroy_v2(void* handle) {
  BEGIN("cuStreamDestroy_v2");
  if (current.empty()) return bad(invalid_context);
  auto* const stream = static_cast<Stream*>(handle);
  if (!m.streams.count(stream)) return bad(invalid_handle);
  run(*stream, stream->put);  // what was put in is still done
  for (Event* event : m.events)
    if (event->stream == stream) event->stream = nullptr;
  m.streams.erase(stream);
  m.destroyed.emplace_back(stream);  // other streams may still wait for what it did
  --m.counts.streams;
  return ok;
}

EXPORT Result cuStreamSynchronize(void* handle) {
  BEGIN("cuStreamSynchronize");
  if (current.empty()) return bad(invalid_context);
  static_cast<void>(m);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  run(*stream, stream->put);
  return ok;
}

EXPORT Result cuStreamWaitEvent(void* handle, void* mark, unsigned) {
  BEGIN("cuStreamWaitEvent");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  auto* const event = static_cast<Event*>(mark);
  if (!stream || !m.events.count(event)) return bad(invalid_handle);
  if (Stream* const other = event->stream) {
    const std::uint64_t number = event->number;
    put(*stream, [other, number] { run(*other, number); });
  }
  return ok;
}

EXPORT Result cuEventCreate(void** mark, unsigned) {
  BEGIN("cuEventCreate");
  if (current.empty()) return bad(invalid_context);
  auto* const event = new Event;
  event->device = current.back()->device;
  m.events.insert(event);
  ++m.counts.events;
  *mark = event;
  return ok;
}

EXPORT Result cuEventDestroy_v2(void* mark) {
  BEGIN("cuEventDestroy_v2");
  if (current.empty()) return bad(invalid_context);
  auto* const event = static_cast<Event*>(mark);
  if (!m.events.count(event)) return bad(invalid_handle);
  m.events.erase(event);
  delete event;
  --m.counts.events;
  return ok;
}

EXPORT Result cuEventRecord(void* mark, void* handle) {
  BEGIN("cuEventRecord");
  if (current.empty()) return bad(invalid_context);
  Stream* const stream = stream_of(handle);
  auto* const event = static_cast<Event*>(mark);
  if (!stream || !m.events.count(event)) return bad(invalid_handle);
  event->stream = stream;
  event->number = stream->put;
  return ok;
}

EXPORT Result cuEventQuery(void* mark) {
  BEGIN("cuEventQuery");
  if (current.empty()) return bad(invalid_context);
  auto* const event = static_cast<Event*>(mark);
  if (!m.events.count(event)) return bad(invalid_handle);
  if (!event->stream || event->stream->done >= event->number) return ok;
  run(*event->stream, event->stream->done + 1);  // asking often enough gets there
  return event->stream->done >= event->number ? ok : not_ready;
}

EXPORT Result cuEventSynchronize(void* mark) {
  BEGIN("cuEventSynchronize");
  if (current.empty()) return bad(invalid_context);
  auto* const event = static_cast<Event*>(mark);
  if (!m.events.count(event)) return bad(invalid_handle);
  if (event->stream) run(*event->stream, event->number);
  return ok;
}

EXPORT Result cuLaunchHostFunc(void* handle, void (*function)(void*), void* argument) {
  BEGIN("cuLaunchHostFunc");
  if (current.empty()) return bad(invalid_context);
  static_cast<void>(m);
  Stream* const stream = stream_of(handle);
  if (!stream) return bad(invalid_handle);
  put(*stream, [function, argument] { function(argument); });
  return ok;
}
