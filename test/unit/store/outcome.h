// Converts results of the store to a form that a failing test prints well.

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "platform/result.h"

namespace holdfast::store {

// "ok", or the error: "conflict: key a is at revision 2, not 1".
template <class T>
std::string said(const Result<T>& result) {
  if (result) return "ok";
  return std::string(to_string(result.error().code)) + ": " + result.error().what;
}

// The value; an error fails the test and stops it.
template <class T>
T value(Result<T> result) {
  if (!result) ADD_FAILURE() << said(result);
  return std::move(result).value();
}

}  // namespace holdfast::store
