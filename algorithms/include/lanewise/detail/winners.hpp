// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Items with their indices, and which of two wins: how they are folded on devices and on hosts.

#include <lanewise/detail/winners/device.hpp>
#include <lanewise/detail/winners/host.hpp>
