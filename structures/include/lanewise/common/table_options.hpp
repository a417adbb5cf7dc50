// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/call/workspace.hpp>
#include <lanewise/common/table_vocabulary.hpp>

LANEWISE_BEGIN_NAMESPACE

/// Options of bulk calls on tables in order.
struct table_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// Receives what came of every item.
  option_view<table_status> status = {};
  /// Is added what came of the items. A rank-0 View.
  option_view<status_counts> tally = {};
};

LANEWISE_END_NAMESPACE
