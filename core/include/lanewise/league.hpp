// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of leagues of teams: sums, barriers, queues and chains that all teams share.

#include <lanewise/league/decoupled_look_back.hpp>
#include <lanewise/league/league_barrier.hpp>
#include <lanewise/league/league_sums.hpp>
#include <lanewise/league/look_back_chain.hpp>
#include <lanewise/league/look_back_counts.hpp>
#include <lanewise/league/queue.hpp>
#include <lanewise/league/subleague.hpp>
#include <lanewise/league/warp_allocate.hpp>
