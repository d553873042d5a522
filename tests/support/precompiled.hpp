#pragma once

// What most tests include (see zarrive_precompile).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "../../cmake/precompiled.hpp"
