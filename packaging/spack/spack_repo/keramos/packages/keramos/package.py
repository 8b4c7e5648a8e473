# Keramos for Spack from 1.0. The recipe builds the clone that it lies in. docs/install.md has the
# commands.
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Keramos(CMakePackage, CudaPackage, ROCmPackage):
    """Kernels in SYCL's terms and matrix products on Kokkos, for CUDA, HIP, SYCL, OpenMP, Threads
    and Serial."""

    git = str(pathlib.Path(__file__).resolve().parents[6])

    license("Apache-2.0")

    test_requires_compiler = True

    version("main", branch="main")

    variant("serial", default=True, description="Use Kokkos' Serial")
    variant("openmp", default=True, description="Use Kokkos' OpenMP")
    variant("sycl", default=False, description="Use Kokkos' SYCL")
    variant("shared", default=False, description="Build a shared library")
    variant("perf", default=False, description="Build keramos-perf, which needs all types")
    variant(
        "products",
        default="all",
        values=("all", "f32_f64"),
        description="Types of products to compile",
    )

    conflicts("+cuda", when="cuda_arch=none")
    conflicts("+rocm", when="amdgpu_target=none")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    # The compiled library fits the Kokkos that it was built with and no other, as Spack's hashes
    # have it.
    depends_on("kokkos@3.4.01:5.2")
    for backend in ("serial", "openmp", "sycl"):
        depends_on(f"kokkos+{backend}", when=f"+{backend}")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos+cuda+wrapper cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    requires("^kokkos+cuda_lambda", when="+cuda ^kokkos@:4")
    for target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos+rocm amdgpu_target={target}", when=f"+rocm amdgpu_target={target}")

    with when("+perf"):
        conflicts("products=f32_f64", msg="keramos-perf needs all types")
        depends_on("cli11")
        depends_on("nlohmann-json")
        depends_on("fmt")
        depends_on("benchmark")

    def cmake_args(self):
        types = "f32;f64" if self.spec.satisfies("products=f32_f64") else ""
        options = [
            self.define("KERAMOS_TESTS", False),
            self.define_from_variant("KERAMOS_PERF", "perf"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            self.define("KERAMOS_TYPES", types),
        ]
        if self.spec.satisfies("+cuda"):
            options.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        if self.spec.satisfies("+rocm"):
            options.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc))
        return options
