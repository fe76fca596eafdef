// The sentence with which an action is refused.
#pragma once

#include <string>

namespace vitrine::test {

/// The message of the Exception that `action` throws; "" when it throws nothing. Another exception
/// fails the test.
template <class Exception, class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace vitrine::test
