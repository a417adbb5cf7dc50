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
    variant("compiled", default=False, description="Build Lanewise::compiled, common kernels")
    variant("perf", default=False, description="Build the benchmarks, into libexec/lanewise")

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
    conflicts(
        "^kokkos~wrapper~cmake_lang",
        when="+cuda",
        msg="lanewise+cuda needs ^kokkos+wrapper or ^kokkos+cmake_lang",
    )

    @property
    def sanity_check_is_file(self):
        files = ["include/lanewise/version.hpp", "include/lanewise/sequence/scan.hpp"]
        if self.spec.satisfies("+perf"):
            files += ["libexec/lanewise/bench_algorithms", "libexec/lanewise/report"]
        return files

    def cmake_args(self):
        args = [
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            self.define("Lanewise_ENABLE_TESTS", self.run_tests),
            self.define("Lanewise_ENABLE_EXAMPLES", False),
            self.define_from_variant("Lanewise_ENABLE_PERF", "perf"),
            self.define_from_variant("Lanewise_ENABLE_COMPILED", "compiled"),
        ]
        # Every processor with AVX2 has these, and Highway takes AVX2 only with them.
        if "avx2" in self.spec.target:
            args.append(self.define("Lanewise_SIMD_FLAGS", "-maes -mpclmul"))
        if self.spec.satisfies("^kokkos+wrapper"):
            args.append(self.define("CMAKE_CXX_COMPILER", self.find_nvcc_wrapper()))
        if self.run_tests:
            args += self.short_tests()
        return args

    def short_tests(self):
        """A part of scripts/check: a suite of each kind of kernel, with few types."""
        backends = ["openmp" if self.spec.satisfies("+openmp") else "serial", "emulated"]
        if self.spec.satisfies("+cuda"):
            backends = ["cuda"]
        suites = "warp_of|tile|chain|transform|reduce|scan|select|runs|multisplit|slab_hash_map"
        return [
            self.define("Lanewise_TEST_BACKENDS", backends),
            self.define("Lanewise_TEST_SUITES", f"^({suites})$"),
            self.define("Lanewise_TEST_BRIEF", True),
            self.define("Lanewise_TEST_FLAGS", "-O1"),
            self.define("Lanewise_TEST_PACKAGE", False),
            self.define("Lanewise_TEST_UNITY", 15),
        ]

    # No property: Spack would hide what it raises.
    def find_nvcc_wrapper(self):
        # Kokkos installs one too: an external Kokkos need not name kokkos-nvcc-wrapper.
        if self.spec.satisfies("^kokkos-nvcc-wrapper"):
            return self["kokkos-nvcc-wrapper"].kokkos_cxx
        wrapper = self.spec["kokkos"].prefix.bin.nvcc_wrapper
        if not os.path.exists(wrapper):
            raise InstallError(
                f"{wrapper} is missing: name ^kokkos-nvcc-wrapper among the dependencies "
                "of the external Kokkos"
            )
        return wrapper

    def setup_build_environment(self, env):
        # As the package kokkos-nvcc-wrapper does where it is.
        if self.spec.satisfies("^kokkos+wrapper ^cuda") and not self.spec.satisfies(
            "^kokkos-nvcc-wrapper"
        ):
            env.set("CUDA_ROOT", self.spec["cuda"].prefix)
            env.set("NVCC_WRAPPER_DEFAULT_COMPILER", self.compiler.cxx)

    @run_after("install")
    def keep_test_sources(self):
        cache_extra_test_sources(self, [join_path("tests", "consumer")])

    def test_consumer(self):
        """a project of its own finds the installed package, builds and runs"""
        compiler = self.compiler.cxx
        if self.spec.satisfies("^kokkos+wrapper"):
            compiler = self.find_nvcc_wrapper()
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
            self.skip_without_gpu("built, not run")
            which("./consumer")()

    def test_benchmarks(self):
        """the installed benchmarks start and list what they measure"""
        if not self.spec.satisfies("+perf"):
            raise SkipTest("built without +perf")
        self.skip_without_gpu("not run")
        program = which(join_path(self.prefix.libexec.lanewise, "bench_algorithms"))
        rows = program("--benchmark_list_tests", output=str.split, error=str.split)
        check_outputs(["exclusive_scan/", "reduce/"], rows)

    def skip_without_gpu(self, otherwise):
        if self.spec.satisfies("+cuda") and not which("nvidia-smi"):
            raise SkipTest(f"no GPU driver: {otherwise}")
