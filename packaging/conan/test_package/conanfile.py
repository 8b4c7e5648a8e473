"""Builds and runs the consumer of tests/install with the package."""

import pathlib

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class KeramosTest(ConanFile):
    settings = "os", "compiler", "build_type", "arch"
    generators = "VirtualRunEnv"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self, src_folder=str(pathlib.Path("../../../tests/install/find_package")))

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # writes nothing into the sources
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(str(pathlib.Path(self.build_folder) / self.cpp.build.bindir / "consumer"), env="conanrun")
