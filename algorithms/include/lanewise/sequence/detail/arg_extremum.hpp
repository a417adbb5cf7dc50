// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Items with their indices, and which of two wins: how they are folded on devices and on hosts.

#include <lanewise/sequence/detail/device/device_arg_extremum.hpp>
#include <lanewise/sequence/detail/host/host_arg_extremum.hpp>
