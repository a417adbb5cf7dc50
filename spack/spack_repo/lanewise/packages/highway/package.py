# SPDX-FileCopyrightText: The Lanewise authors
# SPDX-License-Identifier: Apache-2.0

from spack_repo.builtin.packages.highway.package import Highway as BuiltinHighway

from spack.package import *


class Highway(BuiltinHighway):
    """The builtin recipe plus the release that the builtin repository lacks. Its contrib, which
    Lanewise does not use, takes most of the build and is optional here."""

    version("1.3.0", sha256="07b3c1ba2c1096878a85a31a5b9b3757427af963b1141ca904db2f9f4afe0bc2")

    variant("contrib", default=False, description="Build the contrib library (sort, threads)")

    def cmake_args(self):
        return super().cmake_args() + [self.define_from_variant("HWY_ENABLE_CONTRIB", "contrib")]
