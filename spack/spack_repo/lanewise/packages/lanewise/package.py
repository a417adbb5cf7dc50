# SPDX-FileCopyrightText: The Lanewise authors
# SPDX-License-Identifier: Apache-2.0

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Lanewise(CMakePackage, CudaPackage):
    """Parallel algorithms and dynamic data structures for Kokkos applications, written once
    against a small warp abstraction: CUDA warps on GPUs, SIMD vectors on the host."""

    # This recipe is part of the repository that it installs.
    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *[".."] * 5))
    homepage = git

    license("Apache-2.0")
    test_requires_compiler = True

    version("main", branch="main")

    variant("openmp", default=True, description="Kokkos' OpenMP backend")
    variant("perf", default=False, description="Build the benchmarks")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25.1:", type="build")

    depends_on("kokkos@5.0:5.2 +serial cxxstd=20")
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("highway@1.3:")
    depends_on("catch2@3.5:", type="test")
    depends_on("benchmark@1.9.1:", when="+perf")

    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos+cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    conflicts("cuda_arch=none", when="+cuda", msg="lanewise+cuda needs cuda_arch=<number>")
    # Asked here so that the solver finds the mistake, not Kokkos' build.
    requires("^kokkos+wrapper", "^kokkos+cmake_lang", policy="any_of", when="+cuda %cxx=gcc")

    sanity_check_is_file = [
        join_path("include", "lanewise", "version.hpp"),
        join_path("include", "lanewise", "scan.hpp"),
    ]

    def cmake_args(self):
        args = [
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            self.define("Lanewise_ENABLE_TESTS", self.run_tests),
            self.define("Lanewise_ENABLE_EXAMPLES", False),
            self.define_from_variant("Lanewise_ENABLE_PERF", "perf"),
        ]
        # Only with CUDA: an external Kokkos without it cannot tell its compiler.
        if self.spec.satisfies("+cuda ^kokkos+wrapper"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args

    @run_after("install")
    def keep_test_sources(self):
        cache_extra_test_sources(self, [join_path("tests", "consumer")])

    def test_consumer(self):
        """a project of its own finds the installed package, builds and runs"""
        compiler = self.compiler.cxx
        if self.spec.satisfies("^kokkos+wrapper"):
            compiler = self["kokkos-nvcc-wrapper"].kokkos_cxx
        prefixes = [self.prefix] + get_cmake_prefix_path(self)
        source = join_path(self.test_suite.current_test_cache_dir, "tests", "consumer")
        with working_dir("build", create=True):
            cmake = which(self.spec["cmake"].prefix.bin.cmake)
            cmake(
                source,
                f"-DCMAKE_CXX_COMPILER={compiler}",
                "-DCMAKE_PREFIX_PATH=" + ";".join(str(p) for p in prefixes),
            )
            cmake("--build", ".")
            if self.spec.satisfies("+cuda") and not which("nvidia-smi"):
                raise SkipTest("no GPU driver: built, not run")
            which("./consumer")()
