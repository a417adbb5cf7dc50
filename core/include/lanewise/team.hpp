// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of teams of warps, and what the warps of a team do together.

#include <lanewise/team/bucket_counts.hpp>
#include <lanewise/team/fetch_packs.hpp>
#include <lanewise/team/fold_warps.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/team/raking_grid.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/team/team_algorithms.hpp>
#include <lanewise/team/team_scan.hpp>
