"""Keramos for Conan 2, with the Kokkos that CMake finds on the machine (CMAKE_PREFIX_PATH, Kokkos_ROOT):
conan create packaging/conan --build=missing
"""

import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Keramos(ConanFile):
    name = "keramos"
    description = "Kernels in SYCL's terms and matrix products on Kokkos"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    # backend and types are KERAMOS_BACKEND and KERAMOS_TYPES, types with commas; empty as there.
    options = {"shared": [True, False], "fPIC": [True, False], "backend": ["", "ANY"], "types": ["", "ANY"]}
    default_options = {"shared": False, "fPIC": True, "backend": "", "types": ""}
    implements = ["auto_shared_fpic"]

    def clone(self):
        return pathlib.Path(self.recipe_folder).parents[1]

    def set_version(self):
        project = (self.clone() / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(Keramos VERSION ([0-9.]+)", project).group(1)

    def export_sources(self):
        for part in ("CMakeLists.txt", "LICENSE", "README.md", "backends/*", "cmake/*", "docs/*", "src/*"):
            copy(self, part, self.clone(), self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["KERAMOS_TESTS"] = False
        toolchain.cache_variables["KERAMOS_PERF"] = False
        toolchain.cache_variables["KERAMOS_BACKEND"] = str(self.options.backend)
        toolchain.cache_variables["KERAMOS_TYPES"] = str(self.options.types).replace(",", ";")
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder) / "licenses")

    def package_info(self):
        # The library's own package finds the Kokkos that it was built with.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/Keramos"]
