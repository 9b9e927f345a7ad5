#pragma once
// What nearly every test includes anyway.
#include <gtest/gtest.h>

#include "../../src/pch.h"
