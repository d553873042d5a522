// ZARRIVE_API marks what the shared library exports; everything else is hidden.
#pragma once

#if defined(ZARRIVE_STATIC)
#define ZARRIVE_API
#elif defined(_WIN32)
#if defined(ZARRIVE_BUILDING)
#define ZARRIVE_API __declspec(dllexport)
#else
#define ZARRIVE_API __declspec(dllimport)
#endif
#else
#define ZARRIVE_API __attribute__((visibility("default")))
#endif
