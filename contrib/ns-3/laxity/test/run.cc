// MIT OR Apache-2.0
// Runs the suites that are linked, where ns-3's own test-runner is not there: Makefile, `check`.
#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
