// Communicators that outlive MPI, also one on which a rank has left: the job ends with 0, though MPI may not be called any more.
#include <cstdio>
#include <string>

#include <keramos/core/runtime.hpp>
#include <keramos/dist/dist.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const keramos::runtime guard(argc, argv);
  const keramos::dist::communicator sound(MPI_COMM_WORLD), failed(MPI_COMM_WORLD);
  const std::string wanted =
      "keramos::dist: rank 0 left the call: it is late; the communicator is of no use any more";
  std::string text;
  MPI_Barrier(MPI_COMM_WORLD);  // a rank that still makes `failed` would get the message there
  if (failed.rank() == 0) failed.transport().leave("it is late");
  MPI_Barrier(MPI_COMM_WORLD);
  while (text.empty()) try {
      failed.transport().check();
    } catch (const keramos::dist::communication_error& e) {
      text = e.what();
    }
  if (text != wanted) std::fprintf(stderr, "rank %d: %s\n", failed.rank(), text.c_str());
  MPI_Finalize();
  return text == wanted ? 0 : 1;
}
