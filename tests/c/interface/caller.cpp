// Errors of calls name the program's own lines, with exceptions too: THNNCaller.h.

#include <THNNCaller.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace
{
void raise(const char *message, void *)
{
  throw std::runtime_error(message);
}

void raiseForArgument(int, const char *message, void *)
{
  raise(message, nullptr);
}
} // namespace

int main()
{
  THSetErrorHandler(raise, nullptr);
  THSetArgErrorHandler(raiseForArgument, nullptr);
  int line = 0;
  try {
    line = __LINE__ + 1;
    THNN_DoubleAbs_updateOutput(nullptr, nullptr, nullptr);
  } catch (const std::runtime_error &error) {
    const std::string message = error.what();
    const std::string place = "/caller.cpp:" + std::to_string(line);
    const std::size_t called = message.find(", called at ");
    if (called != std::string::npos && message.find(place, called) == message.size() - place.size())
      return 0;
    std::printf("%s\n", message.c_str());
  }
  return 1;
}
